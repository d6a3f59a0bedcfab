//! The process of an MCP server that was started as a program.

use std::time::{Duration, Instant};
use tokio::{process::Child, time::timeout};

/// The time to exit after SIGTERM.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// A process in its own process group. Dropping it kills the whole group.
pub struct ServerProcess {
    child: Child,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
}

impl ServerProcess {
    pub fn new(child: Child) -> Self {
        #[cfg(unix)]
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self {
            child,
            #[cfg(unix)]
            group,
        }
    }

    /// Sends SIGTERM to the group, blocks until the process exits or [`EXIT_TIMEOUT`] has passed, then kills the group.
    pub fn terminate(mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        }
        let started = Instant::now();
        while started.elapsed() < EXIT_TIMEOUT && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the process to exit by itself, then kills the group.
    pub async fn wait_then_kill(mut self, grace: Duration) {
        let _ = timeout(grace, self.child.wait()).await;
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The child processes of the program may still run after it has exited.
        #[cfg(unix)]
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}
