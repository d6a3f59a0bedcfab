//! The io directory and all operations on the files in it.
//!
//! [`Files`] is a directory with operations on whole files. A run uses the directory through a session, which has its open files, its write
//! budget and the files that it touched. All operations block, so they must run on a thread that may block.
//!
//! This module never follows a symlink, never opens anything but regular files and directories, and never puts a path of the host
//! into a message.

mod attributes;
mod delete;
mod directory;
mod disk_quota;
mod disk_usage;
mod edit;
mod error;
mod error_code;
mod file_pages;
mod glob;
mod glob_pattern;
mod grep;
mod handle;
mod line_search;
mod list;
mod open_mode;
mod path;
mod protected_names;
mod read;
mod recount;
mod reserved_names;
mod resolve;
mod search_root;
mod session;
mod temporary_files;
mod text_page;
mod touched_files;
mod transfer;
mod traverse;
mod write;
mod write_budget;

pub use delete::DeleteResult;
pub use directory::{DirectoryError, Files};
pub use edit::EditResult;
pub use error::FileError;
pub use error_code::FileErrorCode;
pub use file_pages::{FileEntry, FilePage};
pub use glob::{GlobQuery, GlobResult};
pub use grep::{ContextLine, GrepMatch, GrepQuery, GrepResult};
pub(crate) use handle::Whence;
pub(crate) use list::MAX_NAMES;
pub use list::{FileInfo, FileKind};
pub(crate) use open_mode::OpenMode;
pub(crate) use path::MAX_PATH;
#[cfg(feature = "fuzzing")]
pub(crate) use path::{FilePath, PathBase};
pub use read::FileContents;
#[cfg(test)]
pub(crate) use recount::uncounted;
pub(crate) use session::{FileReport, FileSession};
pub use text_page::{TextPage, TruncatedBy};
pub use touched_files::{FileOperation, TouchedFile};
pub use write::{WriteMode, WriteResult};
pub use write_budget::WriteBudget;

/// The maximum size of a file that is read or edited as a whole. The host holds its contents in memory, and those of an edited file
/// twice. The limits that a host sets on written bytes may be larger than its memory.
const MAX_WHOLE_FILE: u64 = 256 << 20;

/// The maximum number of bytes that are moved at once. The host holds a copy of them.
pub(crate) const MAX_BLOCK: usize = 1 << 20;
