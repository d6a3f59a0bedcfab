//! What is in one folder.

use super::{error::FileError, path::FilePath, reserved::is_reserved, root::Files, walk};
use cap_std::fs::{Dir, DirEntry, Metadata};
use std::time::SystemTime;

/// Names that a listing may have, and bytes of them all: the host holds them, and copies them for whoever asked.
pub const MAX_NAMES: usize = 100_000;
const MAX_NAME_BYTES: usize = 4 << 20;

/// What is known of something in the io dir without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileInfo {
    /// The name in its folder in a listing, and the path from the io dir on in a search. One that is not UTF-8 is marked as such.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Its size, if it is a file.
    pub bytes: u64,
    /// When it was last changed, if the system tells.
    pub modified: Option<SystemTime>,
}

/// What something in the io dir is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, which nothing follows.
    Link,
    /// A FIFO, a socket or a device, which nothing opens.
    Other,
}

impl FileKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Other => "other",
        }
    }
}

impl FileInfo {
    pub(super) fn new(name: String, metadata: &Metadata) -> Self {
        let kind = match metadata.file_type() {
            kind if kind.is_file() => FileKind::File,
            kind if kind.is_dir() => FileKind::Folder,
            kind if kind.is_symlink() => FileKind::Link,
            _ => FileKind::Other,
        };
        let bytes = if kind == FileKind::File { metadata.len() } else { 0 };
        Self { name, kind, bytes, modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std) }
    }
}

impl Files {
    /// What is in a folder, sorted by name; a directory that does not exist yet is empty. It blocks.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is no such folder, it can't be read, or has too many names.
    pub fn list(&self, path: &str) -> Result<Vec<FileInfo>, FileError> {
        let path = self.resolve(path.as_bytes())?;
        let mut infos = Vec::new();
        let Some(folder) = walk::folder(self, &path)? else { return Ok(infos) };
        each(&folder, &path, |name, entry| {
            // What is gone by now is not there.
            if let Ok(metadata) = folder.symlink_metadata(entry.file_name()) {
                infos.push(FileInfo::new(name, &metadata));
            }
            Ok(())
        })?;
        infos.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(infos)
    }
}

/// Each name in a folder; one that is not UTF-8 is marked as such.
pub fn each(folder: &Dir, path: &FilePath, mut visit: impl FnMut(String, &DirEntry) -> Result<(), FileError>) -> Result<(), FileError> {
    let system = |error| FileError::system(path, &error);
    let (mut count, mut bytes) = (0, 0);
    for entry in folder.entries().map_err(system)? {
        let entry = entry.map_err(system)?;
        let name = entry.file_name().into_string().unwrap_or_else(|name| format!("{} (not UTF-8)", name.to_string_lossy()));
        if is_reserved(&name) {
            continue;
        }
        count += 1;
        bytes += name.len();
        if count > MAX_NAMES || bytes > MAX_NAME_BYTES {
            let message = format!("{}: too many names to list (max {MAX_NAMES}, {MAX_NAME_BYTES} bytes)", path.name());
            return Err(FileError::Limit(message));
        }
        visit(name, &entry)?;
    }
    Ok(())
}
