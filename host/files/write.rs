//! Writes and removes whole files.

use super::{
    attributes::{self, OwnerNotKept},
    directory::Files,
    disk_quota::{ENTRY_BYTES, UsageGuard},
    error::FileError,
    handle::{self, Handle},
    open_mode::OpenMode,
    path::FilePath,
    protected_names::Access,
    resolve,
    temporary_files::StagedFile,
    touched_files::TouchedFiles,
    write_budget::WriteBudget,
};
use cap_std::fs::File;
use std::io::{self, ErrorKind};

/// The treatment of an existing file by a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WriteMode {
    /// Returns an error if the file exists.
    #[default]
    Create,
    /// Replaces an existing file atomically. Readers see either the old or the new contents.
    Overwrite,
    /// Appends to an existing file.
    Append,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteResult {
    /// The path, relative to the io directory.
    pub name: String,
    /// The number of bytes written.
    pub bytes: u64,
}

impl Files {
    /// Writes a file within a write budget. Missing parent directories are created. Blocks.
    ///
    /// A replaced file keeps its owner, group, mode and extended attributes, except for the setuid and setgid bits and file capabilities.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid, a limit would be exceeded, the file exists and the mode is [`WriteMode::Create`], its
    /// owner or group can't be kept, or the operating system rejects the operation.
    pub fn write(&self, path: &str, contents: &[u8], mode: WriteMode, budget: &mut WriteBudget) -> Result<WriteResult, FileError> {
        let path = self.resolve(path.as_bytes(), Access::Write)?;
        match mode {
            WriteMode::Append => {
                let _exclusive = self.truncate_lock().write();
                self.append(&path, contents, budget)?;
            }
            WriteMode::Create => {
                let (directories, name) = path.split()?;
                if let Some(directory) = resolve::existing_directory(self, &path, directories)?
                    && resolve::regular_file(&directory, &path, name)?.is_some()
                {
                    return Err(FileError::exists(&path));
                }
                install(self, &path, contents, Target::MustNotExist, budget)?;
            }
            WriteMode::Overwrite => {
                let _exclusive = self.truncate_lock().write();
                // Opening the file checks that it may be written. A rename would replace a read-only file too.
                let file = resolve::open_existing(self, &path, OpenMode::ReadUpdate)?;
                install(self, &path, contents, file.map_or(Target::Missing, Target::Existing), budget)?;
            }
        }
        Ok(WriteResult { name: path.name().to_owned(), bytes: contents.len() as u64 })
    }

    fn append(&self, path: &FilePath, contents: &[u8], budget: &mut WriteBudget) -> Result<(), FileError> {
        let size = contents.len() as u64;
        budget.check_write(size)?;
        let file = match resolve::open_existing(self, path, OpenMode::Append)? {
            Some(file) => {
                attributes::clear_privileges(&file).map_err(|error| FileError::system(path, error))?;
                file
            }
            None => {
                // The file is not created if its contents would exceed the quota.
                UsageGuard::lock(self).check(size.saturating_add(ENTRY_BYTES))?;
                resolve::open(self, path, OpenMode::Append, budget)?.file
            }
        };
        let mut handle = Handle::new(file, path.clone(), OpenMode::Append)?;
        handle.count(self)?;
        let written = handle.write_locked(contents, budget, &mut TouchedFiles::default(), self);
        handle.close(self);
        written
    }

    /// Removes a file, and returns its path relative to the io directory. Blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid, the file does not exist, or the operating system rejects the operation.
    pub fn remove(&self, path: &str) -> Result<String, FileError> {
        let path = self.resolve(path.as_bytes(), Access::Write)?;
        resolve::remove(self, &path)?;
        Ok(path.name().to_owned())
    }
}

/// The state of the target of a write, as far as it is known before the write.
pub enum Target {
    /// The file does not exist. It is an error if it exists by the time of the write.
    MustNotExist,
    /// The file did not exist when it was checked.
    Missing,
    /// The file existed when it was checked.
    Existing(File),
}

/// Writes a whole file to a temporary file, and renames that to its final name.
pub fn install(files: &Files, path: &FilePath, contents: &[u8], target: Target, budget: &mut WriteBudget) -> Result<(), FileError> {
    let (directories, name) = path.split()?;
    let size = contents.len() as u64;
    handle::check_file_size(size).map_err(|error| FileError::system(path, error))?;
    budget.check_write(size)?;
    let existing = if let Target::Existing(file) = &target { Some(file) } else { None };
    // The old and the new contents exist at the same time for a moment, so the whole size is reserved.
    let reserved = if existing.is_some() { size } else { size.saturating_add(ENTRY_BYTES) };
    if existing.is_none() {
        budget.check_file()?;
    }
    let mut usage = UsageGuard::lock(files);
    let directory = resolve::create_directories(files, path, directories, reserved, budget, &mut usage)?;
    usage.reserve(reserved)?;
    budget.write(size)?;
    let root = files.create_root(path)?;
    let staged = StagedFile::write(&root, contents, |file| match existing {
        Some(existing) => attributes::copy(existing, file),
        None => attributes::inherit_group(&directory, file),
    });
    // The file may have been created, replaced or removed since the first check, so its metadata is read again.
    let installed = match (staged, resolve::regular_file(&directory, path, name)) {
        (Err(error), _) => Err(explain(path, error)),
        // Without its metadata, the disk space of the replaced file could not be released.
        (Ok(_), Err(error)) => Err(error),
        (Ok(staged), Ok(replaced)) => match target {
            Target::MustNotExist => staged.create(&directory, name),
            Target::Missing | Target::Existing(_) => staged.replace(&directory, name),
        }
        .map(|()| replaced)
        .map_err(|error| explain(path, error)),
    };
    let replaced = installed.inspect_err(|_| usage.release(reserved))?;
    match (replaced, existing) {
        (Some(metadata), Some(_)) => usage.file_removed(&metadata),
        (Some(metadata), None) => {
            usage.file_removed(&metadata);
            usage.release(ENTRY_BYTES);
        }
        // The old file was removed in the meantime, which released its entry.
        (None, Some(_)) => usage.add(ENTRY_BYTES),
        (None, None) => budget.count_file(),
    }
    Ok(())
}

/// Converts an error of the operating system when a file was written or installed.
fn explain(path: &FilePath, error: io::Error) -> FileError {
    if error.kind() == ErrorKind::AlreadyExists {
        FileError::exists(path)
    } else if error.get_ref().is_some_and(|source| source.is::<OwnerNotKept>()) {
        FileError::owner_not_kept(path)
    } else {
        FileError::system(path, error)
    }
}
