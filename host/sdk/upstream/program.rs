//! A program that was started to be a server, and all that it started itself.

use std::time::{Duration, Instant};
use tokio::{process::Child, time::timeout};

/// For a program to end that was told to, when this one ends.
const PATIENCE: Duration = Duration::from_millis(500);

/// A program, in a group of its own. When it is dropped, all of the group is ended.
pub struct Program {
    child: Child,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
}

impl Program {
    pub fn new(child: Child) -> Self {
        #[cfg(unix)]
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self {
            child,
            #[cfg(unix)]
            group,
        }
    }

    /// Tells it to end, and waits a little until it has.
    pub fn end(mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        }
        let started = Instant::now();
        while started.elapsed() < PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Gives it some time to end by itself.
    pub async fn end_in(mut self, grace: Duration) {
        let _ = timeout(grace, self.child.wait()).await;
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // What it started may outlive it.
        #[cfg(unix)]
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}
