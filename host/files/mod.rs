//! The one file layer: a directory of the host's, and everything that may be done beneath it.
//!
//! [`Files`] is that directory, the io dir, with operations on whole files. A [`FileSession`] is one run's use of it: its handles, its
//! quota, what it touched. All of it is blocking work, for threads that may block.
//!
//! Nothing in here follows a symbolic link, opens what is not a regular file, or puts a path of the host's into a message.

mod disk;
mod error;
mod glob;
mod grep;
mod handle;
mod list;
mod path;
mod pattern;
mod quota;
mod read;
mod reserved;
mod root;
mod search;
mod session;
mod temporary;
mod touched;
mod transfer;
mod tree;
mod walk;
mod walker;
mod window;
mod write;

pub use error::FileError;
pub use glob::{GlobQuery, GlobResult};
pub use grep::{GrepMatch, GrepQuery, GrepResult};
pub(crate) use handle::{Mode, Whence};
pub(crate) use list::MAX_NAMES;
pub use list::{FileInfo, FileKind};
pub(crate) use path::MAX_PATH;
pub use quota::Quota;
pub(crate) use read::MAX_TEXT;
pub use read::{FileContents, TextPage, TruncatedBy};
pub use root::{DirectoryError, Files};
pub(crate) use session::{FileReport, FileSession};
pub use touched::{FileOperation, TouchedFile};
pub use tree::{FileEntry, FilePage};
pub use write::{EditResult, WriteMode, WriteResult};

/// Bytes that are moved at once: the host holds a copy of them meanwhile.
pub(crate) const MAX_BLOCK: usize = 1 << 20;
