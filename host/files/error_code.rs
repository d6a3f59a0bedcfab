//! The codes of file errors.

/// The code of a [`FileError`](super::FileError), for callers that react to an error instead of showing its message.
///
/// The first four are the codes of the backends of agent frameworks, with the same [names](Self::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileErrorCode {
    /// The file or the directory does not exist.
    FileNotFound,
    /// The operating system denies the access, or the path contains a [protected name](super::Files::with_protected_names).
    PermissionDenied,
    /// The operation needs a file, and the path names a directory.
    IsDirectory,
    /// The path breaks a rule, leads through something that is not a directory, or names a symlink or a special file.
    InvalidPath,
    /// The file exists already.
    FileExists,
    /// An argument does not fit the file: text that does not occur in it, a line past its end, or an invalid pattern.
    InvalidArgument,
    /// A limit, a quota or the disk does not allow the operation.
    LimitExceeded,
    /// The operation exceeded its time limit, or its caller no longer waits for it.
    Interrupted,
    /// Any other error.
    Failed,
}

impl FileErrorCode {
    /// Returns the name of the code, such as `file_not_found`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FileNotFound => "file_not_found",
            Self::PermissionDenied => "permission_denied",
            Self::IsDirectory => "is_directory",
            Self::InvalidPath => "invalid_path",
            Self::FileExists => "file_exists",
            Self::InvalidArgument => "invalid_argument",
            Self::LimitExceeded => "limit_exceeded",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}
