//! Deletes a file, or a directory with everything in it.

use super::{
    directory::Files,
    disk_quota::{ENTRY_BYTES, UsageGuard},
    error::FileError,
    path::FilePath,
    protected_names::Access,
    resolve,
};
use cap_std::fs::{Dir, DirEntry, Metadata};
use std::io::ErrorKind;

/// The number of attempts to delete a directory in which others create files at the same time.
const ATTEMPTS: usize = 8;

/// The result of a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteResult {
    /// The path, relative to the io directory.
    pub name: String,
    /// The number of files that were deleted.
    pub files: u64,
    /// The number of directories that were deleted.
    pub directories: u64,
}

impl Files {
    /// Deletes a file, or a directory with everything in it.
    ///
    /// Nothing is deleted if the directory contains a symlink, a FIFO, a socket, a device, a protected or reserved name, or a name that
    /// is not UTF-8. The deletion of a directory is not atomic: after another error, a part of it may be deleted.
    ///
    /// Blocks. `should_continue` is called repeatedly; the deletion stops when it returns `false`.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid, nothing exists there, the path is the io directory, the directory contains something that
    /// can't be deleted, the operating system rejects the operation, or the deletion was stopped.
    pub fn delete(&self, path: &str, should_continue: &dyn Fn() -> bool) -> Result<DeleteResult, FileError> {
        let path = self.resolve(path.as_bytes(), Access::Write)?;
        if path.components().next().is_none() {
            return Err(FileError::Invalid("the io directory can't be deleted"));
        }
        let (directories, name) = path.split_any();
        let parent = resolve::existing_directory(self, &path, directories)?.ok_or_else(|| FileError::not_found(&path))?;
        let metadata = deletable(&parent, &path, name)?.ok_or_else(|| FileError::not_found(&path))?;
        let result = DeleteResult { name: path.name().to_owned(), files: 0, directories: 0 };
        let mut deletion = Deletion { files: self, should_continue, result };
        if metadata.is_dir() {
            if let Some(directory) = resolve::open_child(&parent, &path, name)? {
                deletion.visit(&directory, &path, Action::Check)?;
            }
            deletion.delete_directory(&parent, &path, name)?;
        } else if path.is_directory() {
            return Err(FileError::system(&path, ErrorKind::NotADirectory.into()));
        } else {
            deletion.delete_file(&parent, &path, name)?;
        }
        Ok(deletion.result)
    }
}

/// The treatment of the entries of a directory.
#[derive(Clone, Copy)]
enum Action {
    /// Returns an error if an entry can't be deleted.
    Check,
    Delete,
}

struct Deletion<'a> {
    files: &'a Files,
    should_continue: &'a dyn Fn() -> bool,
    result: DeleteResult,
}

impl Deletion<'_> {
    /// Checks or deletes everything in a directory. The number of components in a path bounds the recursion.
    fn visit(&mut self, directory: &Dir, path: &FilePath, action: Action) -> Result<(), FileError> {
        let system = |error| FileError::system(path, error);
        for entry in directory.entries().map_err(system)? {
            if !(self.should_continue)() {
                return Err(FileError::Interrupted);
            }
            let (name, below) = self.name(&entry.map_err(system)?, path)?;
            let Some(metadata) = deletable(directory, &below, &name)? else { continue };
            match action {
                Action::Check if metadata.is_dir() => {
                    if let Some(next) = resolve::open_child(directory, &below, &name)? {
                        self.visit(&next, &below, action)?;
                    }
                }
                Action::Check => {}
                Action::Delete if metadata.is_dir() => self.delete_directory(directory, &below, &name)?,
                Action::Delete => self.delete_file(directory, &below, &name)?,
            }
        }
        Ok(())
    }

    /// Returns the name of an entry and its path, if the rules for paths and names allow its deletion.
    fn name(&self, entry: &DirEntry, directory: &FilePath) -> Result<(String, FilePath), FileError> {
        let name = entry.file_name().into_string().map_err(|_| FileError::argument(directory, "it contains a name that is not UTF-8"))?;
        let path = FilePath::parse([directory.name(), "/", &name].concat().as_bytes())?;
        self.files.names().check(&path, Access::Write)?;
        Ok((name, path))
    }

    fn delete_file(&mut self, directory: &Dir, path: &FilePath, name: &str) -> Result<(), FileError> {
        self.result.files += u64::from(resolve::remove_from(self.files, directory, path, name)?);
        Ok(())
    }

    fn delete_directory(&mut self, parent: &Dir, path: &FilePath, name: &str) -> Result<(), FileError> {
        for _ in 0..ATTEMPTS {
            let Some(directory) = resolve::open_child(parent, path, name)? else { return Ok(()) };
            self.visit(&directory, path, Action::Delete)?;
            drop(directory);
            let mut usage = UsageGuard::lock(self.files);
            match parent.remove_dir(name) {
                Ok(()) => {
                    usage.release(ENTRY_BYTES);
                    self.result.directories += 1;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(FileError::system(path, error)),
            }
        }
        Err(FileError::system(path, ErrorKind::DirectoryNotEmpty.into()))
    }
}

/// Returns the metadata of a regular file or a directory, or `None` if it does not exist. Anything else is an error.
fn deletable(directory: &Dir, path: &FilePath, name: &str) -> Result<Option<Metadata>, FileError> {
    match directory.symlink_metadata(name) {
        Ok(metadata) if metadata.is_dir() => Ok(Some(metadata)),
        _ => resolve::regular_file(directory, path, name),
    }
}
