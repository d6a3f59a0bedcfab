//! From a path to a file, one component at a time, without following a link at any step.

use super::{
    Mode,
    disk::{ENTRY, Ledger},
    error::FileError,
    path::FilePath,
    quota::Quota,
    root::Files,
};
use cap_fs_ext::{DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use std::{io::ErrorKind, sync::Arc};

/// How often a file that others make and remove at the same time is looked for again.
const ATTEMPTS: usize = 8;

/// A file that was opened, and how.
pub struct Opened {
    pub file: File,
    /// It was not there before.
    pub made: bool,
}

/// Opens a file as the mode says; what `w` empties is known to be a regular file by then.
pub fn open(files: &Files, path: &FilePath, mode: Mode, quota: &mut Quota) -> Result<Opened, FileError> {
    for _ in 0..ATTEMPTS {
        if let Some(file) = open_existing(files, path, mode)? {
            if mode.empties() {
                let _alone = files.shrinking().write();
                empty(files, &file).map_err(|error| FileError::system(path, &error))?;
            }
            return Ok(Opened { file, made: false });
        }
        if !mode.makes() {
            return Err(FileError::missing(path));
        }
        if let Some(file) = open_new(files, path, mode, quota)? {
            return Ok(Opened { file, made: true });
        }
    }
    Err(FileError::system(path, &ErrorKind::ResourceBusy.into()))
}

fn empty(files: &Files, file: &File) -> std::io::Result<()> {
    let mut ledger = Ledger::open(files);
    let metadata = file.metadata()?;
    file.set_len(0)?;
    // What lost its name in the moment before was given back by whoever took it.
    if metadata.nlink() > 0 {
        ledger.give_back(metadata.len());
    }
    Ok(())
}

/// The file if it exists.
pub fn open_existing(files: &Files, path: &FilePath, mode: Mode) -> Result<Option<File>, FileError> {
    let (folders, name) = path.split()?;
    let Some(folder) = existing_folder(files, path, folders)? else { return Ok(None) };
    // What can block or has side effects when it is opened is not opened at all, unless it came this very moment: then opening
    // it does not block, and what was opened is looked at again.
    if regular(&folder, path, name)?.is_none() {
        return Ok(None);
    }
    match folder.open_with(name, options(mode).nonblock(true)) {
        Ok(file) => {
            let metadata = file.metadata().map_err(|error| FileError::system(path, &error))?;
            if metadata.is_file() { Ok(Some(file)) } else { Err(FileError::irregular(path)) }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(explain(&folder, path, name, &error)),
    }
}

/// A new file, with the folders on its way; nothing if somebody else was faster.
fn open_new(files: &Files, path: &FilePath, mode: Mode, quota: &mut Quota) -> Result<Option<File>, FileError> {
    let (folders, name) = path.split()?;
    quota.check_files()?;
    let mut ledger = Ledger::open(files);
    let folder = make_folders(files, path, folders, ENTRY, quota, &mut ledger)?;
    ledger.take(ENTRY)?;
    match folder.open_with(name, options(mode).create_new(true)) {
        Ok(file) => {
            quota.made_file();
            Ok(Some(file))
        }
        Err(error) => {
            ledger.give_back(ENTRY);
            if error.kind() == ErrorKind::AlreadyExists { Ok(None) } else { Err(explain(&folder, path, name, &error)) }
        }
    }
}

/// The folder at the end of a path; what of it does not exist is made, if there is room for all of it and for so many bytes more.
pub fn make_folders<'a>(
    files: &Files,
    path: &FilePath,
    components: impl Iterator<Item = &'a str> + Clone,
    more: u64,
    quota: &mut Quota,
    ledger: &mut Ledger<'_>,
) -> Result<Arc<Dir>, FileError> {
    // Before the first one is made: all that follow are missing too.
    let check = |missing: usize, quota: &Quota, ledger: &mut Ledger<'_>| {
        quota.check_folders(missing as u64)?;
        ledger.check((missing as u64).saturating_mul(ENTRY).saturating_add(more))
    };
    let mut folder = match files.root(path)? {
        Some(root) => root,
        None => {
            check(components.clone().count(), quota, ledger)?;
            files.make_root(path)?
        }
    };
    let mut rest = components;
    while let Some(name) = rest.next() {
        folder = Arc::new(match step(&folder, path, name)? {
            Some(next) => next,
            None => {
                check(1 + rest.clone().count(), quota, ledger)?;
                make_folder(&folder, path, name, quota, ledger)?
            }
        });
    }
    Ok(folder)
}

