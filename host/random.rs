//! Numbers that nobody can guess.

use std::hash::{BuildHasher as _, RandomState};

/// One from the same source as the keys of the standard library's hash maps.
pub fn random() -> u64 {
    RandomState::new().hash_one(0)
}
