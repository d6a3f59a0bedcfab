//! Temporary files for atomic writes: a file is written completely before it gets its final name.
//!
//! Temporary files are stored in a directory with a reserved name at the top of the io directory. A writer holds a shared lock on that
//! directory. If no writer holds it, the files in the directory are leftovers of a killed process. They are removed when the io directory
//! is opened.

use super::reserved_names::TEMPORARY;
use crate::random::random;
use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, File};
use cap_tempfile::TempFile;
use std::io::{self, ErrorKind, Write as _};

/// A complete temporary file. It is removed when dropped.
pub struct StagedFile {
    directory: Dir,
    name: String,
    _lock: Option<Lock>,
}

impl StagedFile {
    /// Writes the contents to a temporary file. `prepare` sets the attributes of the file before it gets a name.
    pub fn write(root: &Dir, contents: &[u8], prepare: impl FnOnce(&File) -> io::Result<()>) -> io::Result<Self> {
        let directory = open_or_create(root)?;
        let lock = Lock::shared(&directory)?;
        let name = format!("{:016x}", random());
        // On systems that support it, the file has no name until it is complete.
        let mut file = TempFile::new(&directory)?;
        file.write_all(contents)?;
        prepare(file.as_file())?;
        file.replace(&name)?;
        Ok(Self { directory, name, _lock: lock })
    }

    /// Moves the file to its final name. An existing file is replaced.
    pub fn replace(self, directory: &Dir, name: &str) -> io::Result<()> {
        self.directory.rename(&self.name, directory, name)
    }

    /// Moves the file to its final name. Returns an error if that name exists.
    pub fn create(self, directory: &Dir, name: &str) -> io::Result<()> {
        // Not every file system supports this kind of rename, so a hard link is the fallback.
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        match rustix::fs::renameat_with(&self.directory, &self.name, directory, name, rustix::fs::RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {}
            renamed => return Ok(renamed?),
        }
        self.directory.hard_link(&self.name, directory, name)
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        // After a rename, the temporary name no longer exists and this does nothing.
        let _ = self.directory.remove_file(&self.name);
    }
}

/// Removes temporary files that a killed process left behind. Returns an error if a writer is active.
pub fn sweep(root: &Dir) -> io::Result<()> {
    let directory = match root.open_dir_nofollow(TEMPORARY) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        directory => directory?,
    };
    let _exclusive = Lock::exclusive(&directory)?;
    for entry in directory.entries()? {
        // Anything but a file was not put there by this program, and stays.
        let _ = directory.remove_file(entry?.file_name());
    }
    Ok(())
}

fn open_or_create(root: &Dir) -> io::Result<Dir> {
    match root.open_dir_nofollow(TEMPORARY) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        opened => return opened,
    }
    match root.create_dir(TEMPORARY) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => root.open_dir_nofollow(TEMPORARY),
    }
}

#[cfg(unix)]
use unix::Lock;

#[cfg(unix)]
mod unix {
    use cap_std::fs::Dir;
    use rustix::{
        fd::OwnedFd,
        fs::{FlockOperation, Mode, OFlags, flock, openat},
        io::{Errno, retry_on_intr},
    };
    use std::{io, time::Duration};

    /// The number of attempts to get a lock that another process holds.
    const LOCK_ATTEMPTS: usize = 1000;

    /// The pause between two attempts.
    const LOCK_RETRY_DELAY: Duration = Duration::from_millis(1);

    /// A lock on a directory. It is released when dropped.
    pub struct Lock {
        _descriptor: OwnedFd,
    }

    impl Lock {
        /// Acquires the lock of a writer, and waits for a sweep to end.
        ///
        /// Returns `None` on a file system without locks, on which [`sweep`](super::sweep) never removes anything.
        pub fn shared(directory: &Dir) -> io::Result<Option<Self>> {
            for _ in 0..LOCK_ATTEMPTS {
                match Self::acquire(directory, FlockOperation::NonBlockingLockShared) {
                    Ok(lock) => return Ok(Some(lock)),
                    Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL) => return Ok(None),
                    Err(Errno::WOULDBLOCK) => std::thread::sleep(LOCK_RETRY_DELAY),
                    Err(error) => return Err(error.into()),
                }
            }
            Err(io::ErrorKind::ResourceBusy.into())
        }

        /// Acquires the lock of a sweep. Returns an error if a writer is active.
        pub fn exclusive(directory: &Dir) -> io::Result<Self> {
            Ok(Self::acquire(directory, FlockOperation::NonBlockingLockExclusive)?)
        }

        fn acquire(directory: &Dir, operation: FlockOperation) -> Result<Self, Errno> {
            // The descriptor of a `Dir` is opened with `O_PATH`, which can't be locked.
            let descriptor = openat(directory, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            retry_on_intr(|| flock(&descriptor, operation))?;
            Ok(Self { _descriptor: descriptor })
        }
    }
}

/// A lock that is never acquired. Without locks, leftover files can't be distinguished from files in use, so they are never removed.
#[cfg(not(unix))]
struct Lock;

#[cfg(not(unix))]
impl Lock {
    fn shared(_: &Dir) -> io::Result<Option<Self>> {
        Ok(None)
    }

    fn exclusive(_: &Dir) -> io::Result<Self> {
        Err(ErrorKind::Unsupported.into())
    }
}
