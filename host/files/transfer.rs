//! Operations on several files, with a result for each.

use super::{
    directory::Files,
    error::FileError,
    write::{WriteMode, WriteResult},
    write_budget::WriteBudget,
};

impl Files {
    /// Writes several files, within one write budget for all of them. Existing files are replaced. Blocks.
    pub fn upload<P: AsRef<str>, C: AsRef<[u8]>>(
        &self,
        files: impl IntoIterator<Item = (P, C)>,
        budget: &mut WriteBudget,
    ) -> Vec<Result<WriteResult, FileError>> {
        let write = |(path, contents): (P, C)| self.write(path.as_ref(), contents.as_ref(), WriteMode::Overwrite, budget);
        files.into_iter().map(write).collect()
    }

    /// Reads several files with at most `max_bytes` bytes in total. Blocks.
    pub fn download<P: AsRef<str>>(&self, paths: impl IntoIterator<Item = P>, max_bytes: u64) -> Vec<Result<Vec<u8>, FileError>> {
        let mut bytes_left = max_bytes;
        let read = |path: P| {
            let bytes = self.read_raw(path.as_ref(), bytes_left)?;
            bytes_left -= bytes.len() as u64;
            Ok(bytes)
        };
        paths.into_iter().map(read).collect()
    }
}
