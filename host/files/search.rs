//! Files one after the other, line by line.

use super::{
    error::FileError,
    grep::{GrepMatch, GrepQuery, GrepResult},
    read::{START, read_block},
};
use cap_std::fs::File;
use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkMatch};
use std::io::{self, Read};

/// Bytes of a line that are returned.
const MAX_LINE: usize = 1 << 10;

/// A search, and what it has found so far.
pub struct Search<'a> {
    query: &'a GrepQuery,
    matcher: RegexMatcher,
    searcher: Searcher,
    is_wanted: &'a dyn Fn() -> bool,
    pub found: GrepResult,
    bytes: usize,
    /// The first bytes of a file.
    start: Vec<u8>,
}

impl<'a> Search<'a> {
    /// A search by what finds the text, which may be given so many bytes at once.
    pub fn new(query: &'a GrepQuery, (matcher, held): (RegexMatcher, usize), is_wanted: &'a dyn Fn() -> bool) -> Self {
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
            found: GrepResult::default(),
            bytes: 0,
            start: Vec::with_capacity(START),
        }
    }

    /// Searches a file, and tells of its lines by this name.
    pub fn file(&mut self, mut file: File, name: String) -> Result<(), FileError> {
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
    found: &'a mut GrepResult,
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
