//! Recursive traversal of a directory, in path order.
//!
//! A directory may have more names than fit into memory, and more subdirectories than there are file descriptors. So only the
//! directories on the path to the current one are open, and only a part of the names in each is in memory.

use super::{error::FileError, path::MAX_COMPONENTS, protected_names::NameRules};
use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, DirEntry, FileType, ReadDir};
use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsStr,
    io::ErrorKind,
    sync::Arc,
};

/// The maximum number of names that all open directories hold together. Each gets half of what is left, and reads its directory again
/// when it needs more names.
const MAX_NAMES: usize = 64 * 1024;

/// The number of names that each open directory may hold in any case.
const MIN_NAMES_PER_DIRECTORY: usize = 1024;

/// A traversal. It enters a directory only when the caller asks for it.
pub struct Traversal<'a> {
    /// The open directories, from the start of the traversal to the current one.
    open: Vec<OpenDirectory>,
    after: Option<&'a str>,
    names: NameRules,
    should_continue: &'a dyn Fn() -> bool,
    /// The number of names that were skipped because they are not UTF-8.
    pub unreadable_names: u64,
}

/// A regular file or a directory. It has not been opened.
pub struct Entry {
    /// The directory that contains the entry.
    pub parent: Arc<Dir>,
    /// The path, relative to the start of the traversal.
    pub path: String,
    /// The position in `path` at which the name starts.
    name_start: usize,
    pub is_directory: bool,
}

impl Entry {
    /// Returns the name in the parent directory.
    pub fn name(&self) -> &str {
        &self.path[self.name_start..]
    }
}

impl<'a> Traversal<'a> {
    /// Starts a traversal of a directory, after the path `after`. Symlinks are skipped.
    ///
    /// `should_continue` is called repeatedly; the traversal stops when it returns `false`.
    pub fn new(
        directory: Arc<Dir>,
        names: NameRules,
        after: Option<&'a str>,
        should_continue: &'a dyn Fn() -> bool,
    ) -> Result<Self, FileError> {
        let mut traversal = Self { open: Vec::new(), after, names, should_continue, unreadable_names: 0 };
        traversal.push(directory, String::new())?;
        Ok(traversal)
    }

    /// Returns the next file or directory.
    pub fn next(&mut self) -> Result<Option<Entry>, FileError> {
        if !(self.should_continue)() {
            return Err(FileError::Interrupted);
        }
        while let Some(current) = self.open.last_mut() {
            let Some(name) = current.next(self.names, self.should_continue)? else {
                self.open.pop();
                continue;
            };
            let mut path = format!("{}{name}", current.prefix);
            let is_directory = path.ends_with('/');
            path.truncate(path.len() - usize::from(is_directory));
            let entry = Entry { parent: Arc::clone(&current.directory), name_start: current.prefix.len(), is_directory, path };
            return Ok(Some(entry));
        }
        Ok(None)
    }

    /// Continues with the contents of a directory. Does nothing if it was removed or replaced in the meantime.
    pub fn enter(&mut self, entry: &Entry) -> Result<(), FileError> {
        if self.open.len() < MAX_COMPONENTS
            && let Some(directory) = open_child(&entry.parent, entry.name().as_ref())?
        {
            self.push(Arc::new(directory), format!("{}/", entry.path))?;
        }
        Ok(())
    }

    /// Does the same as [`enter`](Self::enter), but skips a directory that can't be read. Returns the number of skipped directories.
    pub fn try_enter(&mut self, entry: &Entry) -> Result<u64, FileError> {
        match self.enter(entry) {
            Ok(()) => Ok(0),
            Err(FileError::Interrupted) => Err(FileError::Interrupted),
            Err(_) => Ok(1),
        }
    }

