//! An open file of a session.

use super::{
    directory::Files,
    disk_quota::{FileId, UsageGuard},
    error::FileError,
    open_mode::OpenMode,
    path::FilePath,
    touched_files::TouchedFiles,
    write_budget::WriteBudget,
};
use crate::allocation;
use cap_std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use wasmtime::component::{ComponentType, Lift, Lower};

/// The point that a seek offset is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "some variants are only constructed by lifting them from the guest")]
pub enum Whence {
    /// The start of the file.
    #[component(name = "start")]
    Start,
    /// The current position.
    #[component(name = "current")]
    Current,
    /// The end of the file.
    #[component(name = "end")]
    End,
}

/// A position in a file, and the number of bytes that the session may still write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ComponentType, Lower)]
#[component(record)]
pub struct Position {
    /// The position in bytes from the start of the file.
    pub offset: u64,
    /// The number of bytes that the session may still write.
    pub allowance: u64,
}

/// The cost of a write.
#[derive(Clone, Copy, Debug)]
pub struct WriteCost {
    /// The bytes that count against the write budget: the written bytes, and those of a hole before them.
    pub counted: u64,
    /// The bytes by which the file grows on disk.
    pub growth: u64,
    /// The size of the file before the write.
    size: u64,
}

/// An open file of a session.
pub struct Handle {
    file: File,
    path: FilePath,
    mode: OpenMode,
    has_pending: bool,
    /// The identity under which the disk quota counts the open file.
    counted: Option<FileId>,
}

impl Handle {
    pub fn new(file: File, path: FilePath, mode: OpenMode) -> Result<Self, FileError> {
        let mut handle = Self { file, path, mode, has_pending: false, counted: None };
        // As in C: the position of `a` is at the end from the start, that of `a+` only after the first write.
        if mode == OpenMode::Append {
            handle.seek(Whence::End, 0)?;
        }
        Ok(handle)
    }

    /// Records that the file at a path has another path now.
    pub fn renamed(&mut self, old: &FilePath, new: &FilePath) {
        if self.path == *old {
            self.path = new.clone();
        }
    }

    /// Counts the file as open, if there is a disk quota.
    pub fn count(&mut self, files: &Files) -> Result<(), FileError> {
        if files.disk_quota().is_some() {
            // The guard is locked first, so that the file can't be removed before it is counted.
            let mut usage = UsageGuard::lock(files);
            let metadata = self.file.metadata().map_err(|error| self.system(error))?;
            usage.file_opened(&metadata);
            self.counted = Some(FileId::of(&metadata));
        }
        Ok(())
    }

    /// Closes the file. This releases the disk space of a file that was removed while open.
    pub fn close(self, files: &Files) {
        if let Some(file) = self.counted {
            // The guard is held across both steps, so that no new file gets the same inode before the close is recorded.
            let mut usage = UsageGuard::lock(files);
            drop(self.file);
            usage.file_closed(file);
        }
    }

    pub fn path(&self) -> &FilePath {
        &self.path
    }

    pub fn appends(&self) -> bool {
        self.mode.appends()
    }

    /// Returns `true` if the guest has bytes for this file in a buffer.
    pub fn has_pending(&self) -> bool {
        self.has_pending
    }

    /// Records whether the guest has bytes for this file in a buffer.
    pub fn set_pending(&mut self, has_pending: bool) -> Result<(), FileError> {
        self.check_writable()?;
        self.has_pending = has_pending;
        Ok(())
    }

