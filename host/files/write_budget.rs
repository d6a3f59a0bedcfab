//! The limits on what one run or one file operation writes and creates. The counts only rise.

use super::error::FileError;

/// The default limit on written bytes. It bounds the disk space that a run can use.
const DEFAULT_MAX_BYTES: u64 = 50 << 20;

/// The default limit on created files, and also on created directories. It bounds the inodes that a run can use.
const DEFAULT_MAX_FILES: u64 = 10_000;

/// The limits on what one run or one file operation writes and creates, and what it has used so far.
#[derive(Clone, Debug)]
pub struct WriteBudget {
    max_bytes: u64,
    max_files: u64,
    bytes: u64,
    files: u64,
    directories: u64,
}

impl Default for WriteBudget {
    /// Creates a budget of 50 MiB and 10,000 files.
    fn default() -> Self {
        Self::new(DEFAULT_MAX_BYTES, DEFAULT_MAX_FILES)
    }
}

impl WriteBudget {
    /// Creates an unused budget.
    #[must_use]
    pub fn new(max_bytes: u64, max_files: u64) -> Self {
        Self { max_bytes, max_files, bytes: 0, files: 0, directories: 0 }
    }

    /// Returns the maximum number of bytes that can be written.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Returns the maximum number of files that can be created. The same number of directories can be created.
    #[must_use]
    pub fn max_files(&self) -> u64 {
        self.max_files
    }

    /// Returns the number of bytes counted so far. Overwritten bytes and holes made by seeking count too.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of files created so far.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files
    }

    /// Returns the number of bytes that can still be written.
    pub(super) fn bytes_left(&self) -> u64 {
        self.max_bytes - self.bytes
    }

    /// Counts bytes that are about to be written.
    pub(super) fn write(&mut self, bytes: u64) -> Result<(), FileError> {
        self.check_write(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Returns an error if this many bytes can't be written.
    pub(super) fn check_write(&self, bytes: u64) -> Result<(), FileError> {
        if bytes > self.bytes_left() {
            return Err(FileError::Limit(format!("I/O write limit exceeded ({} bytes)", self.max_bytes)));
        }
        Ok(())
    }

    /// Returns an error if no file can be created.
    pub(super) fn check_file(&self) -> Result<(), FileError> {
        self.check(self.files, 1, "files")
    }

    /// Counts a created file.
    pub(super) fn count_file(&mut self) {
        self.files += 1;
    }

    /// Returns an error if this many directories can't be created.
    pub(super) fn check_directories(&self, more: u64) -> Result<(), FileError> {
        self.check(self.directories, more, "folders")
    }

    /// Counts a created directory.
    pub(super) fn count_directory(&mut self) {
        self.directories += 1;
    }

    fn check(&self, count: u64, more: u64, what: &str) -> Result<(), FileError> {
        let max = self.max_files;
        if count.saturating_add(more) <= max { Ok(()) } else { Err(FileError::Limit(format!("too many {what} created (max {max})"))) }
    }
}
