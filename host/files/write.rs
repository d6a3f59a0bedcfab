//! A whole file at once: made, replaced, appended to, edited, removed.

use super::{
    disk::{ENTRY, Ledger},
    error::FileError,
    handle::{self, Handle, Mode},
    path::FilePath,
    quota::Quota,
    read,
    root::Files,
    temporary::Staged,
    touched::Touched,
    walk,
};
use cap_std::fs::Metadata;
use memchr::memmem;
use std::{borrow::Cow, io::ErrorKind};

/// What becomes of a file that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WriteMode {
    /// It stays, and the call is refused.
    #[default]
    Create,
    /// It is replaced: whoever reads sees the old file or the new one.
    Overwrite,
    /// It becomes longer.
    Append,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteResult {
    /// The path, relative to the io dir.
    pub name: String,
    /// Bytes that were written.
    pub bytes: u64,
}

/// What was edited.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditResult {
    /// The path, relative to the io dir.
    pub name: String,
    /// How often the text was replaced.
    pub count: u64,
    /// Bytes of the file now.
    pub bytes: u64,
}

impl Files {
    /// Writes a file within a quota, and makes the folders on its way. It blocks.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, a limit would be passed, there is a file that is not to be replaced, or the system refuses.
    pub fn write(&self, path: &str, contents: &[u8], mode: WriteMode, quota: &mut Quota) -> Result<WriteResult, FileError> {
        let path = self.resolve(path.as_bytes())?;
        match mode {
            WriteMode::Append => {
                let _alone = self.shrinking().write();
                self.append(&path, contents, quota)?;
            }
            WriteMode::Create => {
                let (folders, name) = path.split()?;
                if let Some(folder) = walk::existing_folder(self, &path, folders)?
                    && walk::regular(&folder, &path, name)?.is_some()
                {
                    return Err(FileError::exists(&path));
                }
                place(self, &path, contents, Target::Nothing, quota)?;
            }
            // A file that can't be written to is not replaced either.
            WriteMode::Overwrite => {
                let _alone = self.shrinking().write();
                let file = walk::open_existing(self, &path, Mode::ReadUpdate)?;
                let metadata = file.map(|file| file.metadata()).transpose().map_err(|error| FileError::system(&path, &error))?;
                place(self, &path, contents, metadata.map_or(Target::NothingYet, Target::File), quota)?;
            }
        }
        Ok(WriteResult { name: path.name().to_owned(), bytes: contents.len() as u64 })
    }

    fn append(&self, path: &FilePath, contents: &[u8], quota: &mut Quota) -> Result<(), FileError> {
        let size = contents.len() as u64;
        quota.check_write(size)?;
        let file = match walk::open_existing(self, path, Mode::Append)? {
            Some(file) => file,
            None => {
                // Nothing is made for what may not be written.
                Ledger::open(self).check(size.saturating_add(ENTRY))?;
                walk::open(self, path, Mode::Append, quota)?.file
            }
        };
        let mut handle = Handle::new(file, path.clone(), Mode::Append)?;
        handle.count(self)?;
        let written = handle.write_guarded(contents, quota, &mut Touched::default(), self);
        handle.close(self);
        written
    }

