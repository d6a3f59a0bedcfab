//! What a session left its mark on: the state on disk after it.

use super::{path::FilePath, root::Files, walk};
use serde::Serialize;
use std::collections::BTreeMap;

/// A file that a run made, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileTouched {
    /// The path, relative to the io dir.
    pub name: String,
    /// What became of it.
    pub op: FileOperation,
    /// Its size on disk after the run; nothing if it was removed.
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
    files: BTreeMap<String, Mark>,
}

#[derive(Debug)]
struct Mark {
    path: FilePath,
    only_appended: bool,
    cut: bool,
}

impl Touched {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
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
        let new = || Mark { path: path.clone(), only_appended: true, cut: false };
        let mark = self.files.entry(path.name().to_owned()).or_insert_with(new);
        mark.only_appended &= append;
        mark
    }

    /// Looks at the disk and tells what became of each.
    pub fn report(self, files: &Files) -> Vec<FileTouched> {
        let report = |(name, mark): (String, Mark)| match walk::size(files, &mark.path) {
            None => FileTouched { name, op: FileOperation::Remove, bytes: None, cut: false },
            size => {
                let op = if mark.only_appended { FileOperation::Append } else { FileOperation::Write };
                FileTouched { name, op, bytes: size, cut: mark.cut }
            }
        };
        self.files.into_iter().map(report).collect()
    }
}