fn make_folder(folder: &Dir, path: &FilePath, name: &str, quota: &mut Quota, ledger: &mut Ledger<'_>) -> Result<Dir, FileError> {
    ledger.take(ENTRY)?;
    match folder.create_dir(name) {
        Ok(()) => quota.made_folder(),
        Err(error) => {
            ledger.give_back(ENTRY);
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(FileError::system(path, &error));
            }
        }
    }
    step(folder, path, name)?.ok_or_else(|| FileError::missing(path))
}

/// The folder of a path; nothing where paths start, before something was written there.
pub fn folder(files: &Files, path: &FilePath) -> Result<Option<Arc<Dir>>, FileError> {
    match existing_folder(files, path, path.components())? {
        None if !files.is_start(path) => Err(FileError::missing(path)),
        folder => Ok(folder),
    }
}

/// The folder at the end of a path, if it exists.
pub fn existing_folder<'a>(
    files: &Files,
    path: &FilePath,
    components: impl Iterator<Item = &'a str>,
) -> Result<Option<Arc<Dir>>, FileError> {
    let Some(mut folder) = files.root(path)? else { return Ok(None) };
    for name in components {
        match step(&folder, path, name)? {
            Some(next) => folder = Arc::new(next),
            None => return Ok(None),
        }
    }
    Ok(Some(folder))
}

/// One folder further.
pub fn step(folder: &Dir, path: &FilePath, name: &str) -> Result<Option<Dir>, FileError> {
    match folder.open_dir_nofollow(name) {
        Ok(next) => Ok(Some(next)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(explain(folder, path, name, &error)),
    }
}

/// Removes a file that is a regular one.
pub fn remove(files: &Files, path: &FilePath) -> Result<(), FileError> {
    let (folders, name) = path.split()?;
    let folder = existing_folder(files, path, folders)?.ok_or_else(|| FileError::missing(path))?;
    let mut ledger = Ledger::open(files);
    let metadata = regular(&folder, path, name)?.ok_or_else(|| FileError::missing(path))?;
    folder.remove_file(name).map_err(|error| FileError::system(path, &error))?;
    ledger.removed(&metadata);
    ledger.give_back(ENTRY);
    Ok(())
}

/// Looks at many files, in the order of their names: the folders that one shares with the next are not opened again.
pub struct Surveyor<'a> {
    files: &'a Files,
    folders: Vec<(String, Arc<Dir>)>,
}

impl<'a> Surveyor<'a> {
    pub fn new(files: &'a Files) -> Self {
        Self { files, folders: Vec::new() }
    }

    /// Bytes of a regular file, if there is one by this name.
    pub fn size(&mut self, path: &FilePath) -> Result<Option<u64>, FileError> {
        let (folders, name) = path.split()?;
        let Some(folder) = self.folder(path, folders)? else { return Ok(None) };
        match folder.symlink_metadata(name) {
            Ok(metadata) => Ok(metadata.is_file().then(|| metadata.len())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::system(path, &error)),
        }
    }

    fn folder<'p>(&mut self, path: &FilePath, names: impl Iterator<Item = &'p str>) -> Result<Option<Arc<Dir>>, FileError> {
        let Some(mut folder) = self.files.root(path)? else { return Ok(None) };
        for (depth, name) in names.enumerate() {
            if self.folders.get(depth).is_none_or(|(known, _)| known != name) {
                self.folders.truncate(depth);
                let Some(next) = step(&folder, path, name)? else { return Ok(None) };
                self.folders.push((name.to_owned(), Arc::new(next)));
            }
            folder = Arc::clone(&self.folders[depth].1);
        }
        Ok(Some(folder))
    }
}

/// What is known of a regular file, if there is one.
pub fn regular(folder: &Dir, path: &FilePath, name: &str) -> Result<Option<Metadata>, FileError> {
    match folder.symlink_metadata(name) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata)),
        Ok(metadata) if metadata.is_symlink() => Err(FileError::link(path)),
        Ok(metadata) if metadata.is_dir() => Err(FileError::folder(path)),
        Ok(_) => Err(FileError::irregular(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::system(path, &error)),
    }
}

/// An error of the system's, which has several for a link that it did not follow.
fn explain(folder: &Dir, path: &FilePath, name: &str, error: &std::io::Error) -> FileError {
    match folder.symlink_metadata(name) {
        Ok(metadata) if metadata.is_symlink() => FileError::link(path),
        _ => FileError::system(path, error),
    }
}

/// How a file is opened in a mode, whatever else is wanted.
pub fn options(mode: Mode) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(mode.reads()).write(mode.writes()).append(mode.appends()).follow(FollowSymlinks::No);
    options
}
