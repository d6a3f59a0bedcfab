//! A page of lines from a text file.

use super::{error::FileError, path::FilePath};
use std::fmt::Write as _;

/// The maximum number of lines in a page.
pub const MAX_PAGE_LINES: u64 = 2000;

/// The maximum number of bytes in a page. A model can read a page of this size at once.
pub const MAX_PAGE_BYTES: usize = 50 << 10;

/// A page of lines from a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPage {
    /// The lines with their original line endings.
    pub text: String,
    /// The number of the first line in the page, counted from 1.
    pub first_line: u64,
    /// The number of lines in the page.
    pub lines: u64,
    /// The number of lines in the file.
    pub total_lines: u64,
    /// The size of the file.
    pub bytes: u64,
    /// The limit that ended the page, if the file continues after it.
    pub truncated_by: Option<TruncatedBy>,
    /// The page contains only the start of its last line, because that line alone exceeds the limit.
    pub line_truncated: bool,
    /// Some bytes are not UTF-8 and were replaced by U+FFFD.
    pub lossy: bool,
    /// The number of the line after the page, if the file has more lines.
    pub next_line: Option<u64>,
}

/// The limit that ended a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TruncatedBy {
    /// The requested number of lines, or 2,000.
    Lines,
    /// 50 KiB.
    Bytes,
}

impl TruncatedBy {
    /// Returns the name that is used in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Bytes => "bytes",
        }
    }
}

impl TextPage {
    /// Removes lines from the end of the page, so that its text has at most `max_bytes` bytes. A single line is truncated.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only the MCP server shortens pages"))]
    pub(crate) fn shorten(&mut self, max_bytes: usize) {
        if self.text.len() <= max_bytes {
            return;
        }
        let end = self.text.floor_char_boundary(max_bytes);
        match self.text[..end].rfind('\n') {
            Some(line_break) => {
                self.text.truncate(line_break + 1);
                self.lines = memchr::memchr_iter(b'\n', self.text.as_bytes()).count() as u64;
                self.line_truncated = false;
            }
            None => {
                self.text.truncate(end);
                self.lines = 1;
                self.line_truncated = true;
            }
        }
        self.truncated_by = Some(TruncatedBy::Bytes);
        self.next_line = Some(self.first_line + self.lines).filter(|next| *next <= self.total_lines);
    }

    /// Returns the number of the last line in the page, or `None` if the page has no lines.
    #[must_use]
    pub fn last_line(&self) -> Option<u64> {
        (self.lines > 0).then(|| self.first_line + self.lines - 1)
    }

    /// Returns [`next_line`](Self::next_line) counted from 0: the number of lines to skip to read the next page.
    #[must_use]
    pub fn next_offset(&self) -> Option<u64> {
        self.next_line.map(|line| line - 1)
    }

    /// Returns the lines, each with its number in front.
    #[must_use]
    pub fn numbered(&self) -> String {
        let mut numbered = String::new();
        for (line, number) in self.text.split_inclusive('\n').zip(self.first_line..) {
            let _ = write!(numbered, "{number:>6}\t{line}");
        }
        numbered
    }

    /// Returns the numbered lines, followed by notes for a model: that the file is empty, that the page was truncated, and the offset of
    /// the next page.
    ///
    /// `next_offset` is [`next_line`](Self::next_line) in the caller's numbering, which may start at 0.
    #[must_use]
    pub fn numbered_with_notes(&self, next_offset: Option<u64>) -> String {
        let mut output = self.numbered();
        let mut note = |text: String| {
            let separator = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
            let _ = write!(output, "{separator}({text})");
        };
        if self.total_lines == 0 {
            note("the file is empty".into());
        }
        if self.line_truncated {
            note(format!("line {} is longer than {} bytes and was truncated", self.first_line, self.text.len()));
        }
        if self.lossy {
            note("bytes that are not UTF-8 are shown as \u{fffd}".into());
        }
        if let Some(next) = next_offset {
            note(format!("{} of {} lines; continue with offset {next}", self.lines, self.total_lines));
        }
        output
    }
}

/// Collects a page while the whole file is read.
pub struct PageReader {
    /// The number of the first line of the page.
    offset: u64,
    /// The maximum number of lines in the page.
    limit: u64,
    /// The contents of the page so far.
    contents: Vec<u8>,
    /// The position in `contents` at which the current line starts.
    line_start: usize,
    /// The number of complete or truncated lines in `contents`.
    lines: u64,
    /// The number of lines of the file that have ended.
    lines_ended: u64,
    /// The last line does not end with a newline.
    has_open_line: bool,
    is_full: bool,
    line_truncated: bool,
    bytes: u64,
}

impl PageReader {
    /// Creates a reader for at most `limit` lines, starting with line number `offset`.
    pub fn new(offset: u64, limit: u64) -> Self {
        Self {
            offset,
            limit,
            contents: Vec::new(),
            line_start: 0,
            lines: 0,
            lines_ended: 0,
            has_open_line: false,
            is_full: false,
            line_truncated: false,
            bytes: 0,
        }
    }

