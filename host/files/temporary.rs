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
}

impl Staged {
    /// Writes the contents of a file that is to be.
    pub fn write(root: &Dir, contents: &[u8], permissions: Option<Permissions>) -> io::Result<Self> {
        let folder = open_or_make(root)?;
        lock(&folder, Lock::Shared)?;
        let name = format!("{:016x}", RandomState::new().hash_one(0));
        // Where the system can, it has no name until it is complete.
        let mut file = TempFile::new(&folder)?;
        file.write_all(contents)?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.replace(&name)?;
        Ok(Self { folder, name })
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
    lock(&folder, Lock::Alone)?;
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

enum Lock {
    /// Of those who write; waits for one who sweeps.
    Shared,
    /// Of one who sweeps; an error if somebody writes.
    Alone,
}

/// Locks a folder until this handle on it is closed.
#[cfg(unix)]
fn lock(folder: &Dir, how: Lock) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    let (operation, is_needed) = match how {
        Lock::Shared => (FlockOperation::LockShared, false),
        Lock::Alone => (FlockOperation::NonBlockingLockExclusive, true),
    };
    match rustix::io::retry_on_intr(|| flock(folder, operation)) {
        // A file system without locks: then nothing is swept.
        Err(error) if is_needed => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn lock(_: &Dir, how: Lock) -> io::Result<()> {
    if matches!(how, Lock::Alone) { Err(ErrorKind::Unsupported.into()) } else { Ok(()) }
}
