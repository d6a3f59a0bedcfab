//! Files and engine as one object, for an agent or a tenant.
//!
//! What it does with files is [`Files`]' own work, in a place where it may block; what it runs is the engine's.

mod backend;
mod command;
mod exec;

pub use backend::Backend;
pub use exec::{ExecOptions, Execution};
pub use futures_util::future::BoxFuture;

use crate::{
    engine::{Engine, IoOptions, Limits, RunQuota},
    files::{EditResult, FileContents, FileError, FileInfo, Files, GlobQuery, GlobResult, GrepQuery, GrepResult, WriteMode, WriteResult},
    random::random,
};
use std::{sync::Arc, time::Instant};
use tokio_util::sync::CancellationToken;

/// One directory and what may be done with it: read, write, edit, list, search, and run scripts. Cloning is cheap, and all clones are
/// the same sandbox.
///
/// Paths are relative, as in a script: they start at the [working folder](Self::with_working_directory), and `~/` in front of one means home,
/// the directory itself. Names in results and errors always count from home. Each call may write as much as one run, by
/// [`IoOptions::max_bytes`] and [`IoOptions::max_files`], and read as many bytes.
///
/// Its methods need a tokio runtime. A call whose future is dropped ends what it began with, or stops.
#[derive(Clone)]
pub struct Sandbox {
    engine: Engine,
    io: IoOptions,
    limits: Limits,
    share: Option<RunQuota>,
    id: Arc<str>,
}

impl Sandbox {
    /// A sandbox with the files of a directory, or with [`IoOptions`] if its limits are not the default ones.
    pub fn new(engine: Engine, io: impl Into<IoOptions>) -> Self {
        let mut io = io.into();
        io.files = io.files.with_home();
        let id = format!("toolscript-{:016x}", random());
        Self { engine, io, limits: Limits::default(), share: None, id: id.into() }
    }

    /// The same sandbox, whose scripts and searches have these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same sandbox, whose scripts take part in an engine with others.
    #[must_use]
    pub fn with_quota(mut self, share: RunQuota) -> Self {
        self.share = Some(share);
        self
    }

    /// The same sandbox by another name.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = id.into();
        self
    }

    /// The same sandbox, where relative paths start at a folder inside home, which need not exist yet.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule.
    pub fn with_working_directory(mut self, folder: &str) -> Result<Self, FileError> {
        self.io.files = self.io.files.with_working_directory(folder)?;
        Ok(self)
    }

    /// The name of this sandbox: unique, unless it was given one.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The files, for those who may block; their paths start at the working folder, too.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.io.files
    }

    /// Where relative paths start, from home on; `.` is home itself.
    #[must_use]
    pub fn working(&self) -> &str {
        self.io.files.working()
    }

    /// Lines of a text from a number on, which counts from 1, or an image, or the bytes of something else; see [`Files::read`].
    ///
    /// # Errors
    ///
    /// As [`Files::read`].
    pub async fn read(&self, path: &str, offset: u64, limit: Option<u64>) -> Result<FileContents, FileError> {
        let path = path.to_owned();
        self.searching(move |io, is_wanted| io.files.read(&path, offset, limit, io.max_bytes, is_wanted)).await
    }

    /// All bytes of a file.
    ///
    /// # Errors
    ///
    /// As [`Files::read_raw`].
    pub async fn read_raw(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let path = path.to_owned();
        self.blocking(move |io| io.files.read_raw(&path, io.max_bytes)).await
    }

    /// Writes a file, and makes the folders on its way; see [`Files::write`].
    ///
    /// # Errors
    ///
    /// As [`Files::write`].
    pub async fn write(&self, path: &str, contents: impl Into<Vec<u8>>, mode: WriteMode) -> Result<WriteResult, FileError> {
        let (path, contents) = (path.to_owned(), contents.into());
        self.blocking(move |io| io.files.write(&path, &contents, mode, &mut io.quota())).await
    }

    /// Replaces a text in a file; see [`Files::edit`].
    ///
    /// # Errors
    ///
    /// As [`Files::edit`].
    pub async fn edit(&self, path: &str, old: &str, new: &str, all: bool) -> Result<EditResult, FileError> {
        let (path, old, new) = (path.to_owned(), old.to_owned(), new.to_owned());
        self.blocking(move |io| io.files.edit(&path, &old, &new, all, &mut io.quota())).await
    }

    /// What is in a folder, sorted by name.
    ///
    /// # Errors
    ///
    /// As [`Files::list`].
    pub async fn list(&self, path: &str) -> Result<Vec<FileInfo>, FileError> {
        let path = path.to_owned();
        self.blocking(move |io| io.files.list(&path)).await
    }

    /// Files and folders whose paths fit a pattern; see [`Files::glob`]. It takes as long as a script may.
    ///
    /// # Errors
    ///
    /// As [`Files::glob`].
    pub async fn glob(&self, query: GlobQuery) -> Result<GlobResult, FileError> {
        self.searching(move |io, is_wanted| io.files.glob(&query, is_wanted)).await
    }

    /// Lines that have a text in them; see [`Files::grep`]. It takes as long as a script may.
    ///
    /// # Errors
    ///
    /// As [`Files::grep`].
    pub async fn grep(&self, query: GrepQuery) -> Result<GrepResult, FileError> {
        self.searching(move |io, is_wanted| io.files.grep(&query, is_wanted)).await
    }

    /// Removes a file, and answers with its path from home on.
    ///
    /// # Errors
    ///
    /// As [`Files::remove`].
    pub async fn remove(&self, path: &str) -> Result<String, FileError> {
        let path = path.to_owned();
        self.blocking(move |io| io.files.remove(&path)).await
    }

    /// Writes many files, in place of those that exist, with a result for each in their order.
    pub async fn upload(&self, uploads: Vec<(String, Vec<u8>)>) -> Vec<Result<WriteResult, FileError>> {
        let count = uploads.len();
        let uploaded = self.blocking(move |io| Ok(io.files.upload(uploads, &mut io.quota()))).await;
        uploaded.unwrap_or_else(|error| vec![Err(error); count])
    }

    /// Reads many files, with a result for each in their order.
    pub async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>, FileError>> {
        let count = paths.len();
        let downloaded = self.blocking(move |io| Ok(io.files.download(paths, io.max_bytes))).await;
        downloaded.unwrap_or_else(|error| vec![Err(error); count])
    }

    async fn searching<R: Send + 'static>(
        &self,
        work: impl FnOnce(&IoOptions, &dyn Fn() -> bool) -> Result<R, FileError> + Send + 'static,
    ) -> Result<R, FileError> {
        let gone = CancellationToken::new();
        let _gone = gone.clone().drop_guard();
        let (started, timeout) = (Instant::now(), self.limits.timeout);
        self.blocking(move |io| work(io, &|| !gone.is_cancelled() && started.elapsed() < timeout)).await
    }

    async fn blocking<R: Send + 'static>(
        &self,
        work: impl FnOnce(&IoOptions) -> Result<R, FileError> + Send + 'static,
    ) -> Result<R, FileError> {
        let io = self.io.clone();
        tokio::task::spawn_blocking(move || work(&io)).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a file operation did not end");
            Err(FileError::Failed)
        })
    }
}