    /// Replaces a text in a file that fits into a quota: where it is once, or all of it. It blocks.
    ///
    /// Where all lines of a file end with `\r\n`, so do those of the two texts, however they are written.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is no such file, the text is not in it or more than once, a limit would be passed, or the
    /// system refuses.
    pub fn edit(&self, path: &str, old: &str, new: &str, all: bool, quota: &mut Quota) -> Result<EditResult, FileError> {
        let path = self.resolve(path.as_bytes())?;
        if old.is_empty() {
            return Err(FileError::argument(&path, "the text to replace is empty"));
        }
        // Nobody writes between the look and the change.
        let _alone = self.shrinking().write();
        let file = walk::open(self, &path, Mode::ReadUpdate, &mut Quota::new(0, 0))?.file;
        let metadata = file.metadata().map_err(|error| FileError::system(&path, &error))?;
        let contents = read::all(file, &path, quota.max_bytes())?;
        let endings = Endings::of(&contents);
        let (old, new) = (endings.apply(old), endings.apply(new));
        if old == new {
            return Err(FileError::argument(&path, "the new text is the same as the old one"));
        }
        let count = memmem::find_iter(&contents, old.as_bytes()).count();
        match count {
            0 => return Err(FileError::argument(&path, "the text to replace is not in the file")),
            2.. if !all => {
                let reason = format!("the text to replace is there {count} times; give more of what is around it, or replace all");
                return Err(FileError::argument(&path, &reason));
            }
            _ => {}
        }
        let bytes = (contents.len() - count * old.len()) as u64 + (count as u64).saturating_mul(new.len() as u64);
        quota.check_write(bytes)?;
        let mut edited = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
        let mut start = 0;
        for position in memmem::find_iter(&contents, old.as_bytes()) {
            edited.extend_from_slice(&contents[start..position]);
            edited.extend_from_slice(new.as_bytes());
            start = position + old.len();
        }
        edited.extend_from_slice(&contents[start..]);
        place(self, &path, &edited, Target::File(metadata), quota)?;
        Ok(EditResult { name: path.name().to_owned(), count: count as u64, bytes })
    }

    /// Removes a file, and answers with its path, relative to the io dir. It blocks.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is no such file, or the system refuses.
    pub fn remove(&self, path: &str) -> Result<String, FileError> {
        let path = self.resolve(path.as_bytes())?;
        walk::remove(self, &path)?;
        Ok(path.name().to_owned())
    }
}

/// What is in the place of a file that is to come.
enum Target {
    /// Nothing, and it must be so.
    Nothing,
    /// Nothing, as far as is known.
    NothingYet,
    /// A file.
    File(Metadata),
}

/// Puts a whole file in its place.
fn place(files: &Files, path: &FilePath, contents: &[u8], target: Target, quota: &mut Quota) -> Result<(), FileError> {
    let (folders, name) = path.split()?;
    let size = contents.len() as u64;
    handle::check_file_size(size).map_err(|error| FileError::system(path, &error))?;
    quota.check_write(size)?;
    let existing = if let Target::File(metadata) = &target { Some(metadata) } else { None };
    // Old and new are on disk together for a moment.
    let taken = if existing.is_some() { size } else { size.saturating_add(ENTRY) };
    if existing.is_none() {
        quota.check_files()?;
    }
    let mut ledger = Ledger::open(files);
    let folder = walk::make_folders(files, path, folders, taken, quota, &mut ledger)?;
    ledger.take(taken)?;
    quota.write(size)?;
    let root = files.make_root(path)?;
    let staged = Staged::write(&root, contents, existing.map(Metadata::permissions));
    // What is replaced is what is there at this moment, whatever it was when it was looked at.
    let replaced = walk::regular(&folder, path, name);
    let placed = staged.and_then(|staged| match target {
        Target::Nothing => staged.create(&folder, name),
        Target::NothingYet | Target::File(_) => staged.replace(&folder, name),
    });
    if let Err(error) = placed {
        ledger.give_back(taken);
        let is_there = error.kind() == ErrorKind::AlreadyExists;
        return Err(if is_there { FileError::exists(path) } else { FileError::system(path, &error) });
    }
    match (replaced, existing) {
        (Ok(Some(metadata)), Some(_)) => ledger.removed(&metadata),
        (Ok(Some(metadata)), None) => {
            ledger.removed(&metadata);
            ledger.give_back(ENTRY);
        }
        // What was to be replaced had gone, and given back what it took with its name.
        (_, Some(_)) => ledger.add(ENTRY),
        (_, None) => quota.made_file(),
    }
    Ok(())
}

/// How the lines of a file end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Endings {
    /// All with `\r\n`.
    Windows,
    /// All with `\n`, or in both ways, or there is none.
    AsWritten,
}

impl Endings {
    fn of(contents: &[u8]) -> Self {
        let mut newlines = memchr::memchr_iter(b'\n', contents).peekable();
        let has_some = newlines.peek().is_some();
        let all = newlines.all(|position| position > 0 && contents[position - 1] == b'\r');
        if has_some && all { Self::Windows } else { Self::AsWritten }
    }

    fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Windows => Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n")),
            Self::AsWritten => Cow::Borrowed(text),
        }
    }
}
