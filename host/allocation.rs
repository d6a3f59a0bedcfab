//! Memory whose size a client, a script, a file or a server decides.
//!
//! A failed allocation ends the process, unless it is made with one of these functions. `clippy.toml` bans everywhere else what allocates a
//! given size at once, or all that a reader, a file or a response returns. What `format!`, `collect`, `clone` and `extend` copy is already
//! in memory, and was counted against a limit when it came in: they need no limit of their own.

use std::io::{self, ErrorKind, Read};

/// Creates an empty buffer with room for `size` bytes.
///
/// # Errors
///
/// Returns an error of the kind [`OutOfMemory`](ErrorKind::OutOfMemory) if there is not enough memory.
pub fn buffer(size: u64) -> io::Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let size = usize::try_from(size).map_err(|_| ErrorKind::OutOfMemory)?;
    buffer.try_reserve_exact(size).map_err(|_| ErrorKind::OutOfMemory)?;
    Ok(buffer)
}

/// Creates a buffer of `size` zeros.
///
/// # Errors
///
/// Returns an error of the kind [`OutOfMemory`](ErrorKind::OutOfMemory) if there is not enough memory.
pub fn zeros(size: usize) -> io::Result<Vec<u8>> {
    let mut zeros = buffer(size as u64)?;
    #[expect(clippy::disallowed_methods, reason = "the memory is already reserved")]
    zeros.resize(size, 0);
    Ok(zeros)
}

/// Appends at most `max_bytes` bytes of a reader to a buffer.
///
/// # Errors
///
/// Returns an error if reading fails or there is not enough memory.
pub fn read_up_to(reader: impl Read, max_bytes: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "the number of bytes is limited, and a failed allocation is an error")]
    reader.take(max_bytes).read_to_end(buffer).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::{buffer, read_up_to, zeros};
    use std::io::{self, ErrorKind};

    #[test]
    fn a_buffer_that_is_too_large_is_an_error() {
        assert!(buffer(1 << 20).unwrap().capacity() >= 1 << 20);
        for size in [1 << 50, u64::MAX] {
            assert_eq!(buffer(size).unwrap_err().kind(), ErrorKind::OutOfMemory);
        }
    }

    #[test]
    fn zeros_have_their_size() {
        assert_eq!(zeros(3).unwrap(), [0; 3]);
        assert_eq!(zeros(usize::MAX).unwrap_err().kind(), ErrorKind::OutOfMemory);
    }

    #[test]
    fn an_endless_reader_is_read_up_to_the_limit() {
        let mut bytes = vec![1];
        read_up_to(io::repeat(2), 3, &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 2, 2]);
    }
}