    fn push(&mut self, directory: Arc<Dir>, prefix: String) -> Result<(), FileError> {
        let reserved: usize = self.open.iter().map(|directory| directory.max_names).sum();
        let max_names = (MAX_NAMES.saturating_sub(reserved) / 2).max(MIN_NAMES_PER_DIRECTORY);
        let mut directory = OpenDirectory { directory, prefix, names: VecDeque::new(), has_more: true, max_names };
        let after = self.after.and_then(|after| after.strip_prefix(&directory.prefix));
        // If `after` lies in a subdirectory, the traversal starts with that subdirectory.
        let (after, from) = match after.and_then(|after| after.split_once('/')) {
            Some((subdirectory, _)) => (None, Some(format!("{subdirectory}/"))),
            None => (after, None),
        };
        self.unreadable_names += directory.read(after, from.as_deref(), self.names, self.should_continue)?;
        self.open.push(directory);
        Ok(())
    }
}

/// An open directory with its next names.
///
/// The names of subdirectories end with a slash, so that the order of names is the order of whole paths.
struct OpenDirectory {
    directory: Arc<Dir>,
    prefix: String,
    names: VecDeque<String>,
    /// There may be more names in the directory, after those in `names`.
    has_more: bool,
    /// The maximum number of names in `names`.
    max_names: usize,
}

impl OpenDirectory {
    fn next(&mut self, names: NameRules, should_continue: &dyn Fn() -> bool) -> Result<Option<String>, FileError> {
        let name = self.names.pop_front();
        if let (Some(last), true, true) = (&name, self.names.is_empty(), self.has_more) {
            self.read(Some(&last.clone()), None, names, should_continue)?;
        }
        Ok(name)
    }

    /// Reads the first names that are greater than `after` and not less than `from`. Returns the number of names that are not UTF-8.
    fn read(
        &mut self,
        after: Option<&str>,
        from: Option<&str>,
        names: NameRules,
        should_continue: &dyn Fn() -> bool,
    ) -> Result<u64, FileError> {
        let (mut first, mut unreadable) = (BTreeSet::new(), 0);
        self.has_more = false;
        for entry in entries(&self.directory)? {
            if !should_continue() {
                return Err(FileError::Interrupted);
            }
            let entry = entry.map_err(FileError::traversal)?;
            let Some(name) = sort_name(&entry, names)? else {
                unreadable += u64::from(entry.file_name().to_str().is_none());
                continue;
            };
            if after.is_some_and(|after| name.as_str() <= after) || from.is_some_and(|from| name.as_str() < from) {
                continue;
            }
            first.insert(name);
            if first.len() > self.max_names {
                first.pop_last();
                self.has_more = true;
            }
        }
        self.names = first.into_iter().collect();
        Ok(unreadable)
    }
}

/// Returns the name of a file, or the name of a directory followed by a slash.
///
/// Returns `None` for all other kinds of files, for hidden names and for names that are not UTF-8.
fn sort_name(entry: &DirEntry, names: NameRules) -> Result<Option<String>, FileError> {
    let Ok(name) = entry.file_name().into_string() else { return Ok(None) };
    if names.hides(&name) {
        return Ok(None);
    }
    let Some(kind) = file_type(entry)? else { return Ok(None) };
    Ok(if kind.is_dir() { Some(name + "/") } else { kind.is_file().then_some(name) })
}

/// Returns the type of an entry, or `None` if it was removed in the meantime.
pub fn file_type(entry: &DirEntry) -> Result<Option<FileType>, FileError> {
    match entry.file_type() {
        Ok(kind) if kind.is_file() || kind.is_dir() || kind.is_symlink() => return Ok(Some(kind)),
        // Some file systems do not return the type with the name.
        Ok(_) => {}
        Err(error) => return Err(FileError::traversal(error)),
    }
    match entry.metadata() {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::traversal(error)),
    }
}

/// Returns the entries of a directory.
pub fn entries(directory: &Dir) -> Result<ReadDir, FileError> {
    directory.entries().map_err(FileError::traversal)
}

/// Opens a directory in another one. Returns `None` if it was removed or replaced in the meantime.
pub fn open_child(parent: &Dir, name: &OsStr) -> Result<Option<Dir>, FileError> {
    match parent.open_dir_nofollow(name) {
        Ok(child) => Ok(Some(child)),
        Err(error) if parent.symlink_metadata(name).is_ok_and(|metadata| metadata.is_dir()) => Err(FileError::traversal(error)),
        Err(_) => Ok(None),
    }
}
