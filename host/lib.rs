//! x
mod bridge;
pub mod engine;
pub use bridge::{Listener, Progress};
