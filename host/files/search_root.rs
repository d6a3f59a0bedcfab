//! The directory in which a search starts.

use super::{directory::Files, error::FileError, path::FilePath, protected_names::Access, resolve};
use cap_std::fs::Dir;
use std::sync::Arc;

/// The directory in which a traversal starts.
pub struct SearchRoot {
    pub directory: Arc<Dir>,
    /// The path of the directory with a final slash, or nothing for the io directory.
    pub prefix: String,
}

impl SearchRoot {
    /// Opens the directory at `path`, and in it the literal directories that a pattern begins with.
    ///
    /// Returns `None` if one of them does not exist.
    pub fn open(files: &Files, path: &FilePath, literal_directories: &[String]) -> Result<Option<Self>, FileError> {
        let Some(mut directory) = resolve::directory(files, path)? else { return Ok(None) };
        let mut prefix = if *path == FilePath::root() { String::new() } else { format!("{}/", path.name()) };
        for name in literal_directories {
            // The names come from a pattern, so the rules for paths are checked here.
            let below = FilePath::parse([&prefix, name.as_str()].concat().as_bytes())?;
            files.names().check(&below, Access::Read)?;
            let Some(next) = resolve::open_child(&directory, &below, name)? else { return Ok(None) };
            (directory, prefix) = (Arc::new(next), format!("{}/", below.name()));
        }
        Ok(Some(Self { directory, prefix }))
    }
}
