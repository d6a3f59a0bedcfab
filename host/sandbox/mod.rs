//! An engine and a directory as one object, for one agent or tenant.
//!
//! File operations call [`Files`] on a thread that may block. Scripts run in the engine.

mod backend;
mod exec;
mod execution;
mod handle;
mod luau_command;
mod options;

pub use backend::Backend;
pub use execution::Execution;
pub use futures_util::future::BoxFuture;
pub use handle::ExecHandle;
pub use options::ExecOptions;

use crate::{
    engine::{Engine, IoOptions, Limits, RunQuota},
    files::{
        DeleteResult, EditResult, FileContents, FileError, FileInfo, Files, GlobQuery, GlobResult, GrepQuery, GrepResult, WriteMode,
        WriteResult,
    },
    random::random,
};
use std::{fmt, sync::Arc, time::Instant};
use tokio_util::sync::CancellationToken;

/// An engine plus a directory: reads, writes, edits, lists and searches files, and runs scripts. Cloning is cheap, and all clones share
/// the same directory.
///
/// Paths are relative, as in a script. They start at the [working directory](Self::with_working_directory); `~` is the io directory, and
/// paths that begin with `~/` start there. Names in results and errors are always relative to the io directory. Each operation can write
/// as much as one run, as set by [`IoOptions::max_bytes`] and [`IoOptions::max_files`], and can read as many bytes.
///
/// The methods need a tokio runtime. If the future of an operation is dropped, a search or a deletion stops soon, and other operations may
/// complete in the background.
#[derive(Clone)]
pub struct Sandbox {
    engine: Engine,
    io: IoOptions,
    limits: Limits,
    run_quota: Option<RunQuota>,
    id: Arc<str>,
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sandbox").field("id", &self.id).field("io", &self.io).field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Creates a sandbox with a directory. Pass [`IoOptions`] instead of [`Files`] to change its limits.
    pub fn new(engine: Engine, io: impl Into<IoOptions>) -> Self {
        let mut io = io.into();
        io.files = io.files.with_home();
        let id = format!("toolscript-{:016x}", random());
        Self { engine, io, limits: Limits::default(), run_quota: None, id: id.into() }
    }

    /// Sets the limits of scripts. Their timeout is also the time limit of searches.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the quota that the runs of this sandbox share with other runs of the engine.
    #[must_use]
    pub fn with_quota(mut self, quota: RunQuota) -> Self {
        self.run_quota = Some(quota);
        self
    }

    /// Sets the identifier.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the directory in the io directory that relative paths start at. It need not exist yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid.
    pub fn with_working_directory(mut self, directory: &str) -> Result<Self, FileError> {
        self.io.files = self.io.files.with_working_directory(directory)?;
        Ok(self)
    }

