//! Search for lines in files.

use super::{
    MAX_PATH,
    directory::Files,
    error::FileError,
    glob_pattern::{GlobPattern, MAX_PATTERN, is_hidden},
    line_search::LineSearch,
    open_mode::OpenMode,
    protected_names::Access,
    resolve,
    search_root::SearchRoot,
    text_page::MAX_PAGE_BYTES,
    traverse::{Entry, Traversal},
};
use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::fs::File;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use std::io;

/// The default of [`GrepQuery::max_matches`].
const MAX_MATCHES: usize = 1000;

/// The maximum of [`GrepQuery::context`]. The host holds this many lines before and after each matching line.
const MAX_CONTEXT: usize = 100;

/// The buffer size for a search for literal text. Each line must fit into the buffer.
const LITERAL_BUFFER: usize = 4 << 20;

/// Limits on the compiled size of a regular expression, each with the buffer size that is used up to it.
///
/// The time that a hostile expression needs per byte grows with its compiled size, and a search can't be interrupted before it has
/// processed the whole buffer. So a larger expression gets a smaller buffer.
const REGEX_LIMITS: [(usize, usize); 2] = [(256 << 10, 128 << 10), (1 << 20, 32 << 10)];

/// The size limit of the cache that a regular expression uses while it runs.
const MAX_REGEX_CACHE: usize = 8 << 20;

/// A search for lines in files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GrepQuery {
    /// The text to search for.
    pub pattern: String,
    /// The directory or the file to search.
    pub path: String,
    /// Restricts the search to matching files. A pattern without a slash matches file names at any depth; a pattern with a slash matches
    /// paths relative to [`path`](Self::path).
    pub glob: Option<String>,
    /// Interprets [`pattern`](Self::pattern) as a regular expression instead of literal text.
    pub regex: bool,
    /// Includes files and directories whose names begin with a dot.
    pub hidden: bool,
    /// The number of lines before and after each matching line that the result contains, at most 100; none by default.
    pub context: usize,
    /// The maximum number of matching lines in all files together; 1,000 by default.
    pub max_matches: usize,
    /// The maximum size of all lines together; 50 KiB by default.
    pub max_bytes: usize,
}

impl GrepQuery {
    /// Creates a query for literal text in all files below the working directory.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            path: ".".into(),
            glob: None,
            regex: false,
            hidden: false,
            context: 0,
            max_matches: MAX_MATCHES,
            max_bytes: MAX_PAGE_BYTES,
        }
    }

    /// Sets the directory or the file to search.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Restricts the search to files that match a glob pattern.
    #[must_use]
    pub fn with_glob(mut self, glob: impl Into<String>) -> Self {
        self.glob = Some(glob.into());
        self
    }

    /// Sets whether the pattern is a regular expression.
    #[must_use]
    pub fn with_regex(mut self, regex: bool) -> Self {
        self.regex = regex;
        self
    }

    /// Sets whether files and directories are included whose names begin with a dot.
    #[must_use]
    pub fn with_hidden(mut self, hidden: bool) -> Self {
        self.hidden = hidden;
        self
    }

    /// Sets the number of lines before and after each matching line that the result contains.
    #[must_use]
    pub fn with_context(mut self, lines: usize) -> Self {
        self.context = lines;
        self
    }

    /// Sets the maximum number of matching lines in all files together.
    #[must_use]
    pub fn with_max_matches(mut self, max_matches: usize) -> Self {
        self.max_matches = max_matches;
        self
    }

    /// Sets the maximum size of all lines together.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Compiles the pattern, and returns it with the buffer size for the search.
    fn matcher(&self) -> Result<(RegexMatcher, usize), FileError> {
        let invalid = |reason: &str| FileError::Argument(format!("the pattern can't be used: {reason}"));
        if self.pattern.is_empty() {
            return Err(invalid("it is empty"));
        }
        if self.pattern.len() > MAX_PATTERN {
            return Err(invalid(&format!("at most {MAX_PATTERN} bytes are allowed")));
        }
        if self.pattern.contains('\n') {
            return Err(invalid("it contains a newline, but each line is matched on its own"));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.dfa_size_limit(MAX_REGEX_CACHE);
        let built = if self.regex {
            // `^` and `$` match at the start and the end of a line, with both kinds of line endings.
            builder.multi_line(true).crlf(true);
            let mut build = |(size, buffer)| builder.size_limit(size).build(&self.pattern).map(|matcher| (matcher, buffer));
            build(REGEX_LIMITS[0]).or_else(|_| build(REGEX_LIMITS[1]))
        } else {
            builder.fixed_strings(true).line_terminator(Some(b'\n')).build(&self.pattern).map(|matcher| (matcher, LITERAL_BUFFER))
        };
        built.map_err(|error| {
            // The parser prints the pattern with a marker first. The reason is on the last line.
            let text = error.to_string();
            invalid(text.lines().last().unwrap_or_default().trim().trim_start_matches("error: "))
        })
    }
}

