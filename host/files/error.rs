//! What a script is told when a call on files does not succeed.

use super::path::FilePath;
use std::io::{self, ErrorKind};

/// Why a call on files did not succeed. The text is for the script: it holds the name that the script used, and nothing of the
/// host's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The path, or the way it is used, breaks a rule.
    #[error("{0}")]
    Invalid(&'static str),
    /// A limit of the run would be passed; nothing was done.
    #[error("{0}")]
    Limit(String),
    /// The operating system said no, or would have.
    #[error("{message}")]
    Refused {
        /// The name and the reason.
        message: String,
        /// The error number of Linux, whatever system this is.
        number: i32,
    },
}

impl FileError {
    /// What the system said about a file.
    pub fn system(path: &FilePath, error: &io::Error) -> Self {
        let (number, reason) = reason(error);
        Self::refused(path, number, reason)
    }

    /// A symbolic link, wherever it points.
    pub fn link(path: &FilePath) -> Self {
        Self::refused(path, 40, "symbolic links are not followed")
    }

    /// A FIFO, a socket or a device.
    pub fn irregular(path: &FilePath) -> Self {
        Self::refused(path, 22, "not a regular file")
    }

    /// A folder where a file is needed.
    pub fn folder(path: &FilePath) -> Self {
        Self::system(path, &ErrorKind::IsADirectory.into())
    }

    /// No such file, as far as this run is concerned.
    pub fn missing(path: &FilePath) -> Self {
        Self::system(path, &ErrorKind::NotFound.into())
    }

    /// A handle that was not opened for this.
    pub fn wrong_mode(path: &FilePath) -> Self {
        Self::refused(path, 9, "Bad file descriptor")
    }

    fn refused(path: &FilePath, number: i32, reason: &str) -> Self {
        Self::Refused { message: format!("{}: {reason}", path.name()), number }
    }
}

/// The number and the words of Linux for an error of any system.
fn reason(error: &io::Error) -> (i32, &'static str) {
    match error.kind() {
        ErrorKind::NotFound => (2, "No such file or directory"),
        ErrorKind::ResourceBusy | ErrorKind::ExecutableFileBusy => (16, "Device or resource busy"),
        ErrorKind::PermissionDenied => (13, "Permission denied"),
        ErrorKind::AlreadyExists => (17, "File exists"),
        ErrorKind::NotADirectory => (20, "Not a directory"),
        ErrorKind::IsADirectory => (21, "Is a directory"),
        ErrorKind::InvalidInput => (22, "Invalid argument"),
        ErrorKind::FileTooLarge => (27, "File too large"),
        ErrorKind::StorageFull => (28, "No space left on device"),
        ErrorKind::ReadOnlyFilesystem => (30, "Read-only file system"),
        ErrorKind::InvalidFilename => (36, "File name too long"),
        ErrorKind::QuotaExceeded => (122, "Disk quota exceeded"),
        _ => {
            // The script learns nothing from a rare one, the host's owner does.
            tracing::warn!(%error, "a file operation failed");
            (5, "Input/output error")
        }
    }
}
