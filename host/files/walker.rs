//! All files and folders below one, in the order of their paths.
//!
//! A directory may hold more than fits into memory, and more folders than there are descriptors: what is open at any time is the way
//! to one folder, and what is held of each folder on it is some of its names.

use super::{error::FileError, path::MAX_COMPONENTS, reserved::is_reserved};
use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, DirEntry, FileType, ReadDir};
use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsStr,
    io::ErrorKind,
    sync::Arc,
};

/// Names that are held at once, of all folders on the way together: half of what is left for each, and at least a few. A folder with
/// more names is read again for the next ones.
const NAMES: usize = 64 * 1024;
const FEW_NAMES: usize = 1024;

/// A walk. It goes into a folder only when told to.
pub struct Walker<'a> {
    way: Vec<Level>,
    after: Option<&'a str>,
    is_wanted: &'a dyn Fn() -> bool,
    /// Names that are not UTF-8, which are left out.
    pub unreadable: u64,
}

/// A file or a folder on a walk; neither was opened.
pub struct Found {
    /// The folder that it is in.
    pub folder: Arc<Dir>,
    /// The path from where the walk began.
    pub path: String,
    name: usize,
    pub is_folder: bool,
}

impl Found {
    /// Its name in the folder.
    pub fn name(&self) -> &str {
        &self.path[self.name..]
    }
}

impl<'a> Walker<'a> {
    /// A walk from a folder on, and from behind a path on. Links are left out and not followed. `is_wanted` is asked on the way whether
    /// to go on.
    pub fn new(folder: Arc<Dir>, after: Option<&'a str>, is_wanted: &'a dyn Fn() -> bool) -> Result<Self, FileError> {
        let mut walker = Self { way: Vec::new(), after, is_wanted, unreadable: 0 };
        walker.push(folder, String::new())?;
        Ok(walker)
    }

    /// The next file or folder.
    pub fn next(&mut self) -> Result<Option<Found>, FileError> {
        if !(self.is_wanted)() {
            return Err(FileError::Unwanted);
        }
        while let Some(level) = self.way.last_mut() {
            let Some(name) = level.next(self.is_wanted)? else {
                self.way.pop();
                continue;
            };
            let mut path = format!("{}{name}", level.prefix);
            let is_folder = path.ends_with('/');
            path.truncate(path.len() - usize::from(is_folder));
            let found = Found { folder: Arc::clone(&level.folder), name: level.prefix.len(), is_folder, path };
            return Ok(Some(found));
        }
        Ok(None)
    }

    /// Goes on with what is in a folder. What is gone by now, or became a link meanwhile, is not there.
    pub fn enter(&mut self, found: &Found) -> Result<(), FileError> {
        if self.way.len() < MAX_COMPONENTS
            && let Some(folder) = open(&found.folder, found.name().as_ref())?
        {
            self.push(Arc::new(folder), format!("{}/", found.path))?;
        }
        Ok(())
    }

    /// The same; 1 if the folder can't be read.
    pub fn try_enter(&mut self, found: &Found) -> Result<u64, FileError> {
        match self.enter(found) {
            Ok(()) => Ok(0),
            Err(FileError::Unwanted) => Err(FileError::Unwanted),
            Err(_) => Ok(1),
        }
    }

    fn push(&mut self, folder: Arc<Dir>, prefix: String) -> Result<(), FileError> {
        let held: usize = self.way.iter().map(|level| level.most).sum();
        let most = (NAMES.saturating_sub(held) / 2).max(FEW_NAMES);
        let mut level = Level { folder, prefix, names: VecDeque::new(), more: true, most };
        let after = self.after.and_then(|after| after.strip_prefix(&level.prefix));
        // The folder that an earlier walk ended in is gone into again.
        let (behind, inside) = match after.and_then(|after| after.split_once('/')) {
            Some((folder, _)) => (None, Some(format!("{folder}/"))),
            None => (after, None),
        };
        self.unreadable += level.read(behind, inside.as_deref(), self.is_wanted)?;
        self.way.push(level);
        Ok(())
    }
}

/// A folder on the way, and its next names. Those of folders end with a slash: so the order of names is that of whole paths.
struct Level {
    folder: Arc<Dir>,
    prefix: String,
    names: VecDeque<String>,
    /// There may be more behind the names.
    more: bool,
    /// Names that may be held.
    most: usize,
}

impl Level {
    fn next(&mut self, is_wanted: &dyn Fn() -> bool) -> Result<Option<String>, FileError> {
        let name = self.names.pop_front();
        if let (Some(last), true, true) = (&name, self.names.is_empty(), self.more) {
            self.read(Some(&last.clone()), None, is_wanted)?;
        }
        Ok(name)
    }

    /// The first names behind one, or from one on; how many names of the folder can't be told.
    fn read(&mut self, behind: Option<&str>, from: Option<&str>, is_wanted: &dyn Fn() -> bool) -> Result<u64, FileError> {
        let (mut first, mut unreadable) = (BTreeSet::new(), 0);
        self.more = false;
        for entry in entries(&self.folder)? {
            if !is_wanted() {
                return Err(FileError::Unwanted);
            }
            let entry = entry.map_err(system)?;
            let Some(name) = name_of(&entry)? else {
                unreadable += u64::from(entry.file_name().to_str().is_none());
                continue;
            };
            if behind.is_some_and(|behind| name.as_str() <= behind) || from.is_some_and(|from| name.as_str() < from) {
                continue;
            }
            first.insert(name);
            if first.len() > self.most {
                first.pop_last();
                self.more = true;
            }
        }
        self.names = first.into_iter().collect();
        Ok(unreadable)
    }
}

/// The name of a file, or of a folder with a slash behind it; nothing for what is neither, reserved, or not UTF-8.
fn name_of(entry: &DirEntry) -> Result<Option<String>, FileError> {
    let Ok(name) = entry.file_name().into_string() else { return Ok(None) };
    if is_reserved(&name) {
        return Ok(None);
    }
    let Some(kind) = kind_of(entry)? else { return Ok(None) };
    Ok(if kind.is_dir() { Some(name + "/") } else { kind.is_file().then_some(name) })
}

/// What an entry is; nothing if it is gone.
pub fn kind_of(entry: &DirEntry) -> Result<Option<FileType>, FileError> {
    match entry.file_type() {
        Ok(kind) if kind.is_file() || kind.is_dir() || kind.is_symlink() => return Ok(Some(kind)),
        // Some file systems do not tell with the name.
        Ok(_) => {}
        Err(error) => return Err(system(error)),
    }
    match entry.metadata() {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(system(error)),
    }
}

/// What is in a folder.
pub fn entries(folder: &Dir) -> Result<ReadDir, FileError> {
    folder.entries().map_err(system)
}

/// A folder, unless it is gone or became something else meanwhile.
pub fn open(folder: &Dir, name: &OsStr) -> Result<Option<Dir>, FileError> {
    match folder.open_dir_nofollow(name) {
        Ok(next) => Ok(Some(next)),
        Err(error) if folder.symlink_metadata(name).is_ok_and(|metadata| metadata.is_dir()) => Err(system(error)),
        Err(_) => Ok(None),
    }
}

/// An error of some folder's on the way.
pub fn system(error: std::io::Error) -> FileError {
    FileError::of_folder(&error)
}
