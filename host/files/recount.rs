//! Counts the disk usage of directories on a thread of its own: that of large ones when they are opened, and that of full ones again.
//!
//! A directory may have a million files, so a count holds no lock while it reads directories. It proceeds in steps, in turn with the
//! counts of other directories, and ends early if its directory is no longer in use. No operation waits for a count, except that a
//! script waits for the first one before it changes a file.

use super::{
    directory::{Files, WeakFiles},
    disk_quota::UsageGuard,
    disk_usage::Measurement,
    error::FileError,
};
use std::{
    collections::VecDeque,
    sync::{
        OnceLock,
        mpsc::{Receiver, Sender, channel},
    },
};

/// The number of files and directories that one step counts: some milliseconds of work.
pub const STEP_ENTRIES: usize = 1000;

/// The maximum number of counts in progress. Each has up to 64 open directories. Further ones wait.
const MAX_ACTIVE: usize = 16;

/// Starts a count in the background. Returns `false` if there can be no thread for it.
pub fn start(files: &Files) -> bool {
    static WORKER: OnceLock<Option<Sender<WeakFiles>>> = OnceLock::new();
    let worker = WORKER.get_or_init(|| {
        let (sender, receiver) = channel();
        let spawned = std::thread::Builder::new().name("toolscript-recount".into()).spawn(move || Worker::default().run(&receiver));
        spawned.map(|_| sender).inspect_err(|error| tracing::warn!(%error, "no thread for counting files")).ok()
    });
    worker.as_ref().is_some_and(|worker| worker.send(files.downgrade()).is_ok())
}

/// A count of one directory, the first one or a recount.
pub struct Recount {
    files: WeakFiles,
    /// `None` until the first step.
    measurement: Option<Measurement>,
}

impl Recount {
    pub(super) fn new(files: WeakFiles) -> Self {
        Self { files, measurement: None }
    }

    /// Counts some files. Returns `false` when the recount has ended.
    pub fn step(&mut self) -> bool {
        let Some(files) = self.files.upgrade() else { return false };
        let total = match self.count(&files) {
            Ok(None) => return true,
            Ok(Some(total)) => Some(total),
            Err(error) => {
                tracing::warn!(%error, "the files of a directory were not counted");
                None
            }
        };
        UsageGuard::lock(&files).end_recount(total);
        false
    }

    fn count(&mut self, files: &Files) -> Result<Option<u64>, FileError> {
        let measurement = match &mut self.measurement {
            Some(measurement) => measurement,
            None => self.measurement.insert(Measurement::new(files)?),
        };
        measurement.step(STEP_ENTRIES)
    }
}

/// The recounts in progress and those that wait.
#[derive(Default)]
struct Worker {
    active: VecDeque<Recount>,
    waiting: VecDeque<WeakFiles>,
}

impl Worker {
    fn run(mut self, requests: &Receiver<WeakFiles>) {
        // Only Linux has a priority per thread.
        #[cfg(target_os = "linux")]
        if let Err(error) = rustix::process::setpriority_process(None, 5) {
            tracing::debug!(%error, "can't lower the thread priority");
        }
        loop {
            if self.active.is_empty() && self.waiting.is_empty() {
                let Ok(request) = requests.recv() else { return };
                self.waiting.push_back(request);
            }
            self.waiting.extend(requests.try_iter());
            while self.active.len() < MAX_ACTIVE
                && let Some(files) = self.waiting.pop_front()
            {
                self.active.push_back(Recount::new(files));
            }
            if let Some(mut recount) = self.active.pop_front()
                && recount.step()
            {
                self.active.push_back(recount);
            }
        }
    }
}

/// Sets a quota on a directory whose first count the test drives itself.
#[cfg(test)]
pub fn uncounted(files: Files, max_bytes: u64) -> (Files, Recount) {
    let files = files.with_quota(super::disk_quota::DiskQuota::uncounted(max_bytes));
    let count = Recount::new(files.downgrade());
    (files, count)
}
