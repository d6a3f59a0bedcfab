//! Resolves a path to a file, one component at a time, without following a symlink at any step.

use super::{
    attributes,
    directory::Files,
    disk_quota::{ENTRY_BYTES, FileId, UsageGuard},
    error::FileError,
    open_mode::OpenMode,
    path::FilePath,
    write_budget::WriteBudget,
};
use cap_fs_ext::{DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use std::{
    io::{self, ErrorKind},
    sync::Arc,
};

/// The number of attempts to open a file that others create and remove at the same time.
const OPEN_ATTEMPTS: usize = 8;

/// An opened file.
pub struct Opened {
    pub file: File,
    /// The file did not exist before.
    pub created: bool,
}

/// Opens a file. A file that the mode truncates is known to be a regular file before it is truncated.
pub fn open(files: &Files, path: &FilePath, mode: OpenMode, budget: &mut WriteBudget) -> Result<Opened, FileError> {
    for _ in 0..OPEN_ATTEMPTS {
        if let Some(file) = open_existing(files, path, mode)? {
            if mode.writes() {
                attributes::clear_privileges(&file).map_err(|error| FileError::system(path, error))?;
            }
            if mode.truncates() {
                let _exclusive = files.truncate_lock().write();
                truncate(files, &file).map_err(|error| FileError::system(path, error))?;
            }
            return Ok(Opened { file, created: false });
        }
        if !mode.creates() {
            return Err(FileError::not_found(path));
        }
        if let Some(file) = open_new(files, path, mode, budget)? {
            return Ok(Opened { file, created: true });
        }
    }
    Err(FileError::system(path, ErrorKind::ResourceBusy.into()))
}

/// Opens an existing file for reading.
pub fn open_for_reading(files: &Files, path: &FilePath) -> Result<File, FileError> {
    open_existing(files, path, OpenMode::Read)?.ok_or_else(|| FileError::not_found(path))
}

fn truncate(files: &Files, file: &File) -> io::Result<()> {
    let mut usage = UsageGuard::lock(files);
    let metadata = file.metadata()?;
    file.set_len(0)?;
    // The space of a file that was unlinked in the meantime is released by the operation that unlinked it.
    if metadata.nlink() > 0 {
        usage.release(metadata.len());
    }
    Ok(())
}

/// Opens a file. Returns `None` if it does not exist.
pub fn open_existing(files: &Files, path: &FilePath, mode: OpenMode) -> Result<Option<File>, FileError> {
    let (directories, name) = path.split()?;
    let Some(directory) = existing_directory(files, path, directories)? else { return Ok(None) };
    // Opening a FIFO or a device can block or have side effects, so only regular files are opened. If the file is replaced between this
    // check and the open, the open does not block, and the opened file is checked again.
    if regular_file(&directory, path, name)?.is_none() {
        return Ok(None);
    }
    match directory.open_with(name, options(mode).nonblock(true)) {
        Ok(file) => {
            let metadata = file.metadata().map_err(|error| FileError::system(path, error))?;
            if metadata.is_file() { Ok(Some(file)) } else { Err(FileError::irregular(path)) }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(explain(&directory, path, name, error)),
    }
}

/// Creates a file and its missing parent directories. Returns `None` if the file exists by now.
fn open_new(files: &Files, path: &FilePath, mode: OpenMode, budget: &mut WriteBudget) -> Result<Option<File>, FileError> {
    let (directories, name) = path.split()?;
    budget.check_file()?;
    let mut usage = UsageGuard::lock(files);
    let directory = create_directories(files, path, directories, ENTRY_BYTES, budget, &mut usage)?;
    usage.reserve(ENTRY_BYTES)?;
    match directory.open_with(name, options(mode).create_new(true)) {
        Ok(file) => {
            budget.count_file();
            Ok(Some(file))
        }
        Err(error) => {
            usage.release(ENTRY_BYTES);
            if error.kind() == ErrorKind::AlreadyExists { Ok(None) } else { Err(explain(&directory, path, name, error)) }
        }
    }
}

/// Opens a directory, and creates what is missing of it.
///
/// Creates nothing if the limits do not allow all missing directories and `more_bytes` after them.
pub fn create_directories<'a>(
    files: &Files,
    path: &FilePath,
    components: impl Iterator<Item = &'a str> + Clone,
    more_bytes: u64,
    budget: &mut WriteBudget,
    usage: &mut UsageGuard<'_>,
) -> Result<Arc<Dir>, FileError> {
    // Called before the first directory is created. All directories below it are missing too.
    let check = |missing: usize, budget: &WriteBudget, usage: &mut UsageGuard<'_>| {
        budget.check_directories(missing as u64)?;
        usage.check((missing as u64).saturating_mul(ENTRY_BYTES).saturating_add(more_bytes))
    };
    let mut directory = match files.root(path)? {
        Some(root) => root,
        None => {
            check(components.clone().count(), budget, usage)?;
            files.create_root(path)?
        }
    };
    let mut rest = components;
    while let Some(name) = rest.next() {
        directory = Arc::new(match open_child(&directory, path, name)? {
            Some(next) => next,
            None => {
                check(1 + rest.clone().count(), budget, usage)?;
                create_directory(&directory, path, name, budget, usage)?
            }
        });
    }
    Ok(directory)
}

