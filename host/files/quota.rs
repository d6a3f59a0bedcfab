//! What a run, or a call, may still write and make. The counts only rise.

use super::error::FileError;

/// Bytes written by a run: all that it can put on the host's disk.
const DEFAULT_BYTES: u64 = 50 << 20;

/// Files that a run makes, and folders that it makes: inodes of the host's disk.
const DEFAULT_FILES: u64 = 10_000;

/// What may be written and made, and what was used of it: by a run, or by a call on files.
#[derive(Clone, Debug)]
pub struct Quota {
    max_bytes: u64,
    max_files: u64,
    bytes: u64,
    files: u64,
    folders: u64,
}

impl Default for Quota {
    /// 50 MiB, 10,000 files.
    fn default() -> Self {
        Self::new(DEFAULT_BYTES, DEFAULT_FILES)
    }
}

impl Quota {
    /// A quota that nothing was used of.
    #[must_use]
    pub fn new(max_bytes: u64, max_files: u64) -> Self {
        Self { max_bytes, max_files, bytes: 0, files: 0, folders: 0 }
    }

    /// Bytes that may be written in all.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Files that may be made in all, and as many folders.
    #[must_use]
    pub fn max_files(&self) -> u64 {
        self.max_files
    }

    /// Bytes that may still be written.
    pub(super) fn allowance(&self) -> u64 {
        self.max_bytes - self.bytes
    }

    /// Bytes that were counted: written, written again, or skipped over.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Files that were made.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files
    }

    /// Counts bytes that are about to be written.
    pub(super) fn write(&mut self, bytes: u64) -> Result<(), FileError> {
        self.check_write(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Whether so many bytes may still be written.
    pub(super) fn check_write(&self, bytes: u64) -> Result<(), FileError> {
        if bytes > self.allowance() {
            return Err(FileError::Limit(format!("I/O write limit exceeded ({} bytes)", self.max_bytes)));
        }
        Ok(())
    }

    /// Whether a file may be made.
    pub(super) fn check_files(&self) -> Result<(), FileError> {
        self.check(self.files, 1, "files")
    }

    /// Counts a file that was made.
    pub(super) fn made_file(&mut self) {
        self.files += 1;
    }

    /// Whether so many folders may be made: there may be as many as files.
    pub(super) fn check_folders(&self, more: u64) -> Result<(), FileError> {
        self.check(self.folders, more, "folders")
    }

    /// Counts a folder that was made.
    pub(super) fn made_folder(&mut self) {
        self.folders += 1;
    }

    fn check(&self, count: u64, more: u64, what: &str) -> Result<(), FileError> {
        let max = self.max_files;
        if count.saturating_add(more) <= max { Ok(()) } else { Err(FileError::Limit(format!("too many {what} created (max {max})"))) }
    }
}
