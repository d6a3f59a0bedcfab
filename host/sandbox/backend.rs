//! The file and command interface that agent frameworks expect.

use super::{
    ExecOptions, Execution, Sandbox,
    luau_command::{Command, Source},
};
use crate::files::{
    DeleteResult, EditResult, FileContents, FileError, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, WriteMode, WriteResult,
};
use futures_util::future::BoxFuture;
use std::time::Duration;

/// Files and commands in the form that agent frameworks expect. It can be used as `dyn Backend`.
///
/// A path that begins with `/` starts at the io directory. Names in results begin with `/`, so that they can be used as paths again.
/// [`FileError::code`] returns the code of an error.
///
/// ```
/// use toolscript::{
///     Engine, Files, Sandbox,
///     files::{FileContents, FileErrorCode, GlobQuery, GrepQuery, WriteMode},
///     sandbox::Backend,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path().join("files");
/// let backend: Box<dyn Backend> = Box::new(Sandbox::new(Engine::new()?, Files::new(&directory)?));
/// backend.write("/notes/a.txt", "one\ntwo\nthree\n".into(), WriteMode::Create).await?;
///
/// // Lines are skipped by their number, so the offset of the next page is the number of the last line.
/// let FileContents::Text(page) = backend.read("/notes/a.txt", 1, 1).await? else { panic!("not text") };
/// assert_eq!((page.text.as_str(), page.first_line, page.last_line(), page.total_lines), ("two\n", 2, Some(2), 3));
/// assert_eq!(page.next_offset(), Some(2));
///
/// let found = backend.grep(GrepQuery::new("two").with_context(1).with_max_matches(10)).await?;
/// assert_eq!((found.matches[0].name.as_str(), found.matches[0].before[0].text.as_str()), ("/notes/a.txt", "one"));
/// let found = backend.glob(GlobQuery::new("*.txt").with_files_only(true)).await?;
/// assert_eq!(found.entries[0].name, "/notes/a.txt");
///
/// assert_eq!(backend.delete("/notes").await?.files, 1);
/// let error = backend.read("/notes/a.txt", 0, 10).await.unwrap_err();
/// assert_eq!((error.code(), error.code().name()), (FileErrorCode::FileNotFound, "file_not_found"));
/// # Ok(())
/// # }
/// ```
pub trait Backend: Send + Sync {
    /// Returns the identifier, which never changes.
    fn id(&self) -> &str;

    /// Lists a directory, sorted by name.
    fn ls<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<FileInfo>, FileError>>;

    /// Reads at most `limit` lines of a text file after skipping `offset` lines, or all bytes of another file.
    ///
    /// A [`TextPage`](crate::files::TextPage) has the text as it is, the numbers of its lines, counted from 1, and the offset of the next
    /// page. It has at most 2,000 lines and 50 KiB.
    fn read<'a>(&'a self, path: &'a str, offset: u64, limit: u64) -> BoxFuture<'a, Result<FileContents, FileError>>;

    /// Reads all bytes of a file.
    fn read_raw<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, FileError>>;

    /// Writes a file. The mode decides what happens if it exists.
    fn write<'a>(&'a self, path: &'a str, contents: Vec<u8>, mode: WriteMode) -> BoxFuture<'a, Result<WriteResult, FileError>>;

    /// Replaces text in a file: its only occurrence, or every occurrence.
    fn edit<'a>(&'a self, path: &'a str, old: &'a str, new: &'a str, replace_all: bool) -> BoxFuture<'a, Result<EditResult, FileError>>;

    /// Deletes a file, or a directory with everything in it.
    fn delete<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<DeleteResult, FileError>>;

    /// Finds lines that contain a literal text, or match a regular expression. A glob pattern that begins with `/` is relative to the path
    /// of the query.
    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, FileError>>;

    /// Finds files and directories by a pattern. A pattern with a slash is relative to the path of the query, also if it begins with `/`.
    /// A pattern without a slash matches names at any depth.
    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, FileError>>;

