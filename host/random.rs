//! Random numbers.

use std::hash::{BuildHasher as _, RandomState};

/// Returns a random number from the operating system, for seeds and for names that must not repeat.
///
/// If the operating system can't supply one, the number comes from the random keys of the standard library's hash maps.
pub fn random() -> u64 {
    getrandom::u64().unwrap_or_else(|_| RandomState::new().hash_one(0))
}
