//! The disk quota of a directory, and the count of what is used of it.
//!
//! The usage is counted once when the quota is set, and then updated by every operation that creates, writes or removes a file. Other
//! programs may remove files, too, so a full directory is [counted again](super::recount) in the background. The first count can happen
//! in the background as well. Until it ends, no operation can use disk space.

use super::{directory::Files, error::FileError, recount};
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
use tokio_util::sync::CancellationToken;

/// The number of bytes that each file and directory counts in addition to its contents. It bounds the number of inodes and names.
pub const ENTRY_BYTES: u64 = 1024;

/// The minimum time between two counts from scratch.
const RECOUNT_INTERVAL: Duration = Duration::from_secs(60);

/// The error of an operation that did not wait for the first count.
const COUNTING: &str = "the files are still being counted; try again later";

/// The error after a failed first count.
const NOT_COUNTED: &str = "the files could not be counted; the cause is in the host's log; try again later";

/// A limit on the disk usage of a whole directory, and the current usage.
#[derive(Debug)]
pub struct DiskQuota {
    max: u64,
    used: AtomicU64,
    /// Cancelled when the first count has ended, successfully or not.
    first_count: CancellationToken,
    /// Locked while a file is created, written or removed, so that the count is exact.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The time of the last count from scratch.
    counted: Instant,
    /// `false` until a count has succeeded. `used` then contains only the changes since the quota was set.
    is_known: bool,
    /// The changes since a recount began that has not ended.
    recount: Option<ChangesDuringRecount>,
    /// The files that sessions have open.
    open: HashMap<FileId, OpenFile>,
}

