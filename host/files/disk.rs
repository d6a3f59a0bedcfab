//! What all files of a directory may take on disk together: counted once, then kept.

use super::{error::FileError, root::Files, tree};
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// What a file or a folder counts beside its contents: the inodes and names that a disk has for empty ones.
pub const ENTRY: u64 = 1024;

/// Between two counts from scratch, which a full directory asks for: others may have removed files.
const RECOUNT: Duration = Duration::from_secs(60);

/// A limit on the whole directory, and what is used of it.
#[derive(Debug)]
pub struct DiskLimit {
    max: u64,
    used: AtomicU64,
    /// Held while something is made, written or removed, so that the count is exact; when it was last counted from scratch.
    counted: Mutex<Instant>,
}

impl DiskLimit {
    /// A limit for what is there now and what will come.
    pub fn new(max: u64, used: u64) -> Self {
        Self { max, used: AtomicU64::new(used), counted: Mutex::new(Instant::now()) }
    }

    fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn set(&self, used: u64) {
        self.used.store(used, Ordering::Relaxed);
    }
}

/// The right to change what is on disk; without a limit it is everybody's at once.
pub struct Ledger<'a> {
    files: &'a Files,
    held: Option<(&'a DiskLimit, MutexGuard<'a, Instant>)>,
}

impl<'a> Ledger<'a> {
    /// Waits until nobody else changes the directory, if it has a limit.
    pub fn open(files: &'a Files) -> Self {
        let held = files.disk().map(|disk| (disk, disk.counted.lock().unwrap_or_else(PoisonError::into_inner)));
        Self { files, held }
    }

    /// Counts bytes that are about to be taken.
    pub fn take(&mut self, bytes: u64) -> Result<(), FileError> {
        self.check(bytes)?;
        if let Some((disk, _)) = &self.held {
            disk.set(disk.used() + bytes);
        }
        Ok(())
    }

    /// Whether so many bytes may be taken.
    pub fn check(&mut self, bytes: u64) -> Result<(), FileError> {
        let Some((disk, counted)) = &mut self.held else { return Ok(()) };
        if bytes > disk.max.saturating_sub(disk.used()) && counted.elapsed() > RECOUNT {
            disk.set(tree::size(self.files)?);
            **counted = Instant::now();
        }
        if bytes > disk.max.saturating_sub(disk.used()) {
            return Err(FileError::Limit(format!("disk limit exceeded ({} bytes for all files)", disk.max)));
        }
        Ok(())
    }

    /// Counts bytes that are free again, or were not taken after all.
    pub fn give_back(&mut self, bytes: u64) {
        if let Some((disk, _)) = &self.held {
            disk.set(disk.used().saturating_sub(bytes));
        }
    }
}

impl Files {
    /// Bytes that may still be taken. It never blocks.
    pub(super) fn disk_left(&self) -> u64 {
        self.disk().map_or(u64::MAX, |disk| disk.max.saturating_sub(disk.used()))
    }
}
