//! Files that are written whole before anybody sees them.
//!
//! They lie in a folder of their own at the top of the io dir, whose name is reserved: no path may have it, and no listing shows it.
//! Who writes holds a lock on that folder, so that whoever opens the io dir next can tell what a process left behind that was killed.

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Permissions};
use cap_tempfile::TempFile;
use std::{
    hash::{BuildHasher as _, RandomState},
    io::{self, ErrorKind, Write as _},
};

/// The folder of temporary files.
const FOLDER: &str = ".toolscript-tmp";

/// Whether a name is not for files of scripts; some file systems take no notice of case.
pub fn is_reserved(name: &str) -> bool {
    name.eq_ignore_ascii_case(FOLDER)
}

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
        let lock = Lock::shared(&folder);
        let name = format!("{:016x}", RandomState::new().hash_one(0));
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
    let folder = match root.open_dir_nofollow(FOLDER) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        folder => folder?,
    };
    let _alone = Lock::alone(&folder)?;
    for entry in folder.entries()? {
        folder.remove_file(entry?.file_name())?;
    }
    Ok(())
}

fn open_or_make(root: &Dir) -> io::Result<Dir> {
    match root.open_dir_nofollow(FOLDER) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        opened => return opened,
    }
    match root.create_dir(FOLDER) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => root.open_dir_nofollow(FOLDER),
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
        io::retry_on_intr,
    };
    use std::io;

    /// A lock on a folder, which ends with it.
    pub struct Lock {
        _handle: OwnedFd,
    }

    impl Lock {
        /// Of those who write; waits for one who sweeps. A file system without locks is never swept, and needs none.
        pub fn shared(folder: &Dir) -> Option<Self> {
            Self::take(folder, FlockOperation::LockShared).ok()
        }

        /// Of one who sweeps; an error if somebody writes.
        pub fn alone(folder: &Dir) -> io::Result<Self> {
            Self::take(folder, FlockOperation::NonBlockingLockExclusive)
        }

        fn take(folder: &Dir, operation: FlockOperation) -> io::Result<Self> {
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
    fn shared(_: &Dir) -> Option<Self> {
        None
    }

    fn alone(_: &Dir) -> io::Result<Self> {
        Err(ErrorKind::Unsupported.into())
    }
}
