//! The one file layer: a directory of the host's, and everything that may be done beneath it.
//!
//! [`Files`] is that directory, the io dir. A [`Session`] is one run's use of it: its handles, its quotas, what it touched. All
//! of it is blocking work, for threads that may block.
//!
//! Nothing in here follows a symbolic link, opens what is not a regular file, or puts a path of the host's into a message.

mod disk;
mod error;
mod handle;
mod path;
mod quota;
mod root;
mod session;
mod touched;
mod tree;
mod walk;

pub use error::FileError;
pub use handle::{Mode, Position, Whence};
pub use path::MAX_PATH;
pub use quota::Quota;
pub use root::{Files, FilesError};
pub use session::{Account, MAX_NAMES, Session};
pub use touched::{FileOperation, FileTouched};
pub use tree::{FileEntry, FilePage};

/// Bytes that are moved at once: the host holds a copy of them meanwhile.
pub const MAX_BLOCK: usize = 1 << 20;
