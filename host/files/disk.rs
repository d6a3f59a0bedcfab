//! What all files of a directory may take on disk together: counted once, then kept.

use super::{error::FileError, root::Files, tree};
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

/// What a file or a folder counts beside its contents: the inodes and names that a disk has for empty ones.
pub const ENTRY: u64 = 1024;

/// Between two counts from scratch, which a full directory asks for: others may have removed files.
const RECOUNT: Duration = Duration::from_secs(60);

/// A limit on the whole directory, and what is used of it.
#[derive(Debug)]
pub struct DiskLimit {
    max: u64,
    used: AtomicU64,
    /// Held while something is made, written or removed, so that the count is exact.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When it was last counted from scratch.
    counted: Instant,
    /// Files that sessions have open.
    open: HashMap<FileId, OpenFile>,
}

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    pub fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), number: metadata.ino() }
    }
}

#[derive(Debug, Default)]
struct OpenFile {
    handles: usize,
    /// It has no name any more: these bytes are on disk until it is closed.
    nameless: Option<u64>,
}

impl DiskLimit {
    /// A limit for what is there now and what will come.
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

/// The right to change what is on disk; without a limit it is everybody's at once.
pub struct Ledger<'a> {
    files: &'a Files,
    held: Option<(&'a DiskLimit, MutexGuard<'a, State>)>,
}

impl<'a> Ledger<'a> {
    /// Waits until nobody else changes the directory, if it has a limit.
    pub fn open(files: &'a Files) -> Self {
        let held = files.disk().map(|disk| (disk, disk.state.lock().unwrap_or_else(PoisonError::into_inner)));
        Self { files, held }
    }

    /// Counts bytes that are about to be taken.
    pub fn take(&mut self, bytes: u64) -> Result<(), FileError> {
        self.check(bytes)?;
        self.add(bytes);
        Ok(())
    }

    /// Whether so many bytes may be taken.
    pub fn check(&mut self, bytes: u64) -> Result<(), FileError> {
        let Some((disk, state)) = &mut self.held else { return Ok(()) };
        if bytes > disk.max.saturating_sub(disk.used()) && state.counted.elapsed() > RECOUNT {
            let nameless: u64 = state.open.values().filter_map(|file| file.nameless).sum();
            disk.set(tree::size(self.files)?.saturating_add(nameless));
            state.counted = Instant::now();
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

    /// Counts bytes that are there, whatever the limit says.
    pub fn add(&mut self, bytes: u64) {
        if let Some((disk, _)) = &self.held {
            disk.set(disk.used().saturating_add(bytes));
        }
    }

    /// A file was opened that stays open.
    pub fn opened(&mut self, file: &Metadata) {
        let Some((_, state)) = &mut self.held else { return };
        let open = state.open.entry(FileId::of(file)).or_default();
        open.handles += 1;
        // Somebody removed it in the moment before.
        if open.nameless.is_none() && file.nlink() == 0 {
            open.nameless = Some(file.len());
            self.add(file.len());
        }
    }

    /// An open file has become longer, or has not after all.
    pub fn resized(&mut self, file: FileId, longer: u64, shorter: u64) {
        let Some((_, state)) = &mut self.held else { return };
        if let Some(OpenFile { nameless: Some(bytes), .. }) = state.open.get_mut(&file) {
            *bytes = bytes.saturating_add(longer).saturating_sub(shorter);
        }
    }

    /// A file has lost its name: what it takes is free when nobody has it open.
    pub fn removed(&mut self, file: &Metadata) {
        let Some((_, state)) = &mut self.held else { return };
        match state.open.get_mut(&FileId::of(file)) {
            Some(open) => open.nameless = Some(file.len()),
            None => self.give_back(file.len()),
        }
    }

    /// A file is not open any more.
    pub fn closed(&mut self, file: FileId) {
        let Some((_, state)) = &mut self.held else { return };
        let Some(open) = state.open.get_mut(&file) else { return };
        open.handles -= 1;
        if open.handles == 0
            && let Some(OpenFile { nameless: Some(bytes), .. }) = state.open.remove(&file)
        {
            self.give_back(bytes);
        }
    }
}

impl Files {
    /// Bytes that may still be taken. It never blocks.
    pub(super) fn disk_left(&self) -> u64 {
        self.disk().map_or(u64::MAX, |disk| disk.max.saturating_sub(disk.used()))
    }
}
