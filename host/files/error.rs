//! The error type of file operations.

use super::{error_code::FileErrorCode, path::FilePath};
use std::{
    io::{self, ErrorKind},
    mem::discriminant,
    sync::Arc,
};

/// An error of a file operation.
///
/// The message is shown to scripts. It contains the name that the caller used, and no path of the host.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The path breaks a rule, or the handle can't be used.
    #[error("{0}")]
    Invalid(&'static str),
    /// An argument does not fit the file: text that does not occur in it, a line past its end, or an invalid pattern.
    #[error("{0}")]
    Argument(String),
    /// The operation would exceed a limit or a quota. Nothing was opened, created, written or removed.
    #[error("{0}")]
    Limit(String),
    /// The operation exceeded its time limit, or its caller no longer waits for it.
    #[error("the operation timed out or was cancelled")]
    Interrupted,
    /// An internal error of the host. The log contains the details.
    #[error("the operation failed; the cause is in the host's log")]
    Failed,
    /// The operating system rejected the operation, or would have rejected it.
    #[error("{message}")]
    System {
        /// The name of the file, and the reason.
        message: String,
        /// The Linux error number, on every operating system.
        number: i32,
        /// The error of the operating system, unless the operation was rejected before it was called.
        ///
        /// It is not the [`source`](std::error::Error::source) of this error, because the message already contains its reason.
        os_error: Option<Arc<io::Error>>,
    },
}

impl PartialEq for FileError {
    /// Compares variant, message and error number. The error of the operating system is not compared.
    fn eq(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other) && self.number() == other.number() && self.to_string() == other.to_string()
    }
}

impl Eq for FileError {}

impl FileError {
    /// Returns the code of this error.
    #[must_use]
    pub fn code(&self) -> FileErrorCode {
        match self {
            Self::Invalid(_) => FileErrorCode::InvalidPath,
            Self::Argument(_) => FileErrorCode::InvalidArgument,
            Self::Limit(_) => FileErrorCode::LimitExceeded,
            Self::Interrupted => FileErrorCode::Interrupted,
            Self::Failed => FileErrorCode::Failed,
            Self::System { number, .. } => match *number {
                NOT_FOUND => FileErrorCode::FileNotFound,
                NOT_PERMITTED | ACCESS | READ_ONLY => FileErrorCode::PermissionDenied,
                IS_DIRECTORY => FileErrorCode::IsDirectory,
                NOT_A_DIRECTORY | INVALID | NAME_TOO_LONG | LOOP => FileErrorCode::InvalidPath,
                EXISTS => FileErrorCode::FileExists,
                FILE_TOO_LARGE | NO_SPACE | QUOTA => FileErrorCode::LimitExceeded,
                _ => FileErrorCode::Failed,
            },
        }
    }

    fn number(&self) -> Option<i32> {
        if let Self::System { number, .. } = self { Some(*number) } else { None }
    }

    /// Returns `true` if a component of the path is a symlink or not a directory.
    pub(super) fn is_unreachable(&self) -> bool {
        matches!(self.number(), Some(NOT_A_DIRECTORY | LOOP))
    }

    /// Converts an error of the operating system on a file.
    pub(super) fn system(path: &FilePath, error: io::Error) -> Self {
        let number = linux_number(&error);
        Self::System { message: format!("{}: {}", path.name(), reason(number)), number, os_error: Some(Arc::new(error)) }
    }

    /// Converts an error of the operating system on a directory during a traversal. The message does not name the directory.
    pub(super) fn traversal(error: io::Error) -> Self {
        let number = linux_number(&error);
        Self::System { message: reason(number).into(), number, os_error: Some(Arc::new(error)) }
    }

    /// The file is a symlink, which is never followed.
    pub(super) fn symlink(path: &FilePath) -> Self {
        Self::rejected(path, LOOP, "symbolic links are not followed")
    }

    /// The file is a FIFO, a socket or a device.
    pub(super) fn irregular(path: &FilePath) -> Self {
        Self::rejected(path, INVALID, "not a regular file")
    }

    /// The path contains a name that other programs execute or trust.
    pub(super) fn protected(path: &FilePath, name: &str) -> Self {
        let reason = format!("cannot be changed, because other programs execute or trust '{name}'{PROTECTION_SWITCH}");
        Self::rejected(path, ACCESS, &reason)
    }

    /// The path contains a name of a file or directory with credentials.
    pub(super) fn credentials(path: &FilePath, name: &str) -> Self {
        let reason = format!("cannot be read or changed, because '{name}' usually contains credentials{PROTECTION_SWITCH}");
        Self::rejected(path, ACCESS, &reason)
    }

    /// The operation needs a file, and the path names a directory.
    pub(super) fn is_directory(path: &FilePath) -> Self {
        Self::numbered(path, IS_DIRECTORY)
    }

    /// A replacement of the file could not have the same owner or group.
    pub(super) fn owner_not_kept(path: &FilePath) -> Self {
        Self::rejected(
            path,
            NOT_PERMITTED,
            "the file belongs to another user or group, which a replacement can't keep; append to it or write it in a script",
        )
    }

