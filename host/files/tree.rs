//! All files below the io dir, and the contents of one: for those who look at them from outside of a script.

use super::{
    error::FileError,
    handle::Mode,
    path::{FilePath, MAX_COMPONENTS},
    quota::Quota,
    root::Files,
    walk,
};
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
        let mut entries = Vec::new();
        let here = FilePath::parse(b".")?;
        let mut folders: Vec<(String, usize, Arc<Dir>)> = self.root(&here)?.into_iter().map(|root| (String::new(), 0, root)).collect();
        while let Some((prefix, depth, folder)) = folders.pop() {
            let system = |error: std::io::Error| FileError::system(&here, &error);
            for entry in folder.entries().map_err(system)? {
                let entry = entry.map_err(system)?;
                let Ok(own_name) = entry.file_name().into_string() else { continue };
                let name = format!("{prefix}{own_name}");
                let kind = entry.file_type().map_err(system)?;
                if kind.is_file() {
                    // What is gone by now is not there.
                    let Ok(metadata) = entry.metadata() else { continue };
                    entries.push(FileEntry { name, bytes: metadata.len() });
                } else if kind.is_dir() && depth + 1 < MAX_COMPONENTS {
                    // The same, and what became a link meanwhile.
                    if let Ok(Some(next)) = walk::step(&folder, &here, &own_name) {
                        folders.push((format!("{name}/"), depth + 1, Arc::new(next)));
                    }
                }
                if entries.len() + folders.len() > MAX_FILES {
                    return Err(FileError::Limit(format!("there are more than {MAX_FILES} files")));
                }
            }
        }
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
