//! One open file.

use super::{
    disk::{FileId, Ledger},
    error::FileError,
    path::FilePath,
    quota::Quota,
    root::Files,
    touched::Touched,
};
use cap_std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use wasmtime::component::{ComponentType, Lift, Lower};

/// How a file is opened: as Lua's `r`, `w`, `a`, and the same with `+`.
///
/// It is also the type `mode` of `wit/io.wit`, which the guest passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "the guest creates some of the values")]
pub enum Mode {
    /// `r`
    #[component(name = "read")]
    Read,
    /// `w`
    #[component(name = "write")]
    Write,
    /// `a`
    #[component(name = "append")]
    Append,
    /// `r+`
    #[component(name = "read-update")]
    ReadUpdate,
    /// `w+`
    #[component(name = "write-update")]
    WriteUpdate,
    /// `a+`
    #[component(name = "append-update")]
    AppendUpdate,
}

impl Mode {
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::Append)
    }

    pub fn writes(self) -> bool {
        self != Self::Read
    }

    pub fn appends(self) -> bool {
        matches!(self, Self::Append | Self::AppendUpdate)
    }

    /// Whether a file that exists loses its contents.
    pub fn empties(self) -> bool {
        matches!(self, Self::Write | Self::WriteUpdate)
    }

    /// Whether a file that does not exist is made.
    pub fn makes(self) -> bool {
        self.empties() || self.appends()
    }
}

/// Where an offset counts from.
///
/// It is also the type `whence` of `wit/io.wit`, which the guest passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "the guest creates some of the values")]
pub enum Whence {
    /// The start of the file.
    #[component(name = "start")]
    Start,
    /// The position.
    #[component(name = "current")]
    Current,
    /// The end of the file.
    #[component(name = "end")]
    End,
}

/// A position, and how many bytes the session may still write.
///
/// It is also the type `position` of `wit/io.wit`, which the guest receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ComponentType, Lower)]
#[component(record)]
pub struct Position {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// What may still be written.
    pub allowance: u64,
}

/// What a write costs.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Against the run's quota: its bytes, and those of a hole before them.
    pub counted: u64,
    /// On disk: what the file becomes longer by.
    pub growth: u64,
    /// Bytes of the file before.
    size: u64,
}

/// An open file of a session.
pub struct Handle {
    file: File,
    path: FilePath,
    mode: Mode,
    waiting: bool,
    /// Where a limit on the disk counts it.
    counted: Option<FileId>,
}

impl Handle {
    pub fn new(file: File, path: FilePath, mode: Mode) -> Result<Self, FileError> {
        let mut handle = Self { file, path, mode, waiting: false, counted: None };
        // As in C: the position of `a` is at the end from the start on, that of `a+` only once something was written.
        if mode == Mode::Append {
            handle.seek(Whence::End, 0)?;
        }
        Ok(handle)
    }

    /// Counts the file as an open one, if there is a limit on the disk.
    pub fn count(&mut self, files: &Files) -> Result<(), FileError> {
        if files.disk().is_some() {
            // Nobody removes it between the look and the count.
            let mut ledger = Ledger::open(files);
            let metadata = self.file.metadata().map_err(|error| FileError::system(&self.path, &error))?;
            ledger.opened(&metadata);
            self.counted = Some(FileId::of(&metadata));
        }
        Ok(())
    }

    /// Closes the file. What it takes without a name is free then.
    pub fn close(self, files: &Files) {
        if let Some(file) = self.counted {
            // Until it is noted, no new file may have its number.
            let mut ledger = Ledger::open(files);
            drop(self.file);
            ledger.closed(file);
        }
    }

    pub fn path(&self) -> &FilePath {
        &self.path
    }

    pub fn appends(&self) -> bool {
        self.mode.appends()
    }

    /// Whether the guest holds bytes for this file.
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Notes whether the guest holds bytes for this file.
    pub fn wait(&mut self, waiting: bool) -> Result<(), FileError> {
        self.check_writes()?;
        self.waiting = waiting;
        Ok(())
    }

