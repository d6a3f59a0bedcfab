//! Searches one file after another, line by line.

use super::{
    error::FileError,
    grep::{ContextLine, GrepMatch, GrepQuery, GrepResult},
    read::{DETECTION_BYTES, read_block},
};
use cap_std::fs::File;
use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use std::{
    collections::VecDeque,
    io::{self, Read},
};

/// The maximum number of bytes of a line in a result. Longer lines are truncated.
const MAX_LINE_BYTES: usize = 1 << 10;

/// A search over several files, with its result so far.
pub struct LineSearch<'a> {
    query: &'a GrepQuery,
    matcher: RegexMatcher,
    searcher: Searcher,
    should_continue: &'a dyn Fn() -> bool,
    pub result: GrepResult,
    /// The size of all names and lines in the result.
    bytes: usize,
    /// The first bytes of the current file.
    start: Vec<u8>,
}

impl<'a> LineSearch<'a> {
    /// Creates a search with a compiled pattern and a buffer size.
    pub fn new(query: &'a GrepQuery, (matcher, buffer): (RegexMatcher, usize), should_continue: &'a dyn Fn() -> bool) -> Self {
        let mut searcher = SearcherBuilder::new();
        searcher.line_number(true).heap_limit(Some(buffer)).bom_sniffing(false);
        searcher.before_context(query.context).after_context(query.context);
        if query.regex {
            searcher.line_terminator(LineTerminator::crlf());
        }
        Self { query, matcher, searcher: searcher.build(), should_continue, result: GrepResult::default(), bytes: 0, start: Vec::new() }
    }

    /// Searches a file, and adds its matching lines to the result under this name.
    pub fn search(&mut self, mut file: File, name: String) -> Result<(), FileError> {
        if read_block(&mut file, DETECTION_BYTES, &mut self.start).is_err() {
            self.result.skipped += 1;
            return Ok(());
        }
        if self.start.contains(&0) {
            self.result.binary += 1;
            return Ok(());
        }
        let first_match = self.result.matches.len();
        let mut matches =
            MatchSink { query: self.query, result: &mut self.result, first_match, bytes: self.bytes, name: &name, recent: VecDeque::new() };
        let contents = self.start.chain(InterruptibleFile { file, should_continue: self.should_continue });
        let searched = self.searcher.search_reader(&self.matcher, contents, &mut matches);
        self.bytes = matches.bytes;
        if !(self.should_continue)() {
            return Err(FileError::Interrupted);
        }
        // Matches that were found before an error stay in the result.
        match searched {
            Ok(()) => self.result.files += 1,
            Err(_) => self.result.skipped += 1,
        }
        Ok(())
    }
}

/// A file whose reads fail when the search is stopped.
struct InterruptibleFile<'a> {
    file: File,
    should_continue: &'a dyn Fn() -> bool,
}

impl Read for InterruptibleFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Not `ErrorKind::Interrupted`, because readers retry after it.
        if (self.should_continue)() { self.file.read(buffer) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

/// Collects the matching lines of one file, and the lines near them.
struct MatchSink<'a> {
    query: &'a GrepQuery,
    result: &'a mut GrepResult,
    /// The position in the result at which the matches of this file start.
    first_match: usize,
    bytes: usize,
    name: &'a str,
    /// The last lines that do not match. They may be near the next match.
    recent: VecDeque<ContextLine>,
}

impl MatchSink<'_> {
    /// Counts bytes of the result. Returns `false` and marks the result as truncated if there are too many.
    fn count(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.result.truncated |= self.bytes > self.query.max_bytes;
        !self.result.truncated
    }

    /// Returns `true` if the two lines are near enough to each other.
    fn is_near(&self, line: u64, later: u64) -> bool {
        later.saturating_sub(line) <= self.query.context as u64
    }
}

impl Sink for MatchSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let ContextLine { line, text, truncated } = context_line(found.line_number(), found.bytes());
        if self.result.matches.len() >= self.query.max_matches {
            self.result.truncated = true;
            return Ok(false);
        }
        let before: Vec<ContextLine> = self.recent.iter().filter(|recent| self.is_near(recent.line, line)).cloned().collect();
        let context_bytes: usize = before.iter().map(|line| line.text.len()).sum();
        if !self.count(self.name.len() + text.len() + context_bytes) {
            return Ok(false);
        }
        self.result.matches.push(GrepMatch { name: self.name.to_owned(), line, text, truncated, before, after: Vec::new() });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        let context = context_line(found.line_number(), found.bytes());
        for index in (self.first_match..self.result.matches.len()).rev() {
            if !self.is_near(self.result.matches[index].line, context.line) {
                break;
            }
            if !self.count(context.text.len()) {
                return Ok(false);
            }
            self.result.matches[index].after.push(context.clone());
        }
        if self.recent.len() == self.query.context {
            self.recent.pop_front();
        }
        self.recent.push_back(context);
        Ok(true)
    }
}

/// Returns a line without its ending, truncated to [`MAX_LINE_BYTES`].
fn context_line(number: Option<u64>, line: &[u8]) -> ContextLine {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let truncated = line.len() > MAX_LINE_BYTES;
    let text = String::from_utf8_lossy(&line[..line.len().min(MAX_LINE_BYTES)]);
    // Truncation may leave an incomplete character at the end.
    let text = if truncated { text.trim_end_matches('\u{fffd}') } else { &text };
    ContextLine { line: number.unwrap_or(0), text: text.to_owned(), truncated }
}
