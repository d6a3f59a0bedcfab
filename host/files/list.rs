//! Directory listings.

use super::{
    directory::Files,
    error::FileError,
    path::FilePath,
    protected_names::{Access, NameRules},
    resolve,
};
use cap_std::fs::{Dir, DirEntry, Metadata};
use std::time::SystemTime;

/// The maximum number of names in a listing. The host holds all of them, and copies them for the caller.
pub const MAX_NAMES: usize = 100_000;

/// The maximum size of all names in a listing together.
const MAX_NAME_BYTES: usize = 4 << 20;

/// The metadata of a file or directory in the io directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileInfo {
    /// The name. In a listing it is relative to the listed directory, in a search result to the io directory. A name that is not UTF-8
    /// is marked with "(not UTF-8)".
    pub name: String,
    /// The kind of file.
    pub kind: FileKind,
    /// The size of a regular file, otherwise 0.
    pub bytes: u64,
    /// The time of the last change, if the file system has it.
    pub modified: Option<SystemTime>,
}

/// The kind of a file in the io directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symlink, which is never followed.
    Symlink,
    /// A FIFO, a socket or a device, which is never opened.
    Other,
}

impl FileKind {
    /// Returns the name that is used in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "folder",
            Self::Symlink => "link",
            Self::Other => "other",
        }
    }
}

impl FileInfo {
    pub(super) fn new(name: String, metadata: &Metadata) -> Self {
        let kind = match metadata.file_type() {
            kind if kind.is_file() => FileKind::File,
            kind if kind.is_dir() => FileKind::Directory,
            kind if kind.is_symlink() => FileKind::Symlink,
            _ => FileKind::Other,
        };
        let bytes = if kind == FileKind::File { metadata.len() } else { 0 };
        Self { name, kind, bytes, modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std) }
    }
}

impl Files {
    /// Lists a directory, sorted by name. An io directory that does not exist yet is empty. Blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid, or the directory does not exist, can't be read or has too many names.
    pub fn list(&self, path: &str) -> Result<Vec<FileInfo>, FileError> {
        let path = self.resolve(path.as_bytes(), Access::Read)?;
        let mut infos = Vec::new();
        let Some(directory) = resolve::directory(self, &path)? else { return Ok(infos) };
        for_each_name(&directory, &path, self.names(), |name, entry| {
            // A file that was removed in the meantime is skipped.
            if let Ok(metadata) = directory.symlink_metadata(entry.file_name()) {
                infos.push(FileInfo::new(name, &metadata));
            }
        })?;
        infos.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(infos)
    }
}

/// Calls `visit` for each name in a directory, except for hidden ones. A name that is not UTF-8 is marked.
pub fn for_each_name(
    directory: &Dir,
    path: &FilePath,
    names: NameRules,
    mut visit: impl FnMut(String, &DirEntry),
) -> Result<(), FileError> {
    let system = |error| FileError::system(path, error);
    let (mut count, mut bytes) = (0, 0);
    for entry in directory.entries().map_err(system)? {
        let entry = entry.map_err(system)?;
        let name = entry.file_name().into_string().unwrap_or_else(|name| format!("{} (not UTF-8)", name.to_string_lossy()));
        if names.hides(&name) {
            continue;
        }
        count += 1;
        bytes += name.len();
        if count > MAX_NAMES || bytes > MAX_NAME_BYTES {
            let message = format!("{}: too many names to list (max {MAX_NAMES}, {MAX_NAME_BYTES} bytes)", path.name());
            return Err(FileError::Limit(message));
        }
        visit(name, &entry);
    }
    Ok(())
}
