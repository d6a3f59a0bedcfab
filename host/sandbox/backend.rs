//! The file and command interface that agent frameworks expect.

use super::{
    Execution, Sandbox,
    luau_command::{Command, Source},
};
use crate::files::{EditResult, FileContents, FileError, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, WriteMode, WriteResult};
use futures_util::future::BoxFuture;

/// Files and commands in the form that agent frameworks expect. It can be used as `dyn Backend`.
///
/// A path that begins with `/` starts at the io directory. Names in results begin with `/`, so that they can be used as paths again; only
/// the names of [`ls`](Self::ls) are relative to the listed directory.
pub trait Backend: Send + Sync {
    /// Returns the identifier, which never changes.
    fn id(&self) -> &str;

    /// Lists a directory.
    fn ls<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<FileInfo>, FileError>>;

    /// Reads lines of a text file, each with its number in front. A note after them says if the file has more lines.
    ///
    /// `offset` counts from 0, the numbers in front of the lines count from 1.
    fn read<'a>(&'a self, path: &'a str, offset: u64, limit: u64) -> BoxFuture<'a, Result<String, FileError>>;

    /// Reads all bytes of a file.
    fn read_raw<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, FileError>>;

    /// Writes a new file. Returns an error if it exists.
    fn write<'a>(&'a self, path: &'a str, content: &'a str) -> BoxFuture<'a, Result<WriteResult, FileError>>;

    /// Replaces text in a file: its only occurrence, or every occurrence.
    fn edit<'a>(&'a self, path: &'a str, old: &'a str, new: &'a str, replace_all: bool) -> BoxFuture<'a, Result<EditResult, FileError>>;

    /// Finds lines that contain a literal text.
    fn grep<'a>(&'a self, pattern: &'a str, path: &'a str, glob: Option<&'a str>) -> BoxFuture<'a, Result<GrepResult, FileError>>;

    /// Finds files and directories by a pattern. The pattern is relative to `path`, or to the io directory if it begins with `/`.
    fn glob<'a>(&'a self, pattern: &'a str, path: &'a str) -> BoxFuture<'a, Result<GlobResult, FileError>>;

    /// Runs a command. Errors are reported in the output.
    fn execute<'a>(&'a self, command: &'a str) -> BoxFuture<'a, Execution>;
}

impl Backend for Sandbox {
    fn id(&self) -> &str {
        self.id()
    }

    fn ls<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<FileInfo>, FileError>> {
        Box::pin(async move { self.list(&sandbox_path(path)).await })
    }

    fn read<'a>(&'a self, path: &'a str, offset: u64, limit: u64) -> BoxFuture<'a, Result<String, FileError>> {
        Box::pin(async move {
            match self.read(&sandbox_path(path), offset.saturating_add(1), Some(limit)).await? {
                FileContents::Text(page) => Ok(page.numbered_with_notes(page.next_line.map(|line| line - 1))),
                FileContents::Image { mime_type, .. } => Err(FileError::Argument(format!("{path}: not a text file but {mime_type}"))),
                FileContents::Binary { .. } => Err(FileError::Argument(format!("{path}: not a text file"))),
            }
        })
    }

    fn read_raw<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, FileError>> {
        Box::pin(async move { self.read_raw(&sandbox_path(path)).await })
    }

    fn write<'a>(&'a self, path: &'a str, content: &'a str) -> BoxFuture<'a, Result<WriteResult, FileError>> {
        Box::pin(async move {
            let mut written = self.write(&sandbox_path(path), content, WriteMode::Create).await?;
            written.name.insert(0, '/');
            Ok(written)
        })
    }

    fn edit<'a>(&'a self, path: &'a str, old: &'a str, new: &'a str, replace_all: bool) -> BoxFuture<'a, Result<EditResult, FileError>> {
        Box::pin(async move {
            let mut edited = self.edit(&sandbox_path(path), old, new, replace_all).await?;
            edited.name.insert(0, '/');
            Ok(edited)
        })
    }

    fn grep<'a>(&'a self, pattern: &'a str, path: &'a str, glob: Option<&'a str>) -> BoxFuture<'a, Result<GrepResult, FileError>> {
        Box::pin(async move {
            let mut query = GrepQuery::new(pattern).with_path(sandbox_path(path));
            // A pattern with a slash is compared with whole paths. `./` keeps that meaning without an absolute path.
            query.glob = glob.map(|glob| glob.strip_prefix('/').map_or_else(|| glob.to_owned(), |rest| format!("./{rest}")));
            let mut result = self.grep(query).await?;
            result.matches.iter_mut().for_each(|line| line.name.insert(0, '/'));
            Ok(result)
        })
    }

    fn glob<'a>(&'a self, pattern: &'a str, path: &'a str) -> BoxFuture<'a, Result<GlobResult, FileError>> {
        Box::pin(async move {
            let query = match pattern.strip_prefix('/') {
                Some(rest) => GlobQuery::new(rest).with_path("~"),
                None => GlobQuery::new(pattern).with_path(sandbox_path(path)),
            };
            let mut result = self.glob(query).await?;
            result.entries.iter_mut().for_each(|entry| entry.name.insert(0, '/'));
            Ok(result)
        })
    }

    fn execute<'a>(&'a self, command: &'a str) -> BoxFuture<'a, Execution> {
        Box::pin(async move {
            match Command::parse(command) {
                Ok(Command { script: Source::File(path), arguments }) => {
                    self.run_command(Command { script: Source::File(sandbox_path(&path)), arguments }).await
                }
                Ok(command) => self.run_command(command).await,
                Err(reason) => Execution::rejected(&reason),
            }
        })
    }
}

/// Converts a path of a framework to one of the sandbox: a leading slash becomes `~/`. A second slash stays, and is rejected.
fn sandbox_path(path: &str) -> String {
    path.strip_prefix('/').map_or_else(|| path.to_owned(), |rest| format!("~/{rest}"))
}
