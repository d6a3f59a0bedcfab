//! A child process that does not outlive its owner. The benchmark shares this file.

use std::{
    ops::{Deref, DerefMut},
    process::Child,
};

/// A child process that is killed on drop, so that a failed test does not leave it running.
pub struct KillOnDrop(pub Child);

impl Deref for KillOnDrop {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for KillOnDrop {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
