//! What a session left its mark on: the state on disk after it.

use super::{error::FileError, path::FilePath, root::Files, walk};
use serde::Serialize;
use std::collections::BTreeMap;

/// Files that a run may touch, and bytes of their names: the host holds them, looks at each when the run has ended, and tells
/// whoever asked for the run.
const MAX_TOUCHED: usize = 20_000;
const MAX_NAMES: usize = 1 << 20;

/// A file that a run made, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TouchedFile {
    /// The path, relative to the io dir.
    pub name: String,
    /// What became of it.
    pub op: FileOperation,
    /// Its size on disk after the run; nothing if it was removed, or if the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The run was stopped while bytes for it were not yet on disk.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FileOperation {
    /// It was made, emptied or changed.
    Write,
    /// It was only ever appended to.
    Append,
    /// It is gone.
    Remove,
}

impl FileOperation {
    /// The word in the outcome.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Append => "append",
            Self::Remove => "remove",
        }
    }
}

/// The files that a session has touched so far, by name.
#[derive(Debug, Default)]
pub struct Touched {
    files: BTreeMap<FilePath, Mark>,
    names: usize,
}

#[derive(Debug)]
struct Mark {
    only_appended: bool,
    cut: bool,
}

impl Touched {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether there is room for one more.
    pub fn check(&self, path: &FilePath) -> Result<(), FileError> {
        if self.files.contains_key(path) || (self.files.len() < MAX_TOUCHED && self.names + path.name().len() <= MAX_NAMES) {
            return Ok(());
        }
        Err(FileError::Limit(format!("too many files touched (max {MAX_TOUCHED}, with {MAX_NAMES} bytes of names)")))
    }

    /// The file was made, emptied, changed or removed.
    pub fn change(&mut self, path: &FilePath) {
        self.mark(path, false);
    }

    /// The file was appended to, or made in order to be.
    pub fn append(&mut self, path: &FilePath) {
        self.mark(path, true);
    }

    /// Bytes for the file are not on disk, and won't be.
    pub fn cut(&mut self, path: &FilePath, append: bool) {
        self.mark(path, append).cut = true;
    }

    fn mark(&mut self, path: &FilePath, append: bool) -> &mut Mark {
        let names = &mut self.names;
        let mark = self.files.entry(path.clone()).or_insert_with(|| {
            *names += path.name().len();
            Mark { only_appended: true, cut: false }
        });
        mark.only_appended &= append;
        mark
    }

    /// Looks at the disk and tells what became of each.
    pub fn report(self, files: &Files) -> Vec<TouchedFile> {
        let mut surveyor = walk::Surveyor::new(files);
        let report = |(path, mark): (FilePath, Mark)| {
            let name = path.name().to_owned();
            let op = if mark.only_appended { FileOperation::Append } else { FileOperation::Write };
            match surveyor.size(&path) {
                Ok(None) => TouchedFile { name, op: FileOperation::Remove, bytes: None, cut: false },
                size => TouchedFile { name, op, bytes: size.ok().flatten(), cut: mark.cut },
            }
        };
        self.files.into_iter().map(report).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{FilePath, MAX_NAMES, MAX_TOUCHED, Touched};

    fn path(name: &str) -> FilePath {
        FilePath::parse(name.as_bytes()).unwrap()
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut touched = Touched::default();
        for number in 0..MAX_TOUCHED {
            touched.check(&path(&number.to_string())).unwrap();
            touched.change(&path(&number.to_string()));
        }
        touched.check(&path("7")).unwrap();
        let message = touched.check(&path("x")).unwrap_err().to_string();
        assert_eq!(message, "too many files touched (max 20000, with 1048576 bytes of names)");
    }

    #[test]
    fn long_names_count_by_their_bytes() {
        let mut touched = Touched::default();
        let mut count = 0;
        let long = |count: usize| path(&format!("{count:05}/{}", "n".repeat(244)));
        while touched.check(&long(count)).is_ok() {
            touched.append(&long(count));
            count += 1;
        }
        assert_eq!(count, MAX_NAMES / 250);
    }
}