/// The result of a search for lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrepResult {
    /// The matching lines, grouped by file, in name order.
    pub matches: Vec<GrepMatch>,
    /// There are more matches than the limits of the query allow.
    pub truncated: bool,
    /// The number of files that were searched.
    pub files: u64,
    /// The number of files that were skipped because their first 8 KiB contain a NUL byte.
    pub binary: u64,
    /// The number of files and directories that can't be read, have an invalid name, or have lines that are too long. A line can have
    /// 4 MiB; with a regular expression 128 KiB, or 32 KiB if the expression is large.
    pub skipped: u64,
}

/// A matching line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrepMatch {
    /// The path of the file, relative to the io directory.
    pub name: String,
    /// The line number, counted from 1.
    pub line: u64,
    /// The line without its ending. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
    /// The line was truncated to 1 KiB.
    pub truncated: bool,
    /// The lines before it, at most [`GrepQuery::context`]. Matching lines are not among them.
    pub before: Vec<ContextLine>,
    /// The lines after it, at most [`GrepQuery::context`]. Matching lines are not among them.
    pub after: Vec<ContextLine>,
}

/// A line near a matching line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextLine {
    /// The line number, counted from 1.
    pub line: u64,
    /// The line without its ending. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
    /// The line was truncated to 1 KiB.
    pub truncated: bool,
}

impl Files {
    /// Finds lines that contain a text or match a regular expression. Symlinks are skipped.
    ///
    /// Blocks. `should_continue` is called repeatedly; the search stops when it returns `false`.
    ///
    /// # Errors
    ///
    /// Returns an error if the path or a pattern is invalid, the path does not exist, or the search was stopped.
    pub fn grep(&self, query: &GrepQuery, should_continue: &dyn Fn() -> bool) -> Result<GrepResult, FileError> {
        if query.context > MAX_CONTEXT {
            return Err(FileError::Argument(format!("at most {MAX_CONTEXT} lines of context are allowed")));
        }
        let matcher = query.matcher()?;
        let filter = query.glob.as_deref().map(FileFilter::new).transpose()?;
        let path = self.resolve(query.path.as_bytes(), Access::Read)?;
        let mut search = LineSearch::new(query, matcher, should_continue);
        if let Ok((directories, name)) = path.split()
            && let Some(directory) = resolve::existing_directory(self, &path, directories)?
            && directory.symlink_metadata(name).is_ok_and(|metadata| !metadata.is_dir())
        {
            // A file that the query names is searched even if it is hidden or does not match the glob pattern.
            search.search(resolve::open_for_reading(self, &path)?, path.name().to_owned())?;
            return Ok(search.result);
        }
        let literal_directories = filter.as_ref().map_or(&[][..], |filter| &filter.pattern.literal_directories);
        let root = SearchRoot::open(self, &path, literal_directories)?;
        let Some(SearchRoot { directory, prefix }) = root else { return Ok(search.result) };
        let mut traversal = Traversal::new(directory, self.names(), None, should_continue)?;
        while !search.result.truncated
            && let Some(entry) = traversal.next()?
        {
            let name = entry.name();
            if is_hidden(name) && !query.hidden && !filter.as_ref().is_some_and(|filter| filter.pattern.matches_hidden(name)) {
                continue;
            }
            if filter.as_ref().is_some_and(|filter| !filter.includes(&entry)) {
                continue;
            }
            if entry.is_directory {
                search.result.skipped += traversal.try_enter(&entry)?;
            } else if prefix.len() + entry.path.len() > MAX_PATH {
                // No operation would accept such a path.
                search.result.skipped += 1;
            } else {
                match open(&entry) {
                    Ok(Some(file)) => search.search(file, [prefix.as_str(), &entry.path].concat())?,
                    Ok(None) => {}
                    Err(_) => search.result.skipped += 1,
                }
            }
        }
        search.result.skipped += traversal.unreadable_names;
        Ok(search.result)
    }
}

/// Selects the files to search.
struct FileFilter {
    pattern: GlobPattern,
    /// The pattern is compared with whole paths instead of names.
    whole_path: bool,
}

impl FileFilter {
    fn new(text: &str) -> Result<Self, FileError> {
        Ok(Self { pattern: GlobPattern::new(text)?, whole_path: text.contains('/') })
    }

    /// Returns `true` if a file matches, or if a directory may contain files that match.
    fn includes(&self, entry: &Entry) -> bool {
        match (entry.is_directory, self.whole_path) {
            (true, true) => self.pattern.can_match_below(&entry.path),
            (true, false) => true,
            (false, true) => self.pattern.matches(&entry.path),
            (false, false) => self.pattern.matches(entry.name()),
        }
    }
}

/// Opens a regular file. Returns `None` if it was removed or replaced by something else in the meantime.
fn open(entry: &Entry) -> io::Result<Option<File>> {
    match entry.parent.open_with(entry.name(), resolve::options(OpenMode::Read).nonblock(true)) {
        Ok(file) => Ok(file.metadata()?.is_file().then_some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
