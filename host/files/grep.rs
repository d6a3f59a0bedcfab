//! Lines by what is in them.

use super::{
    MAX_PATH, MAX_TEXT,
    error::FileError,
    glob::Place,
    handle::Mode,
    pattern::{MAX_PATTERN, Pattern, is_hidden},
    quota::Quota,
    root::Files,
    search::Search,
    walk,
    walker::{Found, Walker},
};
use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::fs::File;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use std::io;

/// Lines that are returned, unless the caller wants fewer or more.
const MAX_MATCHES: usize = 1000;

/// Bytes that a search for a literal text holds of one file: a line has to fit in them.
const MAX_HELD: usize = 4 << 20;

/// Bytes that a regular expression may become, and bytes of a file that are held then. A hostile expression takes for each byte as long as
/// it is large, and can't be interrupted before it has seen all that is held.
const MACHINES: [(usize, usize); 2] = [(256 << 10, 128 << 10), (1 << 20, 32 << 10)];

/// Bytes that an expression may remember while it runs.
const MAX_CACHE: usize = 8 << 20;

/// What is looked for in files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GrepQuery {
    /// The text.
    pub pattern: String,
    /// The folder, or the one file.
    pub path: String,
    /// Which files: a pattern for their names at any depth, or with a slash for their paths from the folder on.
    pub glob: Option<String>,
    /// Whether the text is a regular expression.
    pub regex: bool,
    /// Whether files and folders whose names begin with a dot are searched.
    pub hidden: bool,
    /// Lines at most; 1,000 unless said otherwise.
    pub max_matches: usize,
    /// Bytes of all lines together; 50 KiB unless said otherwise.
    pub max_bytes: usize,
}

impl GrepQuery {
    /// A query for a text in all files below the folder where paths start.
    pub fn new(pattern: impl Into<String>) -> Self {
        let (path, glob) = (".".into(), None);
        Self { pattern: pattern.into(), path, glob, regex: false, hidden: false, max_matches: MAX_MATCHES, max_bytes: MAX_TEXT }
    }

    /// The same query below another folder, or in one file.
    #[must_use]
    pub fn in_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// The same query in files whose names fit a pattern.
    #[must_use]
    pub fn with_glob(mut self, glob: impl Into<String>) -> Self {
        self.glob = Some(glob.into());
        self
    }

    /// The same query, whose text is a regular expression.
    #[must_use]
    pub fn as_regex(mut self) -> Self {
        self.regex = true;
        self
    }

    /// What finds the text, and how many bytes of a file it may be given at once.
    fn matcher(&self) -> Result<(RegexMatcher, usize), FileError> {
        let wrong = |reason: &str| FileError::Argument(format!("the pattern can't be used: {reason}"));
        if self.pattern.is_empty() {
            return Err(wrong("it is empty"));
        }
        if self.pattern.len() > MAX_PATTERN {
            return Err(wrong(&format!("at most {MAX_PATTERN} bytes are allowed")));
        }
        if self.pattern.contains('\n') {
            return Err(wrong("it has a newline, and is compared with one line at a time"));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.dfa_size_limit(MAX_CACHE);
        let built = if self.regex {
            // `^` and `$` are where lines begin and end, however they end.
            builder.multi_line(true).crlf(true);
            let mut build = |(size, held)| builder.size_limit(size).build(&self.pattern).map(|matcher| (matcher, held));
            build(MACHINES[0]).or_else(|_| build(MACHINES[1]))
        } else {
            builder.fixed_strings(true).line_terminator(Some(b'\n')).build(&self.pattern).map(|matcher| (matcher, MAX_HELD))
        };
        built.map_err(|error| {
            // The parser draws a picture of the place first.
            let text = error.to_string();
            wrong(text.lines().last().unwrap_or_default().trim().trim_start_matches("error: "))
        })
    }
}

/// What was found in files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrepResult {
    /// The lines, file by file in name order.
    pub matches: Vec<GrepMatch>,
    /// There are more.
    pub truncated: bool,
    /// Files that were searched.
    pub files: u64,
    /// Files that were not, as there is a NUL in their first 8 KiB.
    pub binary: u64,
    /// Files and folders that can't be read or named, or have lines that are too long: of more than 4 MiB, or 128 KiB for a regular
    /// expression, or 32 KiB for a large one.
    pub skipped: u64,
}