    /// The file does not exist.
    pub(super) fn not_found(path: &FilePath) -> Self {
        Self::numbered(path, NOT_FOUND)
    }

    /// The file exists already.
    pub(super) fn exists(path: &FilePath) -> Self {
        Self::numbered(path, EXISTS)
    }

    /// The argument does not fit the file.
    pub(super) fn argument(path: &FilePath, reason: &str) -> Self {
        Self::Argument(format!("{}: {reason}", path.name()))
    }

    /// The handle was not opened for this operation.
    pub(super) fn wrong_mode(path: &FilePath) -> Self {
        Self::numbered(path, BAD_DESCRIPTOR)
    }

    fn numbered(path: &FilePath, number: i32) -> Self {
        Self::rejected(path, number, reason(number))
    }

    fn rejected(path: &FilePath, number: i32, reason: &str) -> Self {
        Self::System { message: format!("{}: {reason}", path.name()), number, os_error: None }
    }
}

/// The end of a message about a protected name, for a model whose user expected the access.
const PROTECTION_SWITCH: &str = "; the operator can turn this protection off";

const NOT_PERMITTED: i32 = 1;
const NOT_FOUND: i32 = 2;
const IO: i32 = 5;
const BAD_DESCRIPTOR: i32 = 9;
const NO_MEMORY: i32 = 12;
const ACCESS: i32 = 13;
const EXISTS: i32 = 17;
const NOT_A_DIRECTORY: i32 = 20;
const IS_DIRECTORY: i32 = 21;
const INVALID: i32 = 22;
const FILE_TOO_LARGE: i32 = 27;
const NO_SPACE: i32 = 28;
const READ_ONLY: i32 = 30;
const NAME_TOO_LONG: i32 = 36;
const LOOP: i32 = 40;
const QUOTA: i32 = 122;

/// File errors by their Linux number, with the messages of Linux.
const REASONS: [(i32, &str); 22] = [
    (NOT_PERMITTED, "Operation not permitted"),
    (NOT_FOUND, "No such file or directory"),
    (IO, "Input/output error"),
    (BAD_DESCRIPTOR, "Bad file descriptor"),
    (NO_MEMORY, "Cannot allocate memory"),
    (ACCESS, "Permission denied"),
    (16, "Device or resource busy"),
    (EXISTS, "File exists"),
    (18, "Invalid cross-device link"),
    (NOT_A_DIRECTORY, "Not a directory"),
    (IS_DIRECTORY, "Is a directory"),
    (INVALID, "Invalid argument"),
    (23, "Too many open files in system"),
    (24, "Too many open files"),
    (26, "Text file busy"),
    (FILE_TOO_LARGE, "File too large"),
    (NO_SPACE, "No space left on device"),
    (READ_ONLY, "Read-only file system"),
    (NAME_TOO_LONG, "File name too long"),
    (39, "Directory not empty"),
    (LOOP, "Too many levels of symbolic links"),
    (QUOTA, "Disk quota exceeded"),
];

fn reason(number: i32) -> &'static str {
    REASONS.iter().find(|reason| reason.0 == number).map_or("Input/output error", |reason| reason.1)
}

/// Returns the Linux number for an error of any operating system. An error that is not about files becomes an I/O error.
fn linux_number(error: &io::Error) -> i32 {
    let native = error.raw_os_error().filter(|number| cfg!(target_os = "linux") && REASONS.iter().any(|reason| reason.0 == *number));
    native.unwrap_or_else(|| match error.kind() {
        ErrorKind::NotFound => NOT_FOUND,
        ErrorKind::OutOfMemory => NO_MEMORY,
        ErrorKind::PermissionDenied => ACCESS,
        ErrorKind::ResourceBusy => 16,
        ErrorKind::AlreadyExists => EXISTS,
        ErrorKind::NotADirectory => NOT_A_DIRECTORY,
        ErrorKind::IsADirectory => IS_DIRECTORY,
        ErrorKind::InvalidInput => INVALID,
        ErrorKind::FileTooLarge => FILE_TOO_LARGE,
        ErrorKind::StorageFull => NO_SPACE,
        ErrorKind::ReadOnlyFilesystem => READ_ONLY,
        ErrorKind::InvalidFilename => NAME_TOO_LONG,
        ErrorKind::DirectoryNotEmpty => 39,
        ErrorKind::QuotaExceeded => QUOTA,
        _ => {
            // The script sees only a generic I/O error, so the details go to the log.
            tracing::warn!(%error, "file operation failed");
            IO
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{FileError, FilePath};
    use std::{error::Error as _, io};

    #[test]
    fn the_reason_of_a_system_error_is_in_the_message_and_not_repeated_as_a_source() {
        let path = FilePath::parse(b"a/x").unwrap();
        let error = FileError::system(&path, io::Error::from(io::ErrorKind::NotFound));
        assert_eq!(error.to_string(), "a/x: No such file or directory");
        assert!(error.source().is_none());
        let FileError::System { os_error: Some(os_error), number: 2, .. } = error else { panic!("{error:?}") };
        assert_eq!(os_error.kind(), io::ErrorKind::NotFound);
    }
}
