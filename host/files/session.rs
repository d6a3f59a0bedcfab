//! One run's use of the io dir: its open files, its quota, what it touched.

use super::{
    MAX_BLOCK,
    disk::Ledger,
    error::FileError,
    handle::{Handle, Mode, Position, Whence},
    list,
    quota::Quota,
    root::Files,
    touched::{Touched, TouchedFile},
    walk,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files open at once: descriptors of the host's, of which a process has few.
const MAX_HANDLES: usize = 64;

/// A session; clones are the same one. Each operation locks it, so that whoever closes it waits for one that is under way.
#[derive(Clone)]
pub struct FileSession {
    open: Arc<Mutex<Open>>,
}

/// What a session came to.
#[derive(Debug, Default)]
pub struct FileReport {
    /// The files that it touched, in name order.
    pub touched: Vec<TouchedFile>,
    /// Bytes that it read.
    pub bytes_read: u64,
    /// Bytes that counted against its limit.
    pub bytes_written: u64,
    /// Files that it made.
    pub files_created: u64,
}

struct Open {
    files: Files,
    quota: Quota,
    touched: Touched,
    handles: Vec<Option<Handle>>,
    closing: Vec<u32>,
    bytes_read: u64,
    closed: bool,
}

impl FileSession {
    /// A session within a quota.
    pub fn new(files: Files, quota: Quota) -> Self {
        let open =
            Open { files, quota, touched: Touched::default(), handles: Vec::new(), closing: Vec::new(), bytes_read: 0, closed: false };
        Self { open: Arc::new(Mutex::new(open)) }
    }

    /// Opens a file; the number of its handle, and what may still be written.
    pub fn open(&self, path: &[u8], mode: Mode) -> Result<(u32, u64), FileError> {
        let mut open = self.lock()?;
        let path = open.files.resolve(path)?;
        let slot = open.free_slot()?;
        let Open { files, quota, touched, handles, .. } = &mut *open;
        if mode.writes() {
            touched.check(&path)?;
        }
        let opened = walk::open(files, &path, mode, quota)?;
        if mode.appends() && opened.made {
            touched.append(&path);
        } else if opened.made || mode.empties() {
            touched.change(&path);
        }
        let mut handle = Handle::new(opened.file, path, mode)?;
        handle.count(files)?;
        match handles.get_mut(slot) {
            Some(free) => *free = Some(handle),
            None => handles.push(Some(handle)),
        }
        Ok((u32::try_from(slot).unwrap_or(u32::MAX), open.allowance()))
    }

    /// At most `most` bytes, and at most [`MAX_BLOCK`]; none is the end of the file.
    pub fn read(&self, handle: u32, most: usize) -> Result<Vec<u8>, FileError> {
        let mut open = self.lock()?;
        let bytes = open.handle(handle)?.read(most.min(MAX_BLOCK))?;
        open.bytes_read += bytes.len() as u64;
        Ok(bytes)
    }

    /// Bytes from the position to the end.
    pub fn remaining(&self, handle: u32) -> Result<u64, FileError> {
        self.lock()?.handle(handle)?.remaining()
    }

    /// Notes whether bytes for a file are on their way; what may still be written. It never blocks.
    pub fn announce(&self, handle: u32, waiting: bool) -> Result<u64, FileError> {
        let mut open = self.lock_always();
        open.handle(handle)?.wait(waiting)?;
        Ok(open.allowance())
    }

    /// Writes all the bytes; what may still be written. `waiting` says that more bytes are on their way.
    pub fn write(&self, handle: u32, bytes: &[u8], waiting: bool) -> Result<u64, FileError> {
        let mut open = self.lock()?;
        let Open { files, quota, touched, handles, .. } = &mut *open;
        let handle = find(handles, handle)?;
        // After an error nothing is on its way.
        handle.wait(false)?;
        handle.write(bytes, quota, touched, files)?;
        handle.wait(waiting)?;
        Ok(open.allowance())
    }

    /// Whether so many bytes may be written at the position of a file, with the hole before them.
    pub fn check_write(&self, handle: u32, bytes: u64) -> Result<(), FileError> {
        let mut open = self.lock()?;
        let Open { files, quota, handles, .. } = &mut *open;
        let handle = find(handles, handle)?;
        let checked = handle.cost(bytes).and_then(|cost| {
            quota.check_write(cost.counted)?;
            Ledger::open(files).check(cost.growth)
        });
        // After an error nothing is on its way.
        handle.wait(checked.is_ok())?;
        checked
    }

    /// Moves the position.
    pub fn seek(&self, handle: u32, from: Whence, offset: i64) -> Result<Position, FileError> {
        let mut open = self.lock()?;
        let offset = open.handle(handle)?.seek(from, offset)?;
        Ok(Position { offset, allowance: open.allowance() })
    }

    /// Lets go of a file; what its handle kept waiting is lost. The next operation closes it, as that may block.
    pub fn close(&self, handle: u32) {
        self.lock_always().closing.push(handle);
    }

    /// The names in a folder, sorted; an io dir that does not exist has none. A name that is not UTF-8 is marked as such.
    pub fn list(&self, path: &[u8]) -> Result<Vec<String>, FileError> {
        let open = self.lock()?;
        let path = open.files.resolve(path)?;
        let Some(folder) = walk::folder(&open.files, &path)? else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        list::each(&folder, &path, |name, _| {
            names.push(name);
            Ok(())
        })?;
        names.sort_unstable();
        Ok(names)
    }

    /// Removes a file.
    pub fn remove(&self, path: &[u8]) -> Result<(), FileError> {
        let mut open = self.lock()?;
        let path = open.files.resolve(path)?;
        open.touched.check(&path)?;
        walk::remove(&open.files, &path)?;
        open.touched.change(&path);
        Ok(())
    }

    /// The account, if it needs no look at the disk and nothing is under way; the session is closed then.
    pub fn finish_now(&self) -> Option<FileReport> {
        let mut open = self.open.try_lock().ok()?;
        let idle = open.touched.is_empty() && open.handles.iter().all(Option::is_none);
        idle.then(|| open.finish())
    }

    /// Closes the session and all its files; waits for an operation that is under way. Later ones are refused.
    pub fn finish(&self) -> FileReport {
        self.lock_always().finish()
    }

    /// An operation that a stop caught before it began must not be done after the account was taken.
    fn lock(&self) -> Result<MutexGuard<'_, Open>, FileError> {
        let mut open = self.lock_always();
        if open.closed {
            return Err(unknown_handle());
        }
        open.close_pending();
        Ok(open)
    }

    fn lock_always(&self) -> MutexGuard<'_, Open> {
        // An operation that panicked left counts that are too high at worst.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// What may still be written, by the run's quota and by the disk's limit. Nobody is trusted with it: each write is checked.
    fn allowance(&self) -> u64 {
        self.quota.allowance().min(self.files.disk_left())
    }

    fn free_slot(&self) -> Result<usize, FileError> {
        let slot = self.handles.iter().position(Option::is_none).unwrap_or(self.handles.len());
        if slot < MAX_HANDLES { Ok(slot) } else { Err(FileError::Limit(format!("too many open files (max {MAX_HANDLES})"))) }
    }

    fn handle(&mut self, handle: u32) -> Result<&mut Handle, FileError> {
        find(&mut self.handles, handle)
    }

    fn close_pending(&mut self) {
        for handle in std::mem::take(&mut self.closing) {
            if let Some(handle) = self.handles.get_mut(handle as usize).and_then(Option::take) {
                self.close(handle);
            }
        }
    }

    fn close(&mut self, handle: Handle) {
        if handle.is_waiting() {
            self.touched.cut(handle.path(), handle.appends());
        }
        handle.close(&self.files);
    }

    fn close_all(&mut self) {
        for handle in std::mem::take(&mut self.handles).into_iter().flatten() {
            self.close(handle);
        }
    }

    fn finish(&mut self) -> FileReport {
        self.closed = true;
        self.close_all();
        FileReport {
            touched: std::mem::take(&mut self.touched).report(&self.files),
            bytes_read: self.bytes_read,
            bytes_written: self.quota.bytes(),
            files_created: self.quota.files(),
        }
    }
}

impl Drop for Open {
    /// What is open without a name is counted until it is closed.
    fn drop(&mut self) {
        self.close_all();
    }
}

fn find(handles: &mut [Option<Handle>], handle: u32) -> Result<&mut Handle, FileError> {
    handles.get_mut(handle as usize).and_then(Option::as_mut).ok_or_else(unknown_handle)
}

/// Only a guest that breaks the contract, or a session that has ended, gets here.
fn unknown_handle() -> FileError {
    FileError::Invalid("attempt to use a closed file")
}
