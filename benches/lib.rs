//! The parts of the benchmark: native Luau, servers, and the table of results.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the native side accesses files directly")]
#![expect(clippy::expect_used, reason = "the key server is shared with the tests, which fail by panicking")]

mod apis;
mod attacks;
mod check;
mod http;
#[path = "../tests/support/key_server.rs"]
mod key_server;
#[path = "../tests/support/kill_on_drop.rs"]
mod kill_on_drop;
mod native;
mod native_io;
mod programs;
mod protocol;
mod search;
mod specification;
mod table;

pub use apis::{API_ROWS, api_calls};
pub use attacks::{ATTACK_ROWS, attack, run_attack};
pub use check::{CHECK_ROWS, check};
pub use http::{HttpClient, HttpServer, load, resident_kib};
pub use key_server::KeyServer;
pub use native::run_native;
pub use programs::{PROGRAM_ROWS, programs};
pub use protocol::StdioServer;
pub use search::{GREP_ROWS, grep};
pub use table::{Row, Table, median};
