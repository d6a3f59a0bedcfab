//! Running scripts natively, and comparing.

mod native;
mod table;

pub use native::run_native;
pub use table::{Row, Table, median};