    /// Reads at most `max_bytes` bytes from the current position.
    pub fn read(&mut self, max_bytes: usize) -> Result<Vec<u8>, FileError> {
        // The buffer is no larger than the rest of the file.
        let rest = usize::try_from(self.remaining()?).unwrap_or(usize::MAX);
        let mut bytes = allocation::zeros(max_bytes.min(rest)).map_err(|error| self.system(error))?;
        let mut size = 0;
        while size < bytes.len() {
            match self.file.read(&mut bytes[size..]) {
                Ok(0) => break,
                Ok(count) => size += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.system(error)),
            }
        }
        bytes.truncate(size);
        Ok(bytes)
    }

    /// Returns the number of bytes from the current position to the end of the file.
    pub fn remaining(&mut self) -> Result<u64, FileError> {
        if !self.mode.reads() {
            return Err(FileError::wrong_mode(&self.path));
        }
        let (position, size) = self.position_and_size()?;
        Ok(size.saturating_sub(position))
    }

    /// Returns the cost of a write of this many bytes at the current position.
    pub fn cost(&mut self, bytes: u64) -> Result<WriteCost, FileError> {
        self.check_writable()?;
        let (position, size) = self.position_and_size()?;
        let start = if self.mode.appends() { size } else { position };
        let end = start.saturating_add(bytes);
        check_file_size(end).map_err(|error| self.system(error))?;
        Ok(WriteCost { counted: start.saturating_sub(size).saturating_add(bytes), growth: end.saturating_sub(size), size })
    }

    /// Counts the bytes, then writes all of them.
    pub fn write(&mut self, bytes: &[u8], budget: &mut WriteBudget, touched: &mut TouchedFiles, files: &Files) -> Result<(), FileError> {
        let _shared = files.truncate_lock().read();
        self.write_locked(bytes, budget, touched, files)
    }

    /// Does the same as [`write`](Self::write), for a caller that holds [`Files::truncate_lock`].
    pub fn write_locked(
        &mut self,
        bytes: &[u8],
        budget: &mut WriteBudget,
        touched: &mut TouchedFiles,
        files: &Files,
    ) -> Result<(), FileError> {
        let mut usage = UsageGuard::lock(files);
        let cost = self.cost(bytes.len() as u64)?;
        budget.check_write(cost.counted)?;
        usage.reserve(cost.growth)?;
        self.record_resize(&mut usage, cost.growth, 0);
        budget.write(cost.counted)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let error = match self.file.write(rest) {
                Ok(0) => ErrorKind::WriteZero.into(),
                Ok(count) => {
                    rest = &rest[count..];
                    if self.mode.appends() {
                        touched.append(&self.path)
                    } else {
                        touched.change(&self.path)
                    }
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            let grown = self.file.metadata().map_or(cost.growth, |metadata| metadata.len().saturating_sub(cost.size));
            let unused = cost.growth.saturating_sub(grown);
            usage.release(unused);
            self.record_resize(&mut usage, 0, unused);
            return Err(self.system(error));
        }
        Ok(())
    }

    fn record_resize(&self, usage: &mut UsageGuard<'_>, grown: u64, shrunk: u64) {
        if let Some(file) = self.counted {
            usage.file_resized(file, grown, shrunk);
        }
    }

    /// Moves the position, and returns the new one.
    pub fn seek(&mut self, whence: Whence, offset: i64) -> Result<u64, FileError> {
        let target = match whence {
            Whence::Start => SeekFrom::Start(u64::try_from(offset).map_err(|_| self.system(ErrorKind::InvalidInput.into()))?),
            Whence::Current => SeekFrom::Current(offset),
            Whence::End => SeekFrom::End(offset),
        };
        self.file.seek(target).map_err(|error| self.system(error))
    }

    fn check_writable(&self) -> Result<(), FileError> {
        if self.mode.writes() { Ok(()) } else { Err(FileError::wrong_mode(&self.path)) }
    }

    fn system(&self, error: io::Error) -> FileError {
        FileError::system(&self.path, error)
    }

    fn position_and_size(&mut self) -> Result<(u64, u64), FileError> {
        let position = self.file.stream_position().map_err(|error| self.system(error))?;
        let size = self.file.metadata().map_err(|error| self.system(error))?.len();
        Ok((position, size))
    }
}

/// Returns an error if a file of this size exceeds the file size limit of the process.
///
/// A write past that limit raises a signal that ends the process, so the limit is checked before each write.
#[cfg(unix)]
pub fn check_file_size(size: u64) -> io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| size > limit) { Err(ErrorKind::FileTooLarge.into()) } else { Ok(()) }
}

#[cfg(not(unix))]
pub fn check_file_size(_size: u64) -> io::Result<()> {
    Ok(())
}
