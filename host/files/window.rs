//! Some lines of a text, while all of it passes by.

use super::{
    error::FileError,
    path::FilePath,
    read::{MAX_TEXT, TextPage, TruncatedBy},
};

/// The lines that were asked for, and what the rest of the file comes to.
pub struct Window {
    offset: u64,
    limit: u64,
    kept: Vec<u8>,
    /// Where the line in progress starts in what is kept.
    line_start: usize,
    /// Lines that are kept whole, or cut.
    lines: u64,
    /// Lines of the file that have ended.
    ended: u64,
    /// The file does not end with a newline.
    open_line: bool,
    is_full: bool,
    line_cut: bool,
    bytes: u64,
}

impl Window {
    /// At most so many lines, from a number on.
    pub fn new(offset: u64, limit: u64) -> Self {
        Self {
            offset,
            limit,
            kept: Vec::new(),
            line_start: 0,
            lines: 0,
            ended: 0,
            open_line: false,
            is_full: false,
            line_cut: false,
            bytes: 0,
        }
    }

    /// Whether the line in progress is one of those asked for.
    fn takes(&self) -> bool {
        !self.is_full && self.ended + 1 >= self.offset && self.lines < self.limit
    }

    /// Lets the next bytes of the file pass by.
    pub fn add(&mut self, mut block: &[u8]) {
        self.bytes += block.len() as u64;
        while !block.is_empty() {
            // What is not asked for is counted, which is faster.
            if self.is_full || self.lines >= self.limit {
                self.ended += memchr::memchr_iter(b'\n', block).count() as u64;
                self.open_line = block.last() != Some(&b'\n');
                return;
            }
            let end = memchr::memchr(b'\n', block).map(|position| position + 1);
            let (piece, rest) = block.split_at(end.unwrap_or(block.len()));
            if self.takes() {
                self.keep(piece);
            }
            self.open_line = end.is_none();
            if end.is_some() {
                if self.takes() {
                    self.lines += 1;
                    self.line_start = self.kept.len();
                    self.is_full = self.line_cut;
                }
                self.ended += 1;
            }
            block = rest;
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = MAX_TEXT - self.kept.len();
        if piece.len() <= room {
            self.kept.extend_from_slice(piece);
        } else if self.line_start > 0 {
            self.kept.truncate(self.line_start);
            self.is_full = true;
        } else {
            self.kept.extend_from_slice(&piece[..room]);
            self.line_cut = true;
        }
    }

    /// What was asked for, once all has passed by.
    pub fn part(mut self, path: &FilePath) -> Result<TextPage, FileError> {
        if self.open_line && self.takes() {
            self.lines += 1;
        }
        let total_lines = self.ended + u64::from(self.open_line);
        if self.offset > total_lines.max(1) {
            let lines = if total_lines == 1 { "line" } else { "lines" };
            let reason = format!("the offset is past the end; the file has {total_lines} {lines}");
            return Err(FileError::argument(path, &reason));
        }
        let mut kept = self.kept;
        if self.line_cut
            && let Err(error) = str::from_utf8(&kept)
            && error.error_len().is_none()
        {
            // The cut went through a character.
            kept.truncate(error.valid_up_to());
        }
        let (text, lossy) = match String::from_utf8(kept) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        };
        let next = Some(self.offset + self.lines).filter(|next| *next <= total_lines);
        let cut_by = if self.line_cut || (next.is_some() && self.lines < self.limit) {
            Some(TruncatedBy::Bytes)
        } else {
            next.map(|_| TruncatedBy::Lines)
        };
        let Self { offset: first, lines, bytes, line_cut, .. } = self;
        Ok(TextPage { text, first, lines, total_lines, bytes, cut_by, line_cut, lossy, next })
    }
}