/// A line that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrepMatch {
    /// The path of the file, relative to the io dir.
    pub name: String,
    /// The number of the line; the first one is 1.
    pub line: u64,
    /// The line, without its ending. What is not UTF-8 in it is U+FFFD.
    pub text: String,
    /// It is the start of a line of more than 1 KiB.
    pub cut: bool,
}

impl Files {
    /// Lines that have a text in them. Links are left out and not followed. It blocks; `is_wanted` is asked on the way whether to go on.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is nothing there, the pattern means nothing, or the search is not wanted any more.
    pub fn grep(&self, query: &GrepQuery, is_wanted: &dyn Fn() -> bool) -> Result<GrepResult, FileError> {
        let matcher = query.matcher()?;
        let filter = query.glob.as_deref().map(Filter::new).transpose()?;
        let path = self.resolve(query.path.as_bytes())?;
        let mut search = Search::new(query, matcher, is_wanted);
        if let Ok((folders, name)) = path.split()
            && let Some(folder) = walk::existing_folder(self, &path, folders)?
            && folder.symlink_metadata(name).is_ok_and(|metadata| !metadata.is_dir())
        {
            // Named by itself, it is what was asked for, whatever its name is.
            let file = walk::open(self, &path, Mode::Read, &mut Quota::new(0, 0))?.file;
            search.file(file, path.name().to_owned())?;
            return Ok(search.found);
        }
        // A pattern for names has no folders in front.
        let folders = filter.as_ref().map_or(&[][..], |filter| &filter.pattern.folders);
        let Some(Place { folder, base }) = Place::find(self, &path, folders)? else { return Ok(search.found) };
        let mut walker = Walker::new(folder, None, is_wanted)?;
        while !search.found.truncated
            && let Some(next) = walker.next()?
        {
            if is_hidden(next.name()) && !query.hidden && !filter.as_ref().is_some_and(|filter| filter.pattern.asks_for(next.name())) {
                continue;
            }
            if filter.as_ref().is_some_and(|filter| !filter.wants(&next)) {
                continue;
            }
            if next.is_folder {
                search.found.skipped += walker.try_enter(&next)?;
            } else if base.len() + next.path.len() > MAX_PATH {
                // What has no path that a call would take is not found.
                search.found.skipped += 1;
            } else {
                match open(&next) {
                    Ok(Some(file)) => search.file(file, [base.as_str(), &next.path].concat())?,
                    Ok(None) => {}
                    Err(_) => search.found.skipped += 1,
                }
            }
        }
        search.found.skipped += walker.unreadable;
        Ok(search.found)
    }
}

/// Which files are searched.
struct Filter {
    pattern: Pattern,
    whole_path: bool,
}

impl Filter {
    fn new(text: &str) -> Result<Self, FileError> {
        Ok(Self { pattern: Pattern::new(text)?, whole_path: text.contains('/') })
    }

    /// Whether a file fits, or something in a folder may.
    fn wants(&self, found: &Found) -> bool {
        match (found.is_folder, self.whole_path) {
            (true, true) => self.pattern.reaches(&found.path),
            (true, false) => true,
            (false, true) => self.pattern.matches(&found.path),
            (false, false) => self.pattern.matches(found.name()),
        }
    }
}

/// A regular file; nothing if it is gone, or became something else meanwhile.
fn open(found: &Found) -> io::Result<Option<File>> {
    match found.folder.open_with(found.name(), walk::options(Mode::Read).nonblock(true)) {
        Ok(file) => Ok(file.metadata()?.is_file().then_some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
