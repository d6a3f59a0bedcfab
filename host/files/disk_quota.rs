//! The disk quota of a directory, and the count of what is used of it.
//!
//! The usage is counted once when the quota is set, and then updated by every operation that creates, writes or removes a file.

use super::{directory::Files, disk_usage, error::FileError};
use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Metadata;
use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// The number of bytes that each file and directory counts in addition to its contents. It bounds the number of inodes and names.
pub const ENTRY_BYTES: u64 = 1024;

/// The minimum time between two counts from scratch. A full directory is counted again because other processes may have removed files.
const RECOUNT_INTERVAL: Duration = Duration::from_secs(60);

/// A limit on the disk usage of a whole directory, and the current usage.
#[derive(Debug)]
pub struct DiskQuota {
    max: u64,
    used: AtomicU64,
    /// Locked while a file is created, written or removed, so that the count is exact.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The time of the last count from scratch.
    counted: Instant,
    /// The files that sessions have open.
    open: HashMap<FileId, OpenFile>,
}

/// The identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

#[derive(Debug, Default)]
struct OpenFile {
    handles: usize,
    /// The size of a file that was removed while open. It uses disk space until its last handle is closed.
    unlinked: Option<u64>,
}

impl DiskQuota {
    /// Creates a quota for a directory that already uses `used` bytes.
    pub fn new(max: u64, used: u64) -> Self {
        let state = State { counted: Instant::now(), open: HashMap::new() };
        Self { max, used: AtomicU64::new(used), state: Mutex::new(state) }
    }

    fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn set(&self, used: u64) {
        self.used.store(used, Ordering::Relaxed);
    }
}

/// Exclusive access to the usage count of a directory.
///
/// Without a quota, nothing is locked and every method does nothing.
pub struct UsageGuard<'a> {
    files: &'a Files,
    quota: Option<(&'a DiskQuota, MutexGuard<'a, State>)>,
}

impl<'a> UsageGuard<'a> {
    /// Waits until no other operation changes the directory, if it has a quota.
    pub fn lock(files: &'a Files) -> Self {
        let quota = files.disk_quota().map(|quota| (quota, quota.state.lock().unwrap_or_else(PoisonError::into_inner)));
        Self { files, quota }
    }

    /// Reserves bytes that are about to be used.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), FileError> {
        self.check(bytes)?;
        self.add(bytes);
        Ok(())
    }

    /// Returns an error if the quota does not allow this many more bytes.
    pub fn check(&mut self, bytes: u64) -> Result<(), FileError> {
        let Some((quota, state)) = &mut self.quota else { return Ok(()) };
        if bytes > quota.max.saturating_sub(quota.used()) && state.counted.elapsed() > RECOUNT_INTERVAL {
            let unlinked: u64 = state.open.values().filter_map(|file| file.unlinked).sum();
            quota.set(disk_usage::measure(self.files)?.saturating_add(unlinked));
            state.counted = Instant::now();
        }
        if bytes > quota.max.saturating_sub(quota.used()) {
            return Err(FileError::Limit(format!("disk quota exceeded ({} bytes for all files)", quota.max)));
        }
        Ok(())
    }

    /// Subtracts bytes that were freed, or were reserved and not used.
    pub fn release(&mut self, bytes: u64) {
        if let Some((quota, _)) = &self.quota {
            quota.set(quota.used().saturating_sub(bytes));
        }
    }

    /// Adds bytes that are already in use, even if they exceed the quota.
    pub fn add(&mut self, bytes: u64) {
        if let Some((quota, _)) = &self.quota {
            quota.set(quota.used().saturating_add(bytes));
        }
    }

    /// Records that a file was opened and stays open.
    pub fn file_opened(&mut self, file: &Metadata) {
        let Some((_, state)) = &mut self.quota else { return };
        let open = state.open.entry(FileId::of(file)).or_default();
        open.handles += 1;
        // The file was removed between its opening and this call.
        if open.unlinked.is_none() && file.nlink() == 0 {
            open.unlinked = Some(file.len());
            self.add(file.len());
        }
    }

    /// Records that an open file grew or shrank by this many bytes.
    pub fn file_resized(&mut self, file: FileId, grown: u64, shrunk: u64) {
        let Some((_, state)) = &mut self.quota else { return };
        if let Some(OpenFile { unlinked: Some(bytes), .. }) = state.open.get_mut(&file) {
            *bytes = bytes.saturating_add(grown).saturating_sub(shrunk);
        }
    }

    /// Records that a file was unlinked. Its space is released when its last handle is closed.
    pub fn file_removed(&mut self, file: &Metadata) {
        let Some((_, state)) = &mut self.quota else { return };
        match state.open.get_mut(&FileId::of(file)) {
            Some(open) => open.unlinked = Some(file.len()),
            None => self.release(file.len()),
        }
    }

    /// Records that a handle of a file was closed.
    pub fn file_closed(&mut self, file: FileId) {
        let Some((_, state)) = &mut self.quota else { return };
        let Some(open) = state.open.get_mut(&file) else { return };
        open.handles -= 1;
        if open.handles == 0
            && let Some(OpenFile { unlinked: Some(bytes), .. }) = state.open.remove(&file)
        {
            self.release(bytes);
        }
    }
}

impl Files {
    /// Returns the number of bytes that the disk quota still allows. Never blocks.
    pub(super) fn disk_quota_left(&self) -> u64 {
        self.disk_quota().map_or(u64::MAX, |quota| quota.max.saturating_sub(quota.used()))
    }
}
