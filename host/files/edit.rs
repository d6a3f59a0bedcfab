//! Replaces text in a file.

use super::{
    MAX_WHOLE_FILE,
    directory::Files,
    error::FileError,
    open_mode::OpenMode,
    protected_names::Access,
    read, resolve,
    write::{self, Target},
    write_budget::WriteBudget,
};
use crate::allocation;
use memchr::memmem;
use std::borrow::Cow;

/// The result of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditResult {
    /// The path, relative to the io directory.
    pub name: String,
    /// The number of replacements.
    pub count: u64,
    /// The size of the file after the edit.
    pub bytes: u64,
}

impl Files {
    /// Replaces text in a file: its only occurrence, or with `all` every occurrence. The file must fit into the write budget, before
    /// and after the edit, and have at most 256 MiB. Blocks.
    ///
    /// If all lines of the file end with `\r\n`, line endings in `old` and `new` are converted to `\r\n` first.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid, the file does not exist, the text does not occur, the text occurs more than once and `all`
    /// is `false`, a limit would be exceeded, or the operating system rejects the operation.
    pub fn edit(&self, path: &str, old: &str, new: &str, all: bool, budget: &mut WriteBudget) -> Result<EditResult, FileError> {
        let path = self.resolve(path.as_bytes(), Access::Write)?;
        if old.is_empty() {
            return Err(FileError::argument(&path, "the text to replace is empty"));
        }
        // Held until the end, so that no write is lost between reading and replacing the file.
        let _exclusive = self.truncate_lock().write();
        let file = resolve::open_existing(self, &path, OpenMode::ReadUpdate)?.ok_or_else(|| FileError::not_found(&path))?;
        let contents = read::read_all(&file, &path, budget.max_bytes())?;
        let endings = LineEndings::of(&contents);
        let (old, new) = (endings.apply(old), endings.apply(new));
        if old == new {
            return Err(FileError::argument(&path, "the new text is the same as the old one"));
        }
        let count = memmem::find_iter(&contents, old.as_bytes()).count();
        match count {
            0 => return Err(FileError::argument(&path, "the text to replace is not in the file")),
            2.. if !all => {
                let reason = format!("the text to replace occurs {count} times; include more of the surrounding text, or replace all");
                return Err(FileError::argument(&path, &reason));
            }
            _ => {}
        }
        let bytes = (contents.len() - count * old.len()) as u64 + (count as u64).saturating_mul(new.len() as u64);
        budget.check_write(bytes)?;
        if bytes > MAX_WHOLE_FILE {
            let message = format!("{}: the edited file would be larger than {MAX_WHOLE_FILE} bytes", path.name());
            return Err(FileError::Limit(message));
        }
        let mut edited = allocation::buffer(bytes).map_err(|error| FileError::system(&path, error))?;
        let mut start = 0;
        for position in memmem::find_iter(&contents, old.as_bytes()) {
            edited.extend_from_slice(&contents[start..position]);
            edited.extend_from_slice(new.as_bytes());
            start = position + old.len();
        }
        edited.extend_from_slice(&contents[start..]);
        write::install(self, &path, &edited, Target::Existing(file), budget)?;
        Ok(EditResult { name: path.name().to_owned(), count: count as u64, bytes })
    }
}

/// The line endings of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEndings {
    /// All lines end with `\r\n`.
    Windows,
    /// All lines end with `\n`, the file mixes both, or it has none. Text is used as it is.
    Other,
}

impl LineEndings {
    fn of(contents: &[u8]) -> Self {
        let mut newlines = memchr::memchr_iter(b'\n', contents).peekable();
        let has_newline = newlines.peek().is_some();
        let all_windows = newlines.all(|position| position > 0 && contents[position - 1] == b'\r');
        if has_newline && all_windows { Self::Windows } else { Self::Other }
    }

    fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Windows => Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n")),
            Self::Other => Cow::Borrowed(text),
        }
    }
}
