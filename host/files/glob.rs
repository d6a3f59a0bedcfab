//! Search for files and directories by name.

use super::{
    MAX_PATH,
    directory::Files,
    error::FileError,
    glob_pattern::{GlobPattern, is_hidden},
    list::FileInfo,
    protected_names::Access,
    search_root::SearchRoot,
    traverse::Traversal,
};

/// The default of [`GlobQuery::max_results`].
const MAX_RESULTS: usize = 10_000;

/// The default of [`GlobQuery::max_bytes`].
const MAX_BYTES: usize = 1 << 20;

/// A search for files and directories by name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GlobQuery {
    /// The pattern for paths relative to [`path`](Self::path): `*`, `?`, `[a-z]`, `{a,b}`, and `**` for directories at any depth.
    pub pattern: String,
    /// The directory to search.
    pub path: String,
    /// Lets wildcards match names that begin with a dot. Otherwise such a name matches only a pattern that begins with a dot.
    pub hidden: bool,
    /// Finds regular files only, and no directories.
    pub files_only: bool,
    /// The maximum number of results; 10,000 by default.
    pub max_results: usize,
    /// The maximum size of all names together; 1 MiB by default.
    pub max_bytes: usize,
}

impl GlobQuery {
    /// Creates a query for the working directory.
    pub fn new(pattern: impl Into<String>) -> Self {
        let pattern = pattern.into();
        Self { pattern, path: ".".into(), hidden: false, files_only: false, max_results: MAX_RESULTS, max_bytes: MAX_BYTES }
    }

    /// Sets the directory to search.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets whether wildcards match names that begin with a dot.
    #[must_use]
    pub fn with_hidden(mut self, hidden: bool) -> Self {
        self.hidden = hidden;
        self
    }

    /// Sets whether only regular files are found, and no directories.
    #[must_use]
    pub fn with_files_only(mut self, files_only: bool) -> Self {
        self.files_only = files_only;
        self
    }

    /// Sets the maximum number of results.
    #[must_use]
    pub fn with_max_results(mut self, max_results: usize) -> Self {
        self.max_results = max_results;
        self
    }

    /// Sets the maximum size of all names together.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }
}

/// The result of a search by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlobResult {
    /// Files and directories, sorted by name. Names are paths relative to the io directory.
    pub entries: Vec<FileInfo>,
    /// There are more results than the limits of the query allow.
    pub truncated: bool,
    /// The number of skipped entries: names that are not UTF-8, paths that are too long, and directories that can't be read.
    pub skipped: u64,
}

impl Files {
    /// Finds files and directories whose paths match a pattern. Symlinks are skipped.
    ///
    /// Blocks. `should_continue` is called repeatedly; the search stops when it returns `false`.
    ///
    /// # Errors
    ///
    /// Returns an error if the path or the pattern is invalid, the directory does not exist, or the search was stopped.
    pub fn glob(&self, query: &GlobQuery, should_continue: &dyn Fn() -> bool) -> Result<GlobResult, FileError> {
        let pattern = GlobPattern::new(&query.pattern)?;
        let path = self.resolve(query.path.as_bytes(), Access::Read)?;
        let mut result = GlobResult::default();
        let root = SearchRoot::open(self, &path, &pattern.literal_directories)?;
        let Some(SearchRoot { directory, prefix }) = root else { return Ok(result) };
        let mut traversal = Traversal::new(directory, self.names(), None, should_continue)?;
        let mut bytes = 0;
        while let Some(entry) = traversal.next()? {
            if is_hidden(entry.name()) && !query.hidden && !pattern.matches_hidden(entry.name()) {
                continue;
            }
            if entry.is_directory && pattern.can_match_below(&entry.path) {
                result.skipped += traversal.try_enter(&entry)?;
            }
            if (entry.is_directory && query.files_only) || !pattern.matches(&entry.path) {
                continue;
            }
            // No operation would accept such a path.
            if prefix.len() + entry.path.len() > MAX_PATH {
                result.skipped += 1;
                continue;
            }
            bytes += prefix.len() + entry.path.len();
            if result.entries.len() >= query.max_results || bytes > query.max_bytes {
                result.truncated = true;
                break;
            }
            if let Ok(metadata) = entry.parent.symlink_metadata(entry.name()) {
                result.entries.push(FileInfo::new([prefix.as_str(), &entry.path].concat(), &metadata));
            }
        }
        result.skipped += traversal.unreadable_names;
        // The traversal orders directories as if their names ended with a slash, so its order is not that of the names.
        result.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(result)
    }
}