    /// At most `most` bytes from the position on.
    pub fn read(&mut self, most: usize) -> Result<Vec<u8>, FileError> {
        // A small file is not worth a large block.
        let rest = usize::try_from(self.remaining()?).unwrap_or(usize::MAX);
        let mut bytes = vec![0; most.min(rest)];
        let mut size = 0;
        while size < bytes.len() {
            match self.file.read(&mut bytes[size..]) {
                Ok(0) => break,
                Ok(count) => size += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(FileError::system(&self.path, &error)),
            }
        }
        bytes.truncate(size);
        Ok(bytes)
    }

    /// Bytes that can be read from the position on.
    pub fn remaining(&mut self) -> Result<u64, FileError> {
        if !self.mode.reads() {
            return Err(FileError::wrong_mode(&self.path));
        }
        let (position, size) = self.position_and_size().map_err(|error| FileError::system(&self.path, &error))?;
        Ok(size.saturating_sub(position))
    }

    /// What writing so many bytes at the position costs.
    pub fn cost(&mut self, bytes: u64) -> Result<Cost, FileError> {
        self.check_writes()?;
        let (position, size) = self.position_and_size().map_err(|error| FileError::system(&self.path, &error))?;
        let start = if self.mode.appends() { size } else { position };
        let end = start.saturating_add(bytes);
        check_file_size(end).map_err(|error| FileError::system(&self.path, &error))?;
        Ok(Cost { counted: start.saturating_sub(size).saturating_add(bytes), growth: end.saturating_sub(size), size })
    }

    /// Writes all the bytes, after they were counted.
    pub fn write(&mut self, bytes: &[u8], quota: &mut Quota, touched: &mut Touched, files: &Files) -> Result<(), FileError> {
        let _shared = files.shrinking().read();
        self.write_guarded(bytes, quota, touched, files)
    }

    /// The same, for whoever sees to it that no file becomes shorter meanwhile.
    pub fn write_guarded(&mut self, bytes: &[u8], quota: &mut Quota, touched: &mut Touched, files: &Files) -> Result<(), FileError> {
        let mut ledger = Ledger::open(files);
        let cost = self.cost(bytes.len() as u64)?;
        quota.check_write(cost.counted)?;
        ledger.take(cost.growth)?;
        self.resized(&mut ledger, cost.growth, 0);
        quota.write(cost.counted)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let failed = match self.file.write(rest) {
                Ok(0) => ErrorKind::WriteZero.into(),
                Ok(count) => {
                    rest = &rest[count..];
                    if self.mode.appends() {
                        touched.append(&self.path)
                    } else {
                        touched.change(&self.path)
                    }
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            let grown = self.file.metadata().map_or(cost.growth, |metadata| metadata.len().saturating_sub(cost.size));
            let missing = cost.growth.saturating_sub(grown);
            ledger.give_back(missing);
            self.resized(&mut ledger, 0, missing);
            return Err(FileError::system(&self.path, &failed));
        }
        Ok(())
    }

    fn resized(&self, ledger: &mut Ledger<'_>, longer: u64, shorter: u64) {
        if let Some(file) = self.counted {
            ledger.resized(file, longer, shorter);
        }
    }

    /// Moves the position, and answers with it.
    pub fn seek(&mut self, from: Whence, offset: i64) -> Result<u64, FileError> {
        let to = match from {
            Whence::Start => SeekFrom::Start(u64::try_from(offset).map_err(|_| self.invalid())?),
            Whence::Current => SeekFrom::Current(offset),
            Whence::End => SeekFrom::End(offset),
        };
        self.file.seek(to).map_err(|error| FileError::system(&self.path, &error))
    }

    fn check_writes(&self) -> Result<(), FileError> {
        if self.mode.writes() { Ok(()) } else { Err(FileError::wrong_mode(&self.path)) }
    }

    fn invalid(&self) -> FileError {
        FileError::system(&self.path, &ErrorKind::InvalidInput.into())
    }

    fn position_and_size(&mut self) -> io::Result<(u64, u64)> {
        Ok((self.file.stream_position()?, self.file.metadata()?.len()))
    }
}

/// A process that passes its limit on file sizes is sent a signal that ends it, so the limit is looked at first.
#[cfg(unix)]
pub fn check_file_size(size: u64) -> io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| size > limit) { Err(ErrorKind::FileTooLarge.into()) } else { Ok(()) }
}

#[cfg(not(unix))]
pub fn check_file_size(_size: u64) -> io::Result<()> {
    Ok(())
}