fn create_directory(
    parent: &Dir,
    path: &FilePath,
    name: &str,
    budget: &mut WriteBudget,
    usage: &mut UsageGuard<'_>,
) -> Result<Dir, FileError> {
    usage.reserve(ENTRY_BYTES)?;
    match parent.create_dir(name) {
        Ok(()) => budget.count_directory(),
        Err(error) => {
            usage.release(ENTRY_BYTES);
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(FileError::system(path, error));
            }
        }
    }
    open_child(parent, path, name)?.ok_or_else(|| FileError::not_found(path))
}

/// Opens the directory at a path.
///
/// Returns `None` if it is the io directory or the working directory and does not exist yet.
pub fn directory(files: &Files, path: &FilePath) -> Result<Option<Arc<Dir>>, FileError> {
    match existing_directory(files, path, path.components())? {
        None if !files.is_base_or_root(path) => Err(FileError::not_found(path)),
        directory => Ok(directory),
    }
}

/// Opens the directory with these components. Returns `None` if it does not exist. `path` is used in messages.
pub fn existing_directory<'a>(
    files: &Files,
    path: &FilePath,
    components: impl Iterator<Item = &'a str>,
) -> Result<Option<Arc<Dir>>, FileError> {
    let Some(mut directory) = files.root(path)? else { return Ok(None) };
    for name in components {
        match open_child(&directory, path, name)? {
            Some(next) => directory = Arc::new(next),
            None => return Ok(None),
        }
    }
    Ok(Some(directory))
}

/// Opens a directory in another one. Returns `None` if it does not exist.
pub fn open_child(parent: &Dir, path: &FilePath, name: &str) -> Result<Option<Dir>, FileError> {
    match parent.open_dir_nofollow(name) {
        Ok(child) => Ok(Some(child)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(explain(parent, path, name, error)),
    }
}

/// Returns `true` if the path names a regular file or a directory. Anything else, and a path through anything else, does not exist.
pub fn exists(files: &Files, path: &FilePath) -> Result<bool, FileError> {
    if files.is_base_or_root(path) {
        return Ok(true);
    }
    let (directories, name) = path.split_any();
    let directory = match existing_directory(files, path, directories) {
        Err(error) if error.is_unreachable() => return Ok(false),
        directory => directory?,
    };
    let Some(directory) = directory else { return Ok(false) };
    match directory.symlink_metadata(name) {
        Ok(metadata) => Ok(metadata.is_dir() || (metadata.is_file() && !path.is_directory())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::system(path, error)),
    }
}

/// Renames a regular file, and replaces a regular file at the new path. Creates the missing parent directories of the new path.
pub fn rename(files: &Files, old: &FilePath, new: &FilePath, budget: &mut WriteBudget) -> Result<(), FileError> {
    let ((old_directories, old_name), (new_directories, new_name)) = (old.split()?, new.split()?);
    let source = existing_directory(files, old, old_directories)?.ok_or_else(|| FileError::not_found(old))?;
    let mut usage = UsageGuard::lock(files);
    let metadata = regular_file(&source, old, old_name)?.ok_or_else(|| FileError::not_found(old))?;
    let target = create_directories(files, new, new_directories, 0, budget, &mut usage)?;
    let replaced = regular_file(&target, new, new_name)?;
    source.rename(old_name, &target, new_name).map_err(|error| FileError::system(old, error))?;
    usage.file_moved(&metadata);
    // If both names are links to the same file, the operating system changes nothing.
    if let Some(replaced) = replaced.filter(|replaced| FileId::of(replaced) != FileId::of(&metadata)) {
        usage.file_removed(&replaced);
        usage.release(ENTRY_BYTES);
    }
    Ok(())
}

/// Removes a regular file.
pub fn remove(files: &Files, path: &FilePath) -> Result<(), FileError> {
    let (directories, name) = path.split()?;
    let directory = existing_directory(files, path, directories)?.ok_or_else(|| FileError::not_found(path))?;
    if remove_from(files, &directory, path, name)? { Ok(()) } else { Err(FileError::not_found(path)) }
}

/// Removes a regular file from a directory. Returns `false` if it does not exist.
pub fn remove_from(files: &Files, directory: &Dir, path: &FilePath, name: &str) -> Result<bool, FileError> {
    let mut usage = UsageGuard::lock(files);
    let Some(metadata) = regular_file(directory, path, name)? else { return Ok(false) };
    directory.remove_file(name).map_err(|error| FileError::system(path, error))?;
    usage.file_removed(&metadata);
    usage.release(ENTRY_BYTES);
    Ok(true)
}

/// Returns the metadata of a regular file, or `None` if it does not exist. Anything but a regular file is an error.
pub fn regular_file(directory: &Dir, path: &FilePath, name: &str) -> Result<Option<Metadata>, FileError> {
    match directory.symlink_metadata(name) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata)),
        Ok(metadata) if metadata.is_symlink() => Err(FileError::symlink(path)),
        Ok(metadata) if metadata.is_dir() => Err(FileError::is_directory(path)),
        Ok(_) => Err(FileError::irregular(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::system(path, error)),
    }
}

/// Converts an error of the operating system, which has several errors for a symlink that was not followed.
fn explain(directory: &Dir, path: &FilePath, name: &str, error: io::Error) -> FileError {
    match directory.symlink_metadata(name) {
        Ok(metadata) if metadata.is_symlink() => FileError::symlink(path),
        _ => FileError::system(path, error),
    }
}

/// Returns the options to open a file in this mode.
pub fn options(mode: OpenMode) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(mode.reads()).write(mode.writes()).append(mode.appends()).follow(FollowSymlinks::No);
    options
}
