//! Running scripts natively, and comparing.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the native side works on files directly")]
#![expect(clippy::expect_used, reason = "the key server is the tests', who need more of it")]

mod apis;
mod http;
#[path = "../tests/support/key_server.rs"]
mod key_server;
mod native;
mod native_io;
mod protocol;
mod search;
mod specification;
mod table;

pub use apis::{APIS, calls_of_apis};
pub use http::{HttpClient, HttpServer, load};
pub use key_server::KeyServer;
pub use native::run_native;
pub use protocol::StdioServer;
pub use search::{GREP, grep_beside_ripgrep};
pub use table::{Row, Table, median};
