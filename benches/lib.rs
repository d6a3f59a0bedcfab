//! Running scripts natively, and comparing.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the native side works on files directly")]

mod native;
mod native_io;
mod protocol;
mod table;

pub use native::run_native;
pub use protocol::StdioServer;
pub use table::{Row, Table, median};
