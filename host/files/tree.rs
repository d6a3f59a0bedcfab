//! All files below the io dir, and the contents of one: for those who look at them from outside of a script.

use super::{
    disk::ENTRY,
    error::FileError,
    handle::Mode,
    path::{FilePath, MAX_COMPONENTS},
    quota::Quota,
    root::Files,
    walk,
};
use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use std::{io::Read as _, sync::Arc};

/// Files that a listing may have: the host holds their names.
const MAX_FILES: usize = 100_000;

/// A file below the io dir.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileEntry {
    /// The path, relative to the io dir.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

impl Files {
    /// All regular files, in name order. Links are left out and not followed, and so are names that are not UTF-8. It blocks.
    ///
    /// # Errors
    ///
    /// When a folder can't be read, or there are more than 100,000 files.
    pub fn tree(&self) -> Result<Vec<FileEntry>, FileError> {
        let (mut entries, mut folders) = (Vec::new(), 0);
        visit(self, |entry| {
            match entry {
                Found { name: Some(name), bytes: Some(bytes) } => entries.push(FileEntry { name, bytes }),
                Found { .. } => folders += 1,
            }
            if entries.len() + folders > MAX_FILES {
                return Err(FileError::Limit(format!("there are more than {MAX_FILES} files")));
            }
            Ok(())
        })?;
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// The contents of a file, if it has at most so many bytes. It blocks.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is no such file, it can't be read, or it is larger.
    pub fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, FileError> {
        let path = FilePath::parse(path.as_bytes())?;
        let opened = walk::open(self, &path, Mode::Read, &mut Quota::new(0, 0))?;
        let mut bytes = Vec::new();
        let read = opened.file.take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| FileError::system(&path, &error))?;
        if bytes.len() as u64 > most {
            return Err(FileError::Limit(format!("{}: it is larger than the {most} bytes that can be read at once", path.name())));
        }
        Ok(bytes)
    }
}

/// What all files take, as [`super::disk`] counts it.
pub fn size(files: &Files) -> Result<u64, FileError> {
    let mut total = 0_u64;
    visit(files, |entry| {
        total = total.saturating_add(ENTRY).saturating_add(entry.bytes.unwrap_or(0));
        Ok(())
    })?;
    Ok(total)
}

/// Something below the io dir.
struct Found {
    /// Its path, if that is UTF-8.
    name: Option<String>,
    /// Its size, if it is a regular file.
    bytes: Option<u64>,
}

/// Looks at everything below the io dir, in no order, following no link.
fn visit(files: &Files, mut found: impl FnMut(Found) -> Result<(), FileError>) -> Result<(), FileError> {
    let here = FilePath::parse(b".")?;
    let system = |error: std::io::Error| FileError::system(&here, &error);
    let mut folders: Vec<(Option<String>, usize, Arc<Dir>)> =
        files.root(&here)?.into_iter().map(|root| (Some(String::new()), 0, root)).collect();
    while let Some((prefix, depth, folder)) = folders.pop() {
        for entry in folder.entries().map_err(system)? {
            let entry = entry.map_err(system)?;
            let own_name = entry.file_name();
            let name = prefix.as_ref().zip(own_name.to_str()).map(|(prefix, name)| format!("{prefix}{name}"));
            let kind = entry.file_type().map_err(system)?;
            let mut bytes = None;
            if kind.is_file() {
                // What is gone by now is not there.
                let Ok(metadata) = entry.metadata() else { continue };
                bytes = Some(metadata.len());
            } else if kind.is_dir() && depth + 1 < MAX_COMPONENTS {
                // The same, and what became a link meanwhile.
                if let Ok(next) = folder.open_dir_nofollow(&own_name) {
                    folders.push((name.as_ref().map(|name| format!("{name}/")), depth + 1, Arc::new(next)));
                }
            }
            found(Found { name, bytes })?;
        }
    }
    Ok(())
}
