//! The contents of one file: some of its lines, an image, or all of its bytes.

use super::{MAX_BLOCK, error::FileError, handle::Mode, path::FilePath, quota::Quota, root::Files, walk, window::Window};
use cap_std::fs::File;
use std::{
    fmt::Write as _,
    io::{Read as _, Seek as _},
};

/// Lines of a text that are returned at once, and bytes of them all: what a model can read in one go.
pub const MAX_LINES: u64 = 2000;
pub const MAX_TEXT: usize = 50 << 10;

/// Bytes at the start of a file that tell text from something else.
pub const START: usize = 8 << 10;

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileContents {
    /// Some of its lines.
    Text(TextPage),
    /// All of an image.
    Image {
        /// What the image is, by its first bytes.
        mime_type: &'static str,
        /// The file.
        bytes: Vec<u8>,
    },
    /// All of something else that is not text.
    Binary {
        /// The file.
        bytes: Vec<u8>,
    },
}

/// Some lines of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPage {
    /// The lines, with their endings as they are.
    pub text: String,
    /// The number of the first one; the file's first line is 1.
    pub first: u64,
    /// How many these are.
    pub lines: u64,
    /// How many the file has.
    pub total_lines: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Which limit there are no more for, if the file has more.
    pub cut_by: Option<TruncatedBy>,
    /// Only the start of the last line is here: it alone is too long.
    pub line_cut: bool,
    /// Some bytes are not UTF-8, and U+FFFD is in their place.
    pub lossy: bool,
    /// Where to go on, if there are more lines.
    pub next: Option<u64>,
}

/// What ended a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TruncatedBy {
    /// The number of lines that was asked for, or 2,000.
    Lines,
    /// 50 KiB.
    Bytes,
}

impl TruncatedBy {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Bytes => "bytes",
        }
    }
}

impl TextPage {
    /// The lines with their numbers in front, as a model reads them.
    #[must_use]
    pub fn numbered(&self) -> String {
        let mut numbered = String::with_capacity(self.text.len() + self.text.len() / 4);
        for (line, number) in self.text.split_inclusive('\n').zip(self.first..) {
            let _ = write!(numbered, "{number:>6}\t{line}");
        }
        numbered
    }

    /// The same, with what else there is to know: that it is empty or cut, and where to go on, by the caller's way of counting.
    #[must_use]
    pub fn shown(&self, next: Option<u64>) -> String {
        let mut shown = self.numbered();
        let mut note = |text: String| {
            let separator = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
            let _ = write!(shown, "{separator}({text})");
        };
        if self.total_lines == 0 {
            note("the file is empty".into());
        }
        if self.line_cut {
            note(format!("line {} is longer than {MAX_TEXT} bytes, and cut there", self.first));
        }
        if self.lossy {
            note("some bytes are not UTF-8, and shown as \u{fffd}".into());
        }
        if let Some(next) = next {
            note(format!("{} of {} lines; go on with offset {next}", self.lines, self.total_lines));
        }
        shown
    }
}

impl Files {
    /// Lines of a text from a number on, which counts from 1: at most 2,000 and at most 50 KiB, whole ones; or an image, or the bytes
    /// of what is neither, if there are at most so many. It blocks, as all lines are counted; `is_wanted` is asked on the way whether to go
    /// on.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is no such file, it can't be read, it has fewer lines, is no text and larger, or not wanted any
    /// more.
    pub fn read(
        &self,
        path: &str,
        offset: u64,
        limit: Option<u64>,
        max_bytes: u64,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<FileContents, FileError> {
        let path = self.resolve(path.as_bytes())?;
        if offset == 0 {
            return Err(FileError::argument(&path, "the offset counts from 1"));
        }
        let mut file = open(self, &path)?;
        let mut block = Vec::with_capacity(START);
        read_block(&mut file, START, &mut block).map_err(|error| FileError::system(&path, &error))?;
        if let Some(mime_type) = image(&block) {
            return Ok(FileContents::Image { mime_type, bytes: all(file, &path, max_bytes)? });
        }
        if !is_text(&block) {
            return Ok(FileContents::Binary { bytes: all(file, &path, max_bytes)? });
        }
        let limit = limit.unwrap_or(MAX_LINES).min(MAX_LINES);
        let mut window = Window::new(offset, limit);
        while !block.is_empty() {
            window.add(&block);
            if !is_wanted() {
                return Err(FileError::Unwanted);
            }
            read_block(&mut file, MAX_BLOCK / 4, &mut block).map_err(|error| FileError::system(&path, &error))?;
        }
        window.part(&path).map(FileContents::Text)
    }

    /// All bytes of a file, if there are at most so many. It blocks.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is no such file, it can't be read, or it is larger.
    pub fn read_raw(&self, path: &str, max_bytes: u64) -> Result<Vec<u8>, FileError> {
        let path = self.resolve(path.as_bytes())?;
        all(open(self, &path)?, &path, max_bytes)
    }

    /// A reader of a file, for contents of any size. It blocks.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is no such file, or it can't be read.
    pub fn reader(&self, path: &str) -> Result<impl std::io::Read + Send + use<>, FileError> {
        open(self, &self.resolve(path.as_bytes())?)
    }
}

fn open(files: &Files, path: &FilePath) -> Result<File, FileError> {
    Ok(walk::open(files, path, Mode::Read, &mut Quota::new(0, 0))?.file)
}

/// The whole file, whatever its position is.
pub fn all(mut file: File, path: &FilePath, most: u64) -> Result<Vec<u8>, FileError> {
    let system = |error| FileError::system(path, &error);
    let too_large = || FileError::Limit(format!("{}: it is larger than the {most} bytes that can be read at once", path.name()));
    let size = file.metadata().map_err(system)?.len();
    if size > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.rewind().map_err(system)?;
    // It may grow meanwhile.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(system)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// The next bytes, as many as asked for if the file has them.
pub fn read_block(file: &mut File, size: usize, block: &mut Vec<u8>) -> std::io::Result<()> {
    block.clear();
    file.take(size as u64).read_to_end(block).map(|_| ())
}

/// What image it is, by its first bytes.
fn image(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Whether a file that starts so is text, whichever lines of it are asked for.
fn is_text(start: &[u8]) -> bool {
    let is_utf8 = match str::from_utf8(start) {
        Ok(_) => true,
        // The block may end inside a character, but a file may not.
        Err(error) => error.error_len().is_none() && start.len() == START,
    };
    is_utf8 && !start.contains(&0)
}
