//! Owner, mode and extended attributes of a file that replaces another one.
//!
//! The contents of the new file come from a script or a model, so it never gets the privileges of the old one: the setuid and setgid bits
//! and file capabilities are dropped.

use cap_std::fs::{Dir, File};
use std::io;

/// The reason for which a replacement was rejected: the process may not give the new file the owner or the group of the old one.
#[derive(Debug, thiserror::Error)]
#[error("the owner or group can't be kept")]
pub struct OwnerNotKept;

/// Gives a new file the attributes of the file that it replaces.
///
/// # Errors
///
/// Returns an error with [`OwnerNotKept`] if owner or group can't be kept, and an error of the operating system if the mode or an
/// attribute of the user can't be.
pub fn copy(old: &File, new: &File) -> io::Result<()> {
    #[cfg(unix)]
    unix::copy(old, new)?;
    #[cfg(not(unix))]
    new.set_permissions(old.metadata()?.permissions())?;
    Ok(())
}

/// Gives a new file the group of a directory with the setgid bit, as the operating system does for files that are created in it.
///
/// # Errors
///
/// Returns an error with [`OwnerNotKept`] if the process may not do so.
pub fn inherit_group(directory: &Dir, new: &File) -> io::Result<()> {
    #[cfg(unix)]
    unix::inherit_group(directory, new)?;
    #[cfg(not(unix))]
    let _ = (directory, new);
    Ok(())
}

/// Removes the setuid and setgid bits of a file that is about to be changed. The operating system does so only for writes of
/// unprivileged processes.
///
/// # Errors
///
/// Returns an error if the mode can't be changed.
pub fn clear_privileges(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    unix::clear_privileges(file)?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

#[cfg(unix)]
mod unix {
    use super::OwnerNotKept;
    use cap_std::fs::{Dir, File};
    use rustix::{
        fs::{Gid, Mode, Uid, fchmod, fchown, fstat},
        io::Errno,
    };
    use std::io::{self, ErrorKind};

    pub fn copy(old: &File, new: &File) -> io::Result<()> {
        let (from, to) = (fstat(old)?, fstat(new)?);
        let owner = (from.st_uid != to.st_uid).then(|| Uid::from_raw(from.st_uid));
        let group = (from.st_gid != to.st_gid).then(|| Gid::from_raw(from.st_gid));
        change_owner(new, owner, group)?;
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        super::extended::copy(old, new)?;
        // After the owner and an access control list, because both change the mode.
        fchmod(new, unprivileged(from.st_mode))?;
        Ok(())
    }

    pub fn inherit_group(directory: &Dir, new: &File) -> io::Result<()> {
        let (from, to) = (fstat(directory)?, fstat(new)?);
        let inherits = Mode::from_raw_mode(from.st_mode).contains(Mode::SGID) && from.st_gid != to.st_gid;
        change_owner(new, None, inherits.then(|| Gid::from_raw(from.st_gid)))
    }

    pub fn clear_privileges(file: &File) -> io::Result<()> {
        let mode = fstat(file)?.st_mode;
        if !Mode::from_raw_mode(mode).intersects(Mode::SUID | Mode::SGID) {
            return Ok(());
        }
        match fchmod(file, unprivileged(mode)) {
            // The process is neither the owner nor privileged, so the operating system clears the bits.
            Err(Errno::PERM) => Ok(()),
            cleared => Ok(cleared?),
        }
    }

    fn change_owner(file: &File, owner: Option<Uid>, group: Option<Gid>) -> io::Result<()> {
        if owner.is_none() && group.is_none() {
            return Ok(());
        }
        match fchown(file, owner, group) {
            Err(Errno::PERM) => Err(io::Error::new(ErrorKind::PermissionDenied, OwnerNotKept)),
            changed => Ok(changed?),
        }
    }

    fn unprivileged(mode: rustix::fs::RawMode) -> Mode {
        Mode::from_raw_mode(mode) - (Mode::SUID | Mode::SGID)
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod extended {
    use crate::allocation;
    use cap_std::fs::File;
    use rustix::{
        fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr},
        io::Errno,
    };
    use std::io;

    /// The maximum size of all names of the attributes of a file, and of one value. Linux has the same limit.
    const MAX_SIZE: u64 = 64 << 10;

    /// Attributes that are privileges, or that authenticate the old contents.
    const NOT_COPIED: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];

    /// Copies all extended attributes, except privileges.
    pub fn copy(old: &File, new: &File) -> io::Result<()> {
        let mut names = allocation::buffer(MAX_SIZE)?;
        match flistxattr(old, rustix::buffer::spare_capacity(&mut names)) {
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
            listed => listed?,
        };
        let mut value = allocation::buffer(MAX_SIZE)?;
        for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !NOT_COPIED.contains(name)) {
            value.clear();
            let copied = match fgetxattr(old, name, rustix::buffer::spare_capacity(&mut value)) {
                // Another program removed it in the meantime.
                Err(Errno::NODATA) => continue,
                Err(error) => Err(error),
                Ok(_) => fsetxattr(new, name, &value, XattrFlags::empty()),
            };
            match copied {
                // Only privileged processes may read and set attributes outside of these classes.
                Err(_) if !name.starts_with(b"user.") && !name.starts_with(b"system.") => {}
                copied => copied?,
            }
        }
        Ok(())
    }
}
