//! Files that are written whole before anybody sees them.
//!
//! They lie in a folder of their own at the top of the io dir, whose name is reserved: no path may have it, and no listing shows it.
//! Who writes holds a lock on that folder, so that whoever opens the io dir next can tell what a process left behind that was killed.

use super::reserved::TEMPORARY;
use crate::random::random;
use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Permissions};
use cap_tempfile::TempFile;
use std::io::{self, ErrorKind, Write as _};

/// A file that is complete. Dropped, it is gone.
pub struct Staged {
    folder: Dir,
    name: String,
    _lock: Option<Lock>,
}

impl Staged {
    /// Writes the contents of a file that is to be.
    pub fn write(root: &Dir, contents: &[u8], permissions: Option<Permissions>) -> io::Result<Self> {
        let folder = open_or_make(root)?;
        let lock = Lock::shared(&folder)?;
        let name = format!("{:016x}", random());
        // Where the system can, it has no name until it is complete.
        let mut file = TempFile::new(&folder)?;
        file.write_all(contents)?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.replace(&name)?;
        Ok(Self { folder, name, _lock: lock })
    }

    /// Puts the file in its place, instead of one that may be there.
    pub fn replace(self, folder: &Dir, name: &str) -> io::Result<()> {
        self.folder.rename(&self.name, folder, name)
    }

    /// Puts the file in its place, if there is nothing.
    pub fn create(self, folder: &Dir, name: &str) -> io::Result<()> {
        // Not every file system can do both.
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        match rustix::fs::renameat_with(&self.folder, &self.name, folder, name, rustix::fs::RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {}
            renamed => return Ok(renamed?),
        }
        self.folder.hard_link(&self.name, folder, name)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a rename there is nothing to remove.
        let _ = self.folder.remove_file(&self.name);
    }
}

/// Removes what a process left behind that was killed, unless somebody is writing at this moment.
pub fn sweep(root: &Dir) -> io::Result<()> {
    let folder = match root.open_dir_nofollow(TEMPORARY) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        folder => folder?,
    };
    let _alone = Lock::alone(&folder)?;
    for entry in folder.entries()? {
        // What is no file was put there by somebody else.
        let _ = folder.remove_file(entry?.file_name());
    }
    Ok(())
}

fn open_or_make(root: &Dir) -> io::Result<Dir> {
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

    /// How often a lock is asked for that somebody else has, and how long after the last time.
    const ATTEMPTS: usize = 1000;
    const PAUSE: Duration = Duration::from_millis(1);

    /// A lock on a folder, which ends with it.
    pub struct Lock {
        _handle: OwnedFd,
    }

    impl Lock {
        /// Of those who write. Who sweeps is done in a moment; a file system without locks is never swept, and needs none.
        pub fn shared(folder: &Dir) -> io::Result<Option<Self>> {
            for _ in 0..ATTEMPTS {
                match Self::take(folder, FlockOperation::NonBlockingLockShared) {
                    Ok(lock) => return Ok(Some(lock)),
                    Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL) => return Ok(None),
                    Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
                    Err(error) => return Err(error.into()),
                }
            }
            Err(io::ErrorKind::ResourceBusy.into())
        }

        /// Of one who sweeps; an error if somebody writes.
        pub fn alone(folder: &Dir) -> io::Result<Self> {
            Ok(Self::take(folder, FlockOperation::NonBlockingLockExclusive)?)
        }

        fn take(folder: &Dir, operation: FlockOperation) -> Result<Self, Errno> {
            // The folder's own handle is one for paths only, which can't be locked.
            let handle = openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            retry_on_intr(|| flock(&handle, operation))?;
            Ok(Self { _handle: handle })
        }
    }
}

/// Without locks nobody can tell what is left behind.
#[cfg(not(unix))]
struct Lock;

#[cfg(not(unix))]
impl Lock {
    fn shared(_: &Dir) -> io::Result<Option<Self>> {
        Ok(None)
    }

    fn alone(_: &Dir) -> io::Result<Self> {
        Err(ErrorKind::Unsupported.into())
    }
}
