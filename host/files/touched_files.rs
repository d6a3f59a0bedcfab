//! The files that a session created, changed or removed, and their state on disk at its end.

use super::{directory::Files, error::FileError, path::FilePath, resolve};
use cap_std::fs::Dir;
use serde::Serialize;
use std::{collections::BTreeMap, io::ErrorKind, sync::Arc};

/// The maximum number of files that a run may touch. The host keeps them, checks each one when the run ends, and reports all of them.
const MAX_TOUCHED: usize = 20_000;

/// The maximum size of all names of touched files together.
const MAX_NAME_BYTES: usize = 1 << 20;

/// A file that a run created, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TouchedFile {
    /// The path, relative to the io directory.
    pub name: String,
    /// The operation.
    pub op: FileOperation,
    /// The size on disk after the run. `None` if the file was removed or its size is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The run was stopped before all bytes were written to the file.
    #[serde(rename = "cut", skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The operation of a run on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FileOperation {
    /// The file was created, emptied or changed.
    Write,
    /// The file was only appended to.
    Append,
    /// The file does not exist after the run.
    Remove,
}

impl FileOperation {
    /// Returns the name that is used in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Append => "append",
            Self::Remove => "remove",
        }
    }
}

/// The files that a session has touched so far, by path.
#[derive(Debug, Default)]
pub struct TouchedFiles {
    files: BTreeMap<FilePath, Changes>,
    name_bytes: usize,
}

#[derive(Debug)]
struct Changes {
    only_appended: bool,
    truncated: bool,
}

impl TouchedFiles {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns an error if the file can't be recorded because of a limit.
    pub fn check(&self, path: &FilePath) -> Result<(), FileError> {
        if self.files.contains_key(path) || (self.files.len() < MAX_TOUCHED && self.name_bytes + path.name().len() <= MAX_NAME_BYTES) {
            return Ok(());
        }
        Err(FileError::Limit(format!("too many files touched (max {MAX_TOUCHED}, with {MAX_NAME_BYTES} bytes of names)")))
    }

    /// Records that a file was created, emptied, changed or removed.
    pub fn change(&mut self, path: &FilePath) {
        self.record(path, false);
    }

    /// Records that a file was appended to, or created for appending.
    pub fn append(&mut self, path: &FilePath) {
        self.record(path, true);
    }

    /// Records that bytes for a file were lost before they were written.
    pub fn truncate(&mut self, path: &FilePath, append: bool) {
        self.record(path, append).truncated = true;
    }

    fn record(&mut self, path: &FilePath, append: bool) -> &mut Changes {
        let name_bytes = &mut self.name_bytes;
        let changes = self.files.entry(path.clone()).or_insert_with(|| {
            *name_bytes += path.name().len();
            Changes { only_appended: true, truncated: false }
        });
        changes.only_appended &= append;
        changes
    }

    /// Returns the state of each file on disk.
    pub fn report(self, files: &Files) -> Vec<TouchedFile> {
        let mut sizes = SizeLookup::new(files);
        let report = |(path, changes): (FilePath, Changes)| {
            let name = path.name().to_owned();
            let op = if changes.only_appended { FileOperation::Append } else { FileOperation::Write };
            match sizes.size(&path) {
                Ok(None) => TouchedFile { name, op: FileOperation::Remove, bytes: None, truncated: false },
                size => TouchedFile { name, op, bytes: size.ok().flatten(), truncated: changes.truncated },
            }
        };
        self.files.into_iter().map(report).collect()
    }
}

/// Looks up the sizes of files in path order. Directories that consecutive files share are opened once.
struct SizeLookup<'a> {
    files: &'a Files,
    /// The open directories on the path to the last file, with their names.
    directories: Vec<(String, Arc<Dir>)>,
}

impl<'a> SizeLookup<'a> {
    fn new(files: &'a Files) -> Self {
        Self { files, directories: Vec::new() }
    }

    /// Returns the size of a regular file, or `None` if there is no such file.
    fn size(&mut self, path: &FilePath) -> Result<Option<u64>, FileError> {
        let (directories, name) = path.split()?;
        let Some(directory) = self.directory(path, directories)? else { return Ok(None) };
        match directory.symlink_metadata(name) {
            Ok(metadata) => Ok(metadata.is_file().then(|| metadata.len())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::system(path, error)),
        }
    }

    fn directory<'p>(&mut self, path: &FilePath, names: impl Iterator<Item = &'p str>) -> Result<Option<Arc<Dir>>, FileError> {
        let Some(mut directory) = self.files.root(path)? else { return Ok(None) };
        for (depth, name) in names.enumerate() {
            if self.directories.get(depth).is_none_or(|(open, _)| open != name) {
                self.directories.truncate(depth);
                let Some(next) = resolve::open_child(&directory, path, name)? else { return Ok(None) };
                self.directories.push((name.to_owned(), Arc::new(next)));
            }
            directory = Arc::clone(&self.directories[depth].1);
        }
        Ok(Some(directory))
    }
}

#[cfg(test)]
mod tests {
    use super::{FilePath, MAX_NAME_BYTES, MAX_TOUCHED, TouchedFiles};

    fn path(name: &str) -> FilePath {
        FilePath::parse(name.as_bytes()).unwrap()
    }

    #[test]
    fn the_number_of_touched_files_is_limited() {
        let mut touched = TouchedFiles::default();
        for number in 0..MAX_TOUCHED {
            touched.check(&path(&number.to_string())).unwrap();
            touched.change(&path(&number.to_string()));
        }
        touched.check(&path("7")).unwrap();
        let message = touched.check(&path("x")).unwrap_err().to_string();
        assert_eq!(message, "too many files touched (max 20000, with 1048576 bytes of names)");
    }

    #[test]
    fn the_size_of_all_names_is_limited() {
        let mut touched = TouchedFiles::default();
        let mut count = 0;
        let long = |count: usize| path(&format!("{count:05}/{}", "n".repeat(244)));
        while touched.check(&long(count)).is_ok() {
            touched.append(&long(count));
            count += 1;
        }
        assert_eq!(count, MAX_NAME_BYTES / 250);
    }
}
