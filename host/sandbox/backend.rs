//! The protocol that agents' frameworks have for a place with files and commands.

use super::{
    Execution, Sandbox,
    command::{Command, Source},
};
use crate::files::{EditResult, FileContents, FileError, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, WriteMode, WriteResult};
use futures_util::future::BoxFuture;

/// A place with files and commands, as frameworks for agents have it; it can be used as `dyn Backend`.
///
/// Its paths may begin with one `/`, which means home. Names in what it answers do, so that they can be used again; only those of
/// [`ls`](Self::ls) are names in their folder.
pub trait Backend: Send + Sync {
    /// The name of this place, which stays the same.
    fn id(&self) -> &str;

    /// What is in a folder.
    fn ls<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<FileInfo>, FileError>>;

    /// Lines of a text with their numbers in front, from an offset on, which counts from 0; the numbers count from 1. Where there is
    /// more, the last line says so.
    fn read<'a>(&'a self, path: &'a str, offset: u64, limit: u64) -> BoxFuture<'a, Result<String, FileError>>;

    /// All bytes of a file.
    fn read_raw<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, FileError>>;

    /// Writes a file that does not exist yet.
    fn write<'a>(&'a self, path: &'a str, content: &'a str) -> BoxFuture<'a, Result<WriteResult, FileError>>;

    /// Replaces a text that is in a file once, or all of it.
    fn edit<'a>(&'a self, path: &'a str, old: &'a str, new: &'a str, replace_all: bool) -> BoxFuture<'a, Result<EditResult, FileError>>;

    /// Lines that have a text in them, taken literally.
    fn grep<'a>(&'a self, pattern: &'a str, path: &'a str, glob: Option<&'a str>) -> BoxFuture<'a, Result<GrepResult, FileError>>;

    /// Files and folders whose paths fit a pattern, from the folder on, or from home on if it begins with a `/`.
    fn glob<'a>(&'a self, pattern: &'a str, path: &'a str) -> BoxFuture<'a, Result<GlobResult, FileError>>;

    /// Runs a command; what is wrong with it is in the output.
    fn execute<'a>(&'a self, command: &'a str) -> BoxFuture<'a, Execution>;
}

impl Backend for Sandbox {
    fn id(&self) -> &str {
        self.id()
    }

    fn ls<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<FileInfo>, FileError>> {
        Box::pin(async move { self.list(&from_home(path)).await })
    }

    fn read<'a>(&'a self, path: &'a str, offset: u64, limit: u64) -> BoxFuture<'a, Result<String, FileError>> {
        Box::pin(async move {
            match self.read(&from_home(path), offset.saturating_add(1), Some(limit)).await? {
                FileContents::Text(part) => Ok(part.shown(part.next.map(|next| next - 1))),
                FileContents::Image { mime_type, .. } => Err(FileError::Argument(format!("{path}: it is no text but {mime_type}"))),
                FileContents::Binary { .. } => Err(FileError::Argument(format!("{path}: it is no text"))),
            }
        })
    }

    fn read_raw<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, FileError>> {
        Box::pin(async move { self.read_raw(&from_home(path)).await })
    }

    fn write<'a>(&'a self, path: &'a str, content: &'a str) -> BoxFuture<'a, Result<WriteResult, FileError>> {
        Box::pin(async move {
            let mut written = self.write(&from_home(path), content, WriteMode::Create).await?;
            written.name.insert(0, '/');
            Ok(written)
        })
    }

    fn edit<'a>(&'a self, path: &'a str, old: &'a str, new: &'a str, replace_all: bool) -> BoxFuture<'a, Result<EditResult, FileError>> {
        Box::pin(async move {
            let mut edited = self.edit(&from_home(path), old, new, replace_all).await?;
            edited.name.insert(0, '/');
            Ok(edited)
        })
    }

    fn grep<'a>(&'a self, pattern: &'a str, path: &'a str, glob: Option<&'a str>) -> BoxFuture<'a, Result<GrepResult, FileError>> {
        Box::pin(async move {
            let mut query = GrepQuery::new(pattern).in_path(from_home(path));
            // A slash in front of a pattern for names makes it one for paths.
            query.glob = glob.map(|glob| glob.strip_prefix('/').map_or_else(|| glob.to_owned(), |rest| format!("./{rest}")));
            let mut found = self.grep(query).await?;
            found.matches.iter_mut().for_each(|found| found.name.insert(0, '/'));
            Ok(found)
        })
    }

    fn glob<'a>(&'a self, pattern: &'a str, path: &'a str) -> BoxFuture<'a, Result<GlobResult, FileError>> {
        Box::pin(async move {
            let query = match pattern.strip_prefix('/') {
                Some(rest) => GlobQuery::new(rest).in_folder("~"),
                None => GlobQuery::new(pattern).in_folder(from_home(path)),
            };
            let mut found = self.glob(query).await?;
            found.entries.iter_mut().for_each(|entry| entry.name.insert(0, '/'));
            Ok(found)
        })
    }

    fn execute<'a>(&'a self, command: &'a str) -> BoxFuture<'a, Execution> {
        Box::pin(async move {
            match Command::parse(command) {
                Ok(Command { script: Source::File(path), arguments }) => {
                    self.run_command(Command { script: Source::File(from_home(&path)), arguments }).await
                }
                Ok(command) => self.run_command(command).await,
                Err(reason) => Execution::not_run(&reason),
            }
        })
    }
}

/// One slash in front is home's; a path with two is as wrong as it is elsewhere.
fn from_home(path: &str) -> String {
    path.strip_prefix('/').map_or_else(|| path.to_owned(), |rest| format!("~/{rest}"))
}
