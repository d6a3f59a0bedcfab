//! The use of the io directory by one run: its open files, its write budget and the files that it touched.

use super::{
    MAX_BLOCK,
    directory::Files,
    disk_quota::UsageGuard,
    error::FileError,
    handle::{Handle, Position, Whence},
    list,
    open_mode::OpenMode,
    path::FilePath,
    protected_names::Access,
    resolve,
    touched_files::{TouchedFile, TouchedFiles},
    write_budget::WriteBudget,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of open files. Each one uses a file descriptor of the host process.
const MAX_HANDLES: usize = 64;

/// A session; all clones share it. Each operation locks it, so that closing the session waits for a running operation.
#[derive(Clone)]
pub struct FileSession {
    state: Arc<Mutex<SessionState>>,
}

/// The summary of a session.
#[derive(Debug, Default)]
pub struct FileReport {
    /// The files that the run touched, in name order.
    pub touched: Vec<TouchedFile>,
    /// The number of bytes read.
    pub bytes_read: u64,
    /// The number of bytes that counted against the write budget.
    pub bytes_written: u64,
    /// The number of files created.
    pub files_created: u64,
}

struct SessionState {
    files: Files,
    /// The directory in which `require` looks first.
    modules: Option<Files>,
    budget: WriteBudget,
    touched: TouchedFiles,
    handles: Vec<Option<Handle>>,
    /// Handles to be closed by the next operation.
    closing: Vec<u32>,
    bytes_read: u64,
    closed: bool,
}

impl FileSession {
    /// Creates a session with a write budget. Modules are read from the directory `modules` first, if there is one.
    pub fn new(files: Files, modules: Option<Files>, budget: WriteBudget) -> Self {
        let (touched, handles, closing) = (TouchedFiles::default(), Vec::new(), Vec::new());
        let state = SessionState { files, modules, budget, touched, handles, closing, bytes_read: 0, closed: false };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Returns the io directory.
    pub fn files(&self) -> Files {
        self.lock_even_if_closed().files.clone()
    }

    /// Opens a file. Returns the number of its handle, and the number of bytes that can still be written.
    pub fn open(&self, path: &[u8], mode: OpenMode) -> Result<(u32, u64), FileError> {
        let mut state = self.lock()?;
        let file = state.files.resolve(path, if mode.writes() { Access::Write } else { Access::Read })?;
        let slot = state.free_slot()?;
        let module = if mode == OpenMode::Module { state.open_module(path)? } else { None };
        let handle = module.map_or_else(|| state.open_file(file, mode), Ok)?;
        match state.handles.get_mut(slot) {
            Some(free) => *free = Some(handle),
            None => state.handles.push(Some(handle)),
        }
        Ok((u32::try_from(slot).unwrap_or(u32::MAX), state.allowance()))
    }

    /// Reads at most `max_bytes` bytes, and at most [`MAX_BLOCK`]. An empty result is the end of the file.
    pub fn read(&self, handle: u32, max_bytes: usize) -> Result<Vec<u8>, FileError> {
        let mut state = self.lock()?;
        let bytes = state.handle(handle)?.read(max_bytes.min(MAX_BLOCK))?;
        state.bytes_read += bytes.len() as u64;
        Ok(bytes)
    }

    /// Returns the number of bytes from the position to the end of the file.
    pub fn remaining(&self, handle: u32) -> Result<u64, FileError> {
        self.lock()?.handle(handle)?.remaining()
    }

    /// Records whether the guest has bytes for a file that are not written yet. Returns the number of bytes that can still be written.
    ///
    /// Never waits for the disk.
    pub fn set_pending(&self, handle: u32, has_pending: bool) -> Result<u64, FileError> {
        let mut state = self.lock_even_if_closed();
        state.handle(handle)?.set_pending(has_pending)?;
        Ok(state.allowance())
    }

    /// Writes all bytes. Returns the number of bytes that can still be written.
    ///
    /// `has_pending` says that the guest has more bytes for the file.
    pub fn write(&self, handle: u32, bytes: &[u8], has_pending: bool) -> Result<u64, FileError> {
        let mut state = self.lock()?;
        let SessionState { files, budget, touched, handles, .. } = &mut *state;
        let handle = find(handles, handle)?;
        // After an error, no bytes are pending.
        handle.set_pending(false)?;
        handle.write(bytes, budget, touched, files)?;
        handle.set_pending(has_pending)?;
        Ok(state.allowance())
    }

    /// Returns an error if a write of this many bytes, with the hole before them, would exceed a limit.
    pub fn check_write(&self, handle: u32, bytes: u64) -> Result<(), FileError> {
        let mut state = self.lock()?;
        let SessionState { files, budget, handles, .. } = &mut *state;
        let handle = find(handles, handle)?;
        let checked = handle.cost(bytes).and_then(|cost| {
            budget.check_write(cost.counted)?;
            UsageGuard::lock(files).check(cost.growth)
        });
        // After an error, no bytes are pending.
        handle.set_pending(checked.is_ok())?;
        checked
    }

    /// Moves the position.
    pub fn seek(&self, handle: u32, whence: Whence, offset: i64) -> Result<Position, FileError> {
        let mut state = self.lock()?;
        let offset = state.handle(handle)?.seek(whence, offset)?;
        Ok(Position { offset, allowance: state.allowance() })
    }

    /// Marks a file for closing. Pending bytes are lost. The next operation closes it, because closing may block.
    pub fn close(&self, handle: u32) {
        self.lock_even_if_closed().closing.push(handle);
    }

    /// Returns the sorted names in a directory. An io directory that does not exist yet is empty. A name that is not UTF-8 is marked.
    pub fn list(&self, path: &[u8]) -> Result<Vec<String>, FileError> {
        let state = self.lock()?;
        let path = state.files.resolve(path, Access::Read)?;
        let mut names = Vec::new();
        let Some(directory) = resolve::directory(&state.files, &path)? else { return Ok(names) };
        list::for_each_name(&directory, &path, state.files.names(), |name, _| names.push(name))?;
        names.sort_unstable();
        Ok(names)
    }

    /// Returns `true` if the path names a regular file or a directory, without a symlink on the way.
    pub fn exists(&self, path: &[u8]) -> Result<bool, FileError> {
        let state = self.lock()?;
        let path = state.files.resolve(path, Access::Read)?;
        resolve::exists(&state.files, &path)
    }

    /// Renames a file, and replaces a file at the new path.
    pub fn rename(&self, old: &[u8], new: &[u8]) -> Result<(), FileError> {
        let mut state = self.lock()?;
        let (old, new) = (state.files.resolve(old, Access::Write)?, state.files.resolve(new, Access::Write)?);
        let SessionState { files, budget, touched, handles, .. } = &mut *state;
        touched.check(&old)?;
        touched.check(&new)?;
        resolve::rename(files, &old, &new, budget)?;
        if old == new {
            return Ok(());
        }
        touched.change(&old);
        touched.change(&new);
        // Later writes through an open handle change the file at its new path.
        handles.iter_mut().flatten().for_each(|handle| handle.renamed(&old, &new));
        Ok(())
    }

    /// Removes a file.
    pub fn remove(&self, path: &[u8]) -> Result<(), FileError> {
        let mut state = self.lock()?;
        let path = state.files.resolve(path, Access::Write)?;
        state.touched.check(&path)?;
        resolve::remove(&state.files, &path)?;
        state.touched.change(&path);
        Ok(())
    }

    /// Closes the session and returns its report, if this needs no disk access and no operation is running. Otherwise returns `None`.
    pub fn finish_now(&self) -> Option<FileReport> {
        let mut state = self.state.try_lock().ok()?;
        let idle = state.touched.is_empty() && state.handles.iter().all(Option::is_none);
        idle.then(|| state.finish())
    }

    /// Closes the session and all its files, after a running operation has ended. Later operations return an error.
    pub fn finish(&self) -> FileReport {
        self.lock_even_if_closed().finish()
    }

    /// Locks the session, unless it is closed. An operation that starts after the report was made must not run.
    fn lock(&self) -> Result<MutexGuard<'_, SessionState>, FileError> {
        let mut state = self.lock_even_if_closed();
        if state.closed {
            return Err(unknown_handle());
        }
        state.close_marked();
        Ok(state)
    }

    fn lock_even_if_closed(&self) -> MutexGuard<'_, SessionState> {
        // An operation that panicked can only have left counts that are too high.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionState {
    /// Returns the number of bytes that the write budget and the disk quota still allow.
    ///
    /// The guest gets this number to limit its buffers. It is not trusted to: each write is checked again.
    fn allowance(&self) -> u64 {
        self.budget.bytes_left().min(self.files.disk_quota_left())
    }

    fn open_file(&mut self, path: FilePath, mode: OpenMode) -> Result<Handle, FileError> {
        let Self { files, budget, touched, .. } = self;
        if mode.writes() {
            touched.check(&path)?;
        }
        let opened = resolve::open(files, &path, mode, budget)?;
        if mode.appends() && opened.created {
            touched.append(&path);
        } else if opened.created || mode.truncates() {
            touched.change(&path);
        }
        let mut handle = Handle::new(opened.file, path, mode)?;
        handle.count(files)?;
        Ok(handle)
    }

    /// Opens a module in the directory of modules. Returns `None` if there is no such directory or file.
    fn open_module(&self, path: &[u8]) -> Result<Option<Handle>, FileError> {
        let Some(modules) = &self.modules else { return Ok(None) };
        let path = modules.resolve(path, Access::Read)?;
        let file = resolve::open_existing(modules, &path, OpenMode::Module)?;
        file.map(|file| Handle::new(file, path, OpenMode::Module)).transpose()
    }

    fn free_slot(&self) -> Result<usize, FileError> {
        let slot = self.handles.iter().position(Option::is_none).unwrap_or(self.handles.len());
        if slot < MAX_HANDLES { Ok(slot) } else { Err(FileError::Limit(format!("too many open files (max {MAX_HANDLES})"))) }
    }

    fn handle(&mut self, handle: u32) -> Result<&mut Handle, FileError> {
        find(&mut self.handles, handle)
    }

    fn close_marked(&mut self) {
        for handle in std::mem::take(&mut self.closing) {
            if let Some(handle) = self.handles.get_mut(handle as usize).and_then(Option::take) {
                self.close(handle);
            }
        }
    }

    fn close(&mut self, handle: Handle) {
        if handle.has_pending() {
            self.touched.truncate(handle.path(), handle.appends());
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
            bytes_written: self.budget.bytes(),
            files_created: self.budget.files(),
        }
    }
}

impl Drop for SessionState {
    /// Closes all files, so that the disk quota no longer counts removed files that were still open.
    fn drop(&mut self) {
        self.close_all();
    }
}

fn find(handles: &mut [Option<Handle>], handle: u32) -> Result<&mut Handle, FileError> {
    handles.get_mut(handle as usize).and_then(Option::as_mut).ok_or_else(unknown_handle)
}

/// Returns the error for a guest that breaks the contract, or for an operation on a closed session.
fn unknown_handle() -> FileError {
    FileError::Invalid("attempt to use a closed file")
}
