//! Reads one file: lines of text, an image, or all bytes.

use super::{
    MAX_BLOCK, MAX_WHOLE_FILE,
    directory::Files,
    error::FileError,
    path::FilePath,
    protected_names::Access,
    resolve,
    text_page::{MAX_PAGE_LINES, PageReader, TextPage},
};
use crate::allocation;
use cap_std::fs::File;
use std::io::Seek as _;

/// The number of bytes at the start of a file that decide whether it is text, an image or other binary data.
pub const DETECTION_BYTES: usize = 8 << 10;

/// The contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileContents {
    /// Lines of a text file.
    Text(TextPage),
    /// A whole image.
    Image {
        /// The type of the image, detected from its first bytes.
        mime_type: &'static str,
        /// The contents of the file.
        bytes: Vec<u8>,
    },
    /// A whole file that is neither text nor an image.
    Binary {
        /// The contents of the file.
        bytes: Vec<u8>,
    },
}

impl Files {
    /// Reads lines of a text file, or a whole image or other binary file.
    ///
    /// `offset` is the number of the first line, counted from 1. At most `limit` whole lines are returned, and at most 2,000 lines and
    /// 50 KiB. A file that is not text must have at most `max_bytes` bytes, and at most 256 MiB.
    ///
    /// Blocks, and reads the whole file to count its lines. `should_continue` is called repeatedly; reading stops when it returns `false`.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid, the file does not exist or can't be read, `offset` is past its end, the file is not text
    /// and too large, or reading was stopped.
    pub fn read(
        &self,
        path: &str,
        offset: u64,
        limit: Option<u64>,
        max_bytes: u64,
        should_continue: &dyn Fn() -> bool,
    ) -> Result<FileContents, FileError> {
        let path = self.resolve(path.as_bytes(), Access::Read)?;
        if offset == 0 {
            return Err(FileError::argument(&path, "the offset counts from 1"));
        }
        let mut file = resolve::open_for_reading(self, &path)?;
        let mut block = Vec::new();
        read_block(&mut file, DETECTION_BYTES, &mut block).map_err(|error| FileError::system(&path, error))?;
        if let Some(mime_type) = image_type(&block) {
            return Ok(FileContents::Image { mime_type, bytes: read_all(&file, &path, max_bytes)? });
        }
        if !is_text(&block) {
            return Ok(FileContents::Binary { bytes: read_all(&file, &path, max_bytes)? });
        }
        let mut page = PageReader::new(offset, limit.unwrap_or(MAX_PAGE_LINES).min(MAX_PAGE_LINES));
        while !block.is_empty() {
            page.add(&block);
            if !should_continue() {
                return Err(FileError::Interrupted);
            }
            read_block(&mut file, MAX_BLOCK / 4, &mut block).map_err(|error| FileError::system(&path, error))?;
        }
        page.finish(&path).map(FileContents::Text)
    }

    /// Reads all bytes of a file of at most `max_bytes` bytes, and at most 256 MiB. Blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid, or the file does not exist, can't be read or is larger.
    pub fn read_raw(&self, path: &str, max_bytes: u64) -> Result<Vec<u8>, FileError> {
        let path = self.resolve(path.as_bytes(), Access::Read)?;
        read_all(&resolve::open_for_reading(self, &path)?, &path, max_bytes)
    }

    /// Opens a file of any size for reading. Blocks, and so does the returned reader.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid, or the file does not exist or can't be read.
    pub fn reader(&self, path: &str) -> Result<impl std::io::Read + Send + use<>, FileError> {
        resolve::open_for_reading(self, &self.resolve(path.as_bytes(), Access::Read)?)
    }
}

/// Reads the whole file, independent of its current position, if it has at most `max_bytes` bytes and at most [`MAX_WHOLE_FILE`].
pub fn read_all(mut file: &File, path: &FilePath, max_bytes: u64) -> Result<Vec<u8>, FileError> {
    let system = |error| FileError::system(path, error);
    let max_bytes = max_bytes.min(MAX_WHOLE_FILE);
    let too_large = || FileError::Limit(format!("{}: it is larger than the {max_bytes} bytes that can be read at once", path.name()));
    let size = file.metadata().map_err(system)?.len();
    if size > max_bytes {
        return Err(too_large());
    }
    let mut bytes = allocation::buffer(size).map_err(system)?;
    file.rewind().map_err(system)?;
    // The file may grow while it is read.
    allocation::read_up_to(file, max_bytes.saturating_add(1), &mut bytes).map_err(system)?;
    if bytes.len() as u64 > max_bytes { Err(too_large()) } else { Ok(bytes) }
}

/// Replaces `block` with the next `size` bytes, or with fewer at the end of the file.
pub fn read_block(file: &mut File, size: usize, block: &mut Vec<u8>) -> std::io::Result<()> {
    block.clear();
    allocation::read_up_to(file, size as u64, block)
}

/// Returns the MIME type of an image by its first bytes.
fn image_type(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Returns `true` if a file with this start is text. The result does not depend on which lines are read.
fn is_text(start: &[u8]) -> bool {
    let is_utf8 = match str::from_utf8(start) {
        Ok(_) => true,
        // A full block may end inside a character. A shorter block is the whole file, which may not.
        Err(error) => error.error_len().is_none() && start.len() == DETECTION_BYTES,
    };
    is_utf8 && !start.contains(&0)
}
