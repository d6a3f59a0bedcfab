//! What a script is told when a call on files does not succeed.

use super::path::FilePath;
use std::io::{self, ErrorKind};

/// Why a call on files did not succeed. The text is for the script: it holds the name that the script used, and nothing of the
/// host's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The path, or the way it is used, breaks a rule.
    #[error("{0}")]
    Invalid(&'static str),
    /// What the call is about does not fit the file: a text that is not in it, a line behind its end, a pattern that means nothing.
    #[error("{0}")]
    Argument(String),
    /// A limit of the run would be passed: no file was opened, made or removed, and no byte of the call written.
    #[error("{0}")]
    Limit(String),
    /// It took longer than the caller allows, or nobody waits for it any more.
    #[error("it took too long, or is not wanted any more")]
    Unwanted,
    /// A fault of the host's; details are in its log.
    #[error("the operation failed; the cause is in the host's log")]
    Failed,
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
    pub(super) fn system(path: &FilePath, error: &io::Error) -> Self {
        Self::numbered(path, number(error))
    }

    /// What the system said about some folder on the way, whose name does not matter.
    pub(super) fn of_folder(error: &io::Error) -> Self {
        let number = number(error);
        Self::Refused { message: reason(number).into(), number }
    }

    /// A symbolic link, wherever it points.
    pub(super) fn link(path: &FilePath) -> Self {
        Self::refused(path, LOOP, "symbolic links are not followed")
    }

    /// A FIFO, a socket or a device.
    pub(super) fn irregular(path: &FilePath) -> Self {
        Self::refused(path, INVALID, "not a regular file")
    }

    /// A folder where a file is needed.
    pub(super) fn folder(path: &FilePath) -> Self {
        Self::numbered(path, IS_FOLDER)
    }

    /// No such file, as far as this run is concerned.
    pub(super) fn missing(path: &FilePath) -> Self {
        Self::numbered(path, MISSING)
    }

    /// Something is there already.
    pub(super) fn exists(path: &FilePath) -> Self {
        Self::numbered(path, EXISTS)
    }

    /// What is asked of a file does not fit it.
    pub(super) fn argument(path: &FilePath, reason: &str) -> Self {
        Self::Argument(format!("{}: {reason}", path.name()))
    }

    /// A handle that was not opened for this.
    pub(super) fn wrong_mode(path: &FilePath) -> Self {
        Self::numbered(path, BAD_DESCRIPTOR)
    }

    fn numbered(path: &FilePath, number: i32) -> Self {
        Self::refused(path, number, reason(number))
    }

    fn refused(path: &FilePath, number: i32, reason: &str) -> Self {
        Self::Refused { message: format!("{}: {reason}", path.name()), number }
    }
}

const MISSING: i32 = 2;
const IO: i32 = 5;
const BAD_DESCRIPTOR: i32 = 9;
const EXISTS: i32 = 17;
const IS_FOLDER: i32 = 21;
const INVALID: i32 = 22;
const LOOP: i32 = 40;

/// Errors of files by Linux's numbers, in its words.
const REASONS: [(i32, &str); 20] = [
    (1, "Operation not permitted"),
    (MISSING, "No such file or directory"),
    (IO, "Input/output error"),
    (BAD_DESCRIPTOR, "Bad file descriptor"),
    (13, "Permission denied"),
    (16, "Device or resource busy"),
    (EXISTS, "File exists"),
    (18, "Invalid cross-device link"),
    (20, "Not a directory"),
    (IS_FOLDER, "Is a directory"),
    (INVALID, "Invalid argument"),
    (23, "Too many open files in system"),
    (24, "Too many open files"),
    (26, "Text file busy"),
    (27, "File too large"),
    (28, "No space left on device"),
    (30, "Read-only file system"),
    (36, "File name too long"),
    (LOOP, "Too many levels of symbolic links"),
    (122, "Disk quota exceeded"),
];

fn reason(number: i32) -> &'static str {
    REASONS.iter().find(|reason| reason.0 == number).map_or("Input/output error", |reason| reason.1)
}

/// Linux's number for an error of any system; what is not about files is an I/O error.
fn number(error: &io::Error) -> i32 {
    let native = error.raw_os_error().filter(|number| cfg!(target_os = "linux") && REASONS.iter().any(|reason| reason.0 == *number));
    native.unwrap_or_else(|| match error.kind() {
        ErrorKind::NotFound => MISSING,
        ErrorKind::PermissionDenied => 13,
        ErrorKind::ResourceBusy => 16,
        ErrorKind::AlreadyExists => EXISTS,
        ErrorKind::NotADirectory => 20,
        ErrorKind::IsADirectory => IS_FOLDER,
        ErrorKind::InvalidInput => INVALID,
        ErrorKind::FileTooLarge => 27,
        ErrorKind::StorageFull => 28,
        ErrorKind::ReadOnlyFilesystem => 30,
        ErrorKind::InvalidFilename => 36,
        ErrorKind::QuotaExceeded => 122,
        _ => {
            // The script learns nothing from a rare one, the host's owner does.
            tracing::warn!(%error, "a file operation failed");
            IO
        }
    })
}