    /// Writes several files, and returns a result for each, in the same order. Existing files are replaced.
    fn upload(&self, files: Vec<(String, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<WriteResult, FileError>>>;

    /// Reads several files, and returns a result for each, in the same order.
    fn download(&self, paths: Vec<String>) -> BoxFuture<'_, Vec<Result<Vec<u8>, FileError>>>;

    /// Runs a command. Errors are reported in the output. A timeout can only lower the limit of the backend.
    fn execute<'a>(&'a self, command: &'a str, timeout: Option<Duration>) -> BoxFuture<'a, Execution>;
}

impl Backend for Sandbox {
    fn id(&self) -> &str {
        self.id()
    }

    fn ls<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<FileInfo>, FileError>> {
        Box::pin(async move {
            let path = sandbox_path(path);
            let mut infos = self.list(&path).await?;
            let directory = match self.files().name_of(&path)?.as_str() {
                "." => "/".to_owned(),
                name => format!("/{name}/"),
            };
            infos.iter_mut().for_each(|info| info.name.insert_str(0, &directory));
            Ok(infos)
        })
    }

    fn read<'a>(&'a self, path: &'a str, offset: u64, limit: u64) -> BoxFuture<'a, Result<FileContents, FileError>> {
        Box::pin(async move { self.read(&sandbox_path(path), offset.saturating_add(1), Some(limit)).await })
    }

    fn read_raw<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, FileError>> {
        Box::pin(async move { self.read_raw(&sandbox_path(path)).await })
    }

    fn write<'a>(&'a self, path: &'a str, contents: Vec<u8>, mode: WriteMode) -> BoxFuture<'a, Result<WriteResult, FileError>> {
        Box::pin(async move { self.write(&sandbox_path(path), contents, mode).await.map(with_slash) })
    }

    fn edit<'a>(&'a self, path: &'a str, old: &'a str, new: &'a str, replace_all: bool) -> BoxFuture<'a, Result<EditResult, FileError>> {
        Box::pin(async move {
            let mut edited = self.edit(&sandbox_path(path), old, new, replace_all).await?;
            edited.name.insert(0, '/');
            Ok(edited)
        })
    }

    fn delete<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<DeleteResult, FileError>> {
        Box::pin(async move {
            let mut deleted = self.delete(&sandbox_path(path)).await?;
            deleted.name.insert(0, '/');
            Ok(deleted)
        })
    }

    fn grep(&self, mut query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, FileError>> {
        Box::pin(async move {
            query.path = sandbox_path(&query.path);
            // A pattern with a slash is compared with whole paths. `./` keeps that meaning without an absolute path.
            query.glob = query.glob.map(|glob| glob.strip_prefix('/').map(|rest| format!("./{rest}")).unwrap_or(glob));
            let mut result = self.grep(query).await?;
            result.matches.iter_mut().for_each(|line| line.name.insert(0, '/'));
            Ok(result)
        })
    }

    fn glob(&self, mut query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, FileError>> {
        Box::pin(async move {
            query.path = sandbox_path(&query.path);
            query.pattern = match query.pattern.strip_prefix('/') {
                Some(rest) => rest.to_owned(),
                None if query.pattern.is_empty() || query.pattern.contains('/') => query.pattern,
                None => format!("**/{}", query.pattern),
            };
            let mut result = self.glob(query).await?;
            result.entries.iter_mut().for_each(|entry| entry.name.insert(0, '/'));
            Ok(result)
        })
    }

    fn upload(&self, files: Vec<(String, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<WriteResult, FileError>>> {
        Box::pin(async move {
            let files = files.into_iter().map(|(path, contents)| (sandbox_path(&path), contents)).collect();
            self.upload(files).await.into_iter().map(|result| result.map(with_slash)).collect()
        })
    }

    fn download(&self, paths: Vec<String>) -> BoxFuture<'_, Vec<Result<Vec<u8>, FileError>>> {
        Box::pin(async move { self.download(paths.iter().map(|path| sandbox_path(path)).collect()).await })
    }

    fn execute<'a>(&'a self, command: &'a str, timeout: Option<Duration>) -> BoxFuture<'a, Execution> {
        Box::pin(async move {
            let command = match Command::parse(command) {
                Ok(Command { script: Source::File(path), arguments }) => Command { script: Source::File(sandbox_path(&path)), arguments },
                Ok(command) => command,
                Err(reason) => return Execution::rejected(&reason),
            };
            self.run_command(command, ExecOptions { timeout, ..ExecOptions::default() }).await
        })
    }
}

/// Converts a path of a framework to one of the sandbox: a leading slash becomes `~/`. A second slash stays, and is rejected.
fn sandbox_path(path: &str) -> String {
    path.strip_prefix('/').map_or_else(|| path.to_owned(), |rest| format!("~/{rest}"))
}

fn with_slash(mut written: WriteResult) -> WriteResult {
    written.name.insert(0, '/');
    written
}
