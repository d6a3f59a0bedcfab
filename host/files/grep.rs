//! Lines by what is in them.

use super::{
    MAX_PATH, MAX_TEXT,
    error::FileError,
    glob::Place,
    handle::Mode,
    pattern::{MAX_PATTERN, Pattern, is_hidden},
    quota::Quota,
    read::{START, read_block},
    root::Files,
    walk,
    walker::{Found, Walker},
};
use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::fs::File;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkMatch};
use std::io::{self, Read};

/// Lines that are returned, unless the caller wants fewer or more.
const MAX_MATCHES: usize = 1000;

/// Bytes of a line that are returned.
const MAX_LINE: usize = 1 << 10;

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
pub struct GrepFound {
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
    pub fn grep(&self, query: &GrepQuery, is_wanted: &dyn Fn() -> bool) -> Result<GrepFound, FileError> {
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
            if next.is_folder {
                search.found.skipped += walker.try_enter(&next)?;
            } else if filter.as_ref().is_none_or(|filter| filter.fits(&next)) {
                match open(&next) {
                    // What has no path that a call would take is not found.
                    Ok(Some(_)) if base.len() + next.path.len() > MAX_PATH => search.found.skipped += 1,
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

    fn fits(&self, found: &Found) -> bool {
        self.pattern.matches(if self.whole_path { &found.path } else { found.name() })
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

struct Search<'a> {
    query: &'a GrepQuery,
    matcher: RegexMatcher,
    searcher: Searcher,
    is_wanted: &'a dyn Fn() -> bool,
    found: GrepFound,
    bytes: usize,
    /// The first bytes of a file.
    start: Vec<u8>,
}

impl<'a> Search<'a> {
    fn new(query: &'a GrepQuery, (matcher, held): (RegexMatcher, usize), is_wanted: &'a dyn Fn() -> bool) -> Self {
        let mut searcher = SearcherBuilder::new();
        searcher.line_number(true).heap_limit(Some(held)).bom_sniffing(false);
        if query.regex {
            searcher.line_terminator(LineTerminator::crlf());
        }
        Self {
            query,
            matcher,
            searcher: searcher.build(),
            is_wanted,
            found: GrepFound::default(),
            bytes: 0,
            start: Vec::with_capacity(START),
        }
    }

    fn file(&mut self, mut file: File, name: String) -> Result<(), FileError> {
        if read_block(&mut file, START, &mut self.start).is_err() {
            self.found.skipped += 1;
            return Ok(());
        }
        if self.start.contains(&0) {
            self.found.binary += 1;
            return Ok(());
        }
        let mut lines = Lines { query: self.query, found: &mut self.found, bytes: self.bytes, name: &name };
        let contents = self.start.chain(Wanted { file, is_wanted: self.is_wanted });
        let searched = self.searcher.search_reader(&self.matcher, contents, &mut lines);
        self.bytes = lines.bytes;
        if !(self.is_wanted)() {
            return Err(FileError::Unwanted);
        }
        // What was found before an error is true.
        match searched {
            Ok(()) => self.found.files += 1,
            Err(_) => self.found.skipped += 1,
        }
        Ok(())
    }
}

/// A file that is read for as long as somebody wants it.
struct Wanted<'a> {
    file: File,
    is_wanted: &'a dyn Fn() -> bool,
}

impl Read for Wanted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The kind is not one that is tried again.
        if (self.is_wanted)() { self.file.read(buffer) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

/// The lines of one file.
struct Lines<'a> {
    query: &'a GrepQuery,
    found: &'a mut GrepFound,
    bytes: usize,
    name: &'a str,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = found.bytes();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let cut = line.len() > MAX_LINE;
        let text = String::from_utf8_lossy(&line[..line.len().min(MAX_LINE)]);
        // A cut through a character leaves a part of it.
        let text = if cut { text.trim_end_matches('\u{fffd}') } else { &text };
        self.bytes += self.name.len() + text.len();
        if self.found.matches.len() >= self.query.max_matches || self.bytes > self.query.max_bytes {
            self.found.truncated = true;
            return Ok(false);
        }
        let line = found.line_number().unwrap_or(0);
        self.found.matches.push(GrepMatch { name: self.name.to_owned(), line, text: text.to_owned(), cut });
        Ok(true)
    }
}
