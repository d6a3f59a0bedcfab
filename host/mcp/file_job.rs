//! Work on files that a request waits for. It blocks, so it runs on a blocking thread, one job of a tenant at a time.

use crate::engine::IoOptions;

/// The work of a file job. It may block, and calls the second argument to learn whether to continue.
type FileWork<R> = dyn FnOnce(&IoOptions, &dyn Fn() -> bool) -> R + Send;

/// Work on files, to be run on a blocking thread.
pub struct FileJob<R> {
    /// The size of the data that the job keeps in memory while it waits.
    pub input_bytes: usize,
    /// The job changes files, so it starts when their disk usage is known.
    pub changes_files: bool,
    pub run: Box<FileWork<R>>,
}

impl<R> FileJob<R> {
    pub fn new(input_bytes: usize, run: impl FnOnce(&IoOptions, &dyn Fn() -> bool) -> R + Send + 'static) -> Self {
        Self { input_bytes, changes_files: false, run: Box::new(run) }
    }

    /// Declares that the job changes files.
    pub fn changing_files(mut self) -> Self {
        self.changes_files = true;
        self
    }
}
