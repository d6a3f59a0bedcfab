//! Files and folders by their names.

use super::{
    MAX_PATH,
    error::FileError,
    list::FileInfo,
    path::FilePath,
    pattern::{Pattern, is_hidden},
    root::Files,
    walk,
    walker::Walker,
};
use cap_std::fs::Dir;
use std::sync::Arc;

/// Names that are returned, unless the caller wants fewer or more.
const MAX_RESULTS: usize = 10_000;
const MAX_BYTES: usize = 1 << 20;

/// What is looked for by name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GlobQuery {
    /// What the paths look like, from the folder on: with `*`, `?`, `[a-z]`, `{a,b}`, and `**` for folders at any depth.
    pub pattern: String,
    /// The folder.
    pub path: String,
    /// Whether names that begin with a dot are found by what is not such a dot.
    pub hidden: bool,
    /// Names at most; 10,000 unless said otherwise.
    pub max_results: usize,
    /// Bytes of all names together; 1 MiB unless said otherwise.
    pub max_bytes: usize,
}

impl GlobQuery {
    /// A query below the folder where paths start.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self { pattern: pattern.into(), path: ".".into(), hidden: false, max_results: MAX_RESULTS, max_bytes: MAX_BYTES }
    }

    /// The same query below another folder.
    #[must_use]
    pub fn in_folder(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }
}

/// What was found by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlobResult {
    /// Files and folders, in name order; names are paths from the io dir on.
    pub entries: Vec<FileInfo>,
    /// There are more.
    pub truncated: bool,
    /// Names that are not UTF-8, which no pattern fits, paths that are too long, and folders that can't be read.
    pub skipped: u64,
}

impl Files {
    /// Files and folders whose paths fit a pattern. Links are left out and not followed. It blocks; `is_wanted` is asked on the way
    /// whether to go on.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is no such folder, the pattern means nothing, or the search is not wanted any more.
    pub fn glob(&self, query: &GlobQuery, is_wanted: &dyn Fn() -> bool) -> Result<GlobResult, FileError> {
        let pattern = Pattern::new(&query.pattern)?;
        let path = self.resolve(query.path.as_bytes())?;
        let mut found = GlobResult::default();
        let Some(Place { folder, base }) = Place::find(self, &path, &pattern.folders)? else { return Ok(found) };
        let mut walker = Walker::new(folder, None, is_wanted)?;
        let mut bytes = 0;
        while let Some(next) = walker.next()? {
            if is_hidden(next.name()) && !query.hidden && !pattern.asks_for(next.name()) {
                continue;
            }
            if next.is_folder && pattern.reaches(&next.path) {
                found.skipped += walker.try_enter(&next)?;
            }
            if !pattern.matches(&next.path) {
                continue;
            }
            // What has no path that a call would take is not found.
            if base.len() + next.path.len() > MAX_PATH {
                found.skipped += 1;
                continue;
            }
            bytes += base.len() + next.path.len();
            if found.entries.len() >= query.max_results || bytes > query.max_bytes {
                found.truncated = true;
                break;
            }
            if let Ok(metadata) = next.folder.symlink_metadata(next.name()) {
                found.entries.push(FileInfo::new([base.as_str(), &next.path].concat(), &metadata));
            }
        }
        found.skipped += walker.unreadable;
        // A folder comes before what is in it, and what is next to it may come between.
        found.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }
}

/// Where a walk begins.
pub struct Place {
    pub folder: Arc<Dir>,
    /// What is in front of its paths.
    pub base: String,
}

impl Place {
    /// The folder that a pattern begins with, below the one that was asked for; nothing if there is none.
    pub fn find(files: &Files, path: &FilePath, folders: &[String]) -> Result<Option<Self>, FileError> {
        let Some(mut folder) = walk::folder(files, path)? else { return Ok(None) };
        let mut base = if *path == FilePath::home() { String::new() } else { format!("{}/", path.name()) };
        for name in folders {
            // The rules are those of paths.
            let below = FilePath::parse([&base, name.as_str()].concat().as_bytes())?;
            let Some(next) = walk::step(&folder, &below, name)? else { return Ok(None) };
            (folder, base) = (Arc::new(next), format!("{}/", below.name()));
        }
        Ok(Some(Self { folder, base }))
    }
}