    /// Returns `true` if the current line belongs to the page.
    fn is_in_page(&self) -> bool {
        !self.is_full && self.lines_ended + 1 >= self.offset && self.lines < self.limit
    }

    /// Processes the next bytes of the file.
    pub fn add(&mut self, mut block: &[u8]) {
        self.bytes += block.len() as u64;
        while !block.is_empty() {
            // After the page, lines are only counted, which is faster.
            if self.is_full || self.lines >= self.limit {
                self.lines_ended += memchr::memchr_iter(b'\n', block).count() as u64;
                self.has_open_line = block.last() != Some(&b'\n');
                return;
            }
            let end = memchr::memchr(b'\n', block).map(|position| position + 1);
            let (piece, rest) = block.split_at(end.unwrap_or(block.len()));
            if self.is_in_page() {
                self.append(piece);
            }
            self.has_open_line = end.is_none();
            if end.is_some() {
                if self.is_in_page() {
                    self.lines += 1;
                    self.line_start = self.contents.len();
                    self.is_full = self.line_truncated;
                }
                self.lines_ended += 1;
            }
            block = rest;
        }
    }

    fn append(&mut self, piece: &[u8]) {
        let free = MAX_PAGE_BYTES - self.contents.len();
        if piece.len() <= free {
            self.contents.extend_from_slice(piece);
        } else if self.line_start > 0 {
            self.contents.truncate(self.line_start);
            self.is_full = true;
        } else {
            self.contents.extend_from_slice(&piece[..free]);
            self.line_truncated = true;
        }
    }

    /// Returns the page, after the whole file was processed.
    pub fn finish(mut self, path: &FilePath) -> Result<TextPage, FileError> {
        if self.has_open_line && self.is_in_page() {
            self.lines += 1;
        }
        let total_lines = self.lines_ended + u64::from(self.has_open_line);
        if self.offset > total_lines.max(1) {
            let lines = if total_lines == 1 { "line" } else { "lines" };
            let reason = format!("the offset is past the end; the file has {total_lines} {lines}");
            return Err(FileError::argument(path, &reason));
        }
        let mut contents = self.contents;
        if self.line_truncated
            && let Err(error) = str::from_utf8(&contents)
            && error.error_len().is_none()
        {
            // The line was truncated inside a character.
            contents.truncate(error.valid_up_to());
        }
        let (text, lossy) = match String::from_utf8(contents) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        };
        let next_line = Some(self.offset + self.lines).filter(|next| *next <= total_lines);
        let truncated_by = if self.line_truncated || (next_line.is_some() && self.lines < self.limit) {
            Some(TruncatedBy::Bytes)
        } else {
            next_line.map(|_| TruncatedBy::Lines)
        };
        let Self { offset: first_line, lines, bytes, line_truncated, .. } = self;
        Ok(TextPage { text, first_line, lines, total_lines, bytes, truncated_by, line_truncated, lossy, next_line })
    }
}

#[cfg(test)]
mod tests {
    use super::{PageReader, TextPage, TruncatedBy};
    use crate::files::path::FilePath;

    fn page(text: &str, offset: u64, max_bytes: usize) -> TextPage {
        let mut reader = PageReader::new(offset, 2000);
        reader.add(text.as_bytes());
        let mut page = reader.finish(&FilePath::root()).unwrap();
        page.shorten(max_bytes);
        page
    }

    #[test]
    fn a_shortened_page_has_whole_lines_and_continues_after_them() {
        let shortened = page("zero\none\ntwo\nthree\n", 2, 9);
        assert_eq!((shortened.text.as_str(), shortened.lines, shortened.next_line), ("one\ntwo\n", 2, Some(4)));
        assert_eq!(shortened.truncated_by, Some(TruncatedBy::Bytes));
        assert_eq!(shortened.numbered_with_notes(shortened.next_line), "     2\tone\n     3\ttwo\n(2 of 4 lines; continue with offset 4)");
        let whole = page("one\ntwo\n", 1, 8);
        assert_eq!((whole.text.as_str(), whole.next_line, whole.truncated_by), ("one\ntwo\n", None, None));
    }

    #[test]
    fn a_line_that_is_longer_than_the_page_is_truncated_at_a_character() {
        let shortened = page("äöü\nlast", 1, 5);
        assert_eq!((shortened.text.as_str(), shortened.lines, shortened.line_truncated, shortened.next_line), ("äö", 1, true, Some(2)));
        let notes = "     1\täö\n(line 1 is longer than 4 bytes and was truncated)\n(1 of 2 lines; continue with offset 2)";
        assert_eq!(shortened.numbered_with_notes(shortened.next_line), notes);
        assert_eq!(page("äöü", 1, 5).next_line, None);
    }
}