    /// Returns the identifier. It is random unless it was set.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the directory, for callers that may block. Its paths start at the working directory.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.io.files
    }

    /// Returns the directory that relative paths start at, relative to the io directory; `.` is the io directory itself.
    #[must_use]
    pub fn working_directory(&self) -> &str {
        self.io.files.working_directory()
    }

    /// Reads lines of a text file, or a whole image or other binary file; see [`Files::read`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Files::read`].
    pub async fn read(&self, path: &str, offset: u64, limit: Option<u64>) -> Result<FileContents, FileError> {
        let path = path.to_owned();
        self.interruptible(move |io, should_continue| io.files.read(&path, offset, limit, io.max_bytes, should_continue)).await
    }

    /// Reads all bytes of a file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Files::read_raw`].
    pub async fn read_raw(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let path = path.to_owned();
        self.blocking(move |io| io.files.read_raw(&path, io.max_bytes)).await
    }

    /// Writes a file, and creates its missing parent directories; see [`Files::write`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Files::write`].
    pub async fn write(&self, path: &str, contents: impl Into<Vec<u8>>, mode: WriteMode) -> Result<WriteResult, FileError> {
        let (path, contents) = (path.to_owned(), contents.into());
        self.blocking(move |io| io.files.write(&path, &contents, mode, &mut io.write_budget())).await
    }

    /// Replaces text in a file; see [`Files::edit`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Files::edit`].
    pub async fn edit(&self, path: &str, old: &str, new: &str, all: bool) -> Result<EditResult, FileError> {
        let (path, old, new) = (path.to_owned(), old.to_owned(), new.to_owned());
        self.blocking(move |io| io.files.edit(&path, &old, &new, all, &mut io.write_budget())).await
    }

    /// Lists a directory, sorted by name.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Files::list`].
    pub async fn list(&self, path: &str) -> Result<Vec<FileInfo>, FileError> {
        let path = path.to_owned();
        self.blocking(move |io| io.files.list(&path)).await
    }

    /// Finds files and directories whose paths match a pattern; see [`Files::glob`]. The time limit is the timeout of scripts.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Files::glob`].
    pub async fn glob(&self, query: GlobQuery) -> Result<GlobResult, FileError> {
        self.interruptible(move |io, should_continue| io.files.glob(&query, should_continue)).await
    }

    /// Finds lines that contain a text or match a regular expression; see [`Files::grep`]. The time limit is the timeout of scripts.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Files::grep`].
    pub async fn grep(&self, query: GrepQuery) -> Result<GrepResult, FileError> {
        self.interruptible(move |io, should_continue| io.files.grep(&query, should_continue)).await
    }

    /// Removes a file, and returns its path relative to the io directory.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Files::remove`].
    pub async fn remove(&self, path: &str) -> Result<String, FileError> {
        let path = path.to_owned();
        self.blocking(move |io| io.files.remove(&path)).await
    }

    /// Deletes a file, or a directory with everything in it; see [`Files::delete`]. The time limit is the timeout of scripts.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Files::delete`].
    pub async fn delete(&self, path: &str) -> Result<DeleteResult, FileError> {
        let path = path.to_owned();
        self.interruptible(move |io, should_continue| io.files.delete(&path, should_continue)).await
    }

    /// Writes several files, and returns a result for each, in the same order. Existing files are replaced.
    pub async fn upload(&self, uploads: Vec<(String, Vec<u8>)>) -> Vec<Result<WriteResult, FileError>> {
        let count = uploads.len();
        let uploaded = self.blocking(move |io| Ok(io.files.upload(uploads, &mut io.write_budget()))).await;
        uploaded.unwrap_or_else(|error| (0..count).map(|_| Err(error.clone())).collect())
    }

    /// Reads several files, and returns a result for each, in the same order.
    pub async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>, FileError>> {
        let count = paths.len();
        let downloaded = self.blocking(move |io| Ok(io.files.download(paths, io.max_bytes))).await;
        downloaded.unwrap_or_else(|error| (0..count).map(|_| Err(error.clone())).collect())
    }

    /// Runs an operation that stops at the timeout, or when the future is dropped.
    async fn interruptible<R: Send + 'static>(
        &self,
        operation: impl FnOnce(&IoOptions, &dyn Fn() -> bool) -> Result<R, FileError> + Send + 'static,
    ) -> Result<R, FileError> {
        let cancelled = CancellationToken::new();
        let _cancel_on_drop = cancelled.clone().drop_guard();
        let (started, timeout) = (Instant::now(), self.limits.timeout);
        self.blocking(move |io| operation(io, &|| !cancelled.is_cancelled() && started.elapsed() < timeout)).await
    }

    async fn blocking<R: Send + 'static>(
        &self,
        operation: impl FnOnce(&IoOptions) -> Result<R, FileError> + Send + 'static,
    ) -> Result<R, FileError> {
        let io = self.io.clone();
        tokio::task::spawn_blocking(move || operation(&io)).await.unwrap_or_else(|error| {
            tracing::error!(%error, "file operation panicked or was cancelled");
            Err(FileError::Failed)
        })
    }
}