/// The changes while directories are counted without a lock. A file that changes then may be counted before or after its change, and one
/// that is moved twice or not at all.
#[derive(Debug, Default)]
struct ChangesDuringRecount {
    any: bool,
    /// The bytes that were added or moved. With these, a count is never too low.
    added: u64,
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
        let quota = Self::uncounted(max);
        quota.first_count.cancel();
        let mut state = quota.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.is_known, state.recount) = (true, None);
        drop(state);
        quota.set(used);
        quota
    }

    /// Creates a quota for a directory whose first count begins now.
    pub fn uncounted(max: u64) -> Self {
        let recount = Some(ChangesDuringRecount::default());
        let state = State { counted: Instant::now(), is_known: false, recount, open: HashMap::new() };
        Self { max, used: AtomicU64::new(0), first_count: CancellationToken::new(), state: Mutex::new(state) }
    }

    /// Returns the token that is cancelled when the first count has ended.
    pub fn first_count(&self) -> &CancellationToken {
        &self.first_count
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
        let error = match state.is_known {
            true if bytes <= quota.max.saturating_sub(quota.used()) => return Ok(()),
            true => format!("disk quota exceeded ({} bytes for all files)", quota.max),
            false if state.recount.is_some() => COUNTING.into(),
            false => NOT_COUNTED.into(),
        };
        if state.recount.is_none() && state.counted.elapsed() > RECOUNT_INTERVAL {
            state.recount = recount::start(self.files).then(ChangesDuringRecount::default);
        }
        Err(FileError::Limit(error))
    }

    /// Ends the first count or a recount. `total` is the disk usage that it found, or `None` if it failed.
    ///
    /// If files changed during the recount, the result is an upper bound of their disk usage, which is used only if it is better.
    pub fn end_recount(&mut self, total: Option<u64>) {
        let Some((quota, state)) = &mut self.quota else { return };
        state.counted = Instant::now();
        let changes = state.recount.take();
        if let (Some(total), Some(changes)) = (total, changes) {
            let unlinked: u64 = state.open.values().filter_map(|file| file.unlinked).sum();
            let total = total.saturating_add(unlinked);
            let upper_bound = total.saturating_add(changes.added);
            quota.set(match (changes.any, state.is_known) {
                (false, _) => total,
                (true, true) => upper_bound.min(quota.used()),
                (true, false) => upper_bound,
            });
            state.is_known = true;
        }
        quota.first_count.cancel();
    }

    /// Subtracts bytes that were freed, or were reserved and not used.
    pub fn release(&mut self, bytes: u64) {
        self.record_change(0);
        if let Some((quota, _)) = &self.quota {
            quota.set(quota.used().saturating_sub(bytes));
        }
    }

    /// Adds bytes that are already in use, even if they exceed the quota.
    pub fn add(&mut self, bytes: u64) {
        self.record_change(bytes);
        if let Some((quota, _)) = &self.quota {
            quota.set(quota.used().saturating_add(bytes));
        }
    }

    /// Records that a file got another name.
    pub fn file_moved(&mut self, file: &Metadata) {
        self.record_change(file.len().saturating_add(ENTRY_BYTES));
    }

    fn record_change(&mut self, added: u64) {
        if let Some((_, State { recount: Some(changes), .. })) = self.quota.as_mut().map(|(quota, state)| (quota, &mut **state)) {
            changes.any = true;
            changes.added = changes.added.saturating_add(added);
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
        self.record_change(0);
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test creates and removes files from outside")]
mod tests {
    use super::{ChangesDuringRecount, ENTRY_BYTES, Files, RECOUNT_INTERVAL, UsageGuard};
    use crate::files::{
        WriteBudget, WriteMode,
        disk_usage::measure,
        recount::{Recount, STEP_ENTRIES},
        session::FileSession,
    };
    use std::{fs, time::Instant};

    /// The number of files in the subdirectory `old`: many steps of a recount.
    const FILES: u64 = 20_000;

    const FULL: &str = "disk quota exceeded (20490240 bytes for all files)";

    /// Returns a directory that is full.
    fn full_directory() -> (tempfile::TempDir, Files) {
        let directory = tempfile::TempDir::new().unwrap();
        fs::create_dir(directory.path().join("old")).unwrap();
        for number in 0..FILES {
            fs::write(directory.path().join(format!("old/{number}")), "").unwrap();
        }
        let files = Files::new(directory.path()).unwrap().with_disk_quota((FILES + 1) * ENTRY_BYTES + 9 * ENTRY_BYTES).unwrap();
        for number in 0..9 {
            write(&files, &format!("new{number}")).unwrap();
        }
        assert_eq!(write(&files, "one-more").unwrap_err(), FULL);
        (directory, files)
    }

    fn write(files: &Files, name: &str) -> Result<(), String> {
        files.write(name, b"", WriteMode::Create, &mut WriteBudget::default()).map(|_| ()).map_err(|error| error.to_string())
    }

    fn used(files: &Files) -> u64 {
        files.disk_quota().unwrap().used()
    }

    /// Begins a recount that the test drives itself.
    fn begin_recount(files: &Files) -> Recount {
        UsageGuard::lock(files).quota.as_mut().unwrap().1.recount = Some(ChangesDuringRecount::default());
        Recount::new(files.downgrade())
    }

    #[test]
    fn operations_complete_while_a_recount_is_in_progress_and_the_count_stays_exact() {
        let (directory, files) = full_directory();
        fs::remove_file(directory.path().join("old/0")).unwrap();
        let mut recount = begin_recount(&files);
        for _ in 0..5 {
            assert!(recount.step(), "the recount has more to do");
        }
        // Each of these would wait for ever if the recount held a lock between its steps.
        assert_eq!(write(&files, "one-more").unwrap_err(), FULL);
        files.remove("old/1").unwrap();
        write(&files, "old/replacement").unwrap();
        let session = FileSession::new(files.clone(), None, WriteBudget::default());
        session.rename(b"new0", b"old/renamed").unwrap();
        session.rename(b"old/2", b"moved").unwrap();
        session.finish();
        assert!(recount.step(), "the recount has more to do");
        while recount.step() {}
        // Something changed, so the result is an upper bound, and never worse than before.
        let expected = measure(&files).unwrap();
        assert!((expected..=expected + ENTRY_BYTES).contains(&used(&files)));
        let mut recount = begin_recount(&files);
        while recount.step() {}
        assert_eq!(used(&files), expected);
        write(&files, "one-more").unwrap();
        assert_eq!(used(&files), expected + ENTRY_BYTES);
    }

    #[test]
    fn a_full_directory_is_counted_again_in_the_background() {
        let (directory, files) = full_directory();
        fs::remove_file(directory.path().join("old/0")).unwrap();
        let Some(long_ago) = Instant::now().checked_sub(2 * RECOUNT_INTERVAL) else { return };
        UsageGuard::lock(&files).quota.as_mut().unwrap().1.counted = long_ago;
        // The operation that starts the recount does not wait for it.
        assert_eq!(write(&files, "one-more").unwrap_err(), FULL);
        while UsageGuard::lock(&files).quota.as_ref().unwrap().1.recount.is_some() {
            std::thread::yield_now();
        }
        assert_eq!(used(&files), measure(&files).unwrap());
        write(&files, "one-more").unwrap();
    }

    #[test]
    fn a_recount_ends_with_its_directory() {
        let directory = tempfile::TempDir::new().unwrap();
        for number in 0..2 * STEP_ENTRIES {
            fs::write(directory.path().join(number.to_string()), "").unwrap();
        }
        let files = Files::new(directory.path()).unwrap().with_disk_quota(u64::MAX).unwrap();
        let mut recount = begin_recount(&files);
        assert!(recount.step());
        drop(files);
        assert!(!recount.step());
    }
}
