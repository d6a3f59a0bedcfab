//! Many files at once, with a result for each.

use super::{
    error::FileError,
    quota::Quota,
    root::Files,
    write::{WriteMode, WriteResult},
};

impl Files {
    /// Writes files, in place of those that exist, within one quota for all of them. It blocks.
    pub fn upload<P: AsRef<str>, C: AsRef<[u8]>>(
        &self,
        files: impl IntoIterator<Item = (P, C)>,
        quota: &mut Quota,
    ) -> Vec<Result<WriteResult, FileError>> {
        let write = |(path, contents): (P, C)| self.write(path.as_ref(), contents.as_ref(), WriteMode::Overwrite, quota);
        files.into_iter().map(write).collect()
    }

    /// Reads files: at most so many bytes in all. It blocks.
    pub fn download<P: AsRef<str>>(&self, paths: impl IntoIterator<Item = P>, max_bytes: u64) -> Vec<Result<Vec<u8>, FileError>> {
        let mut left = max_bytes;
        let read = |path: P| {
            let bytes = self.read_raw(path.as_ref(), left)?;
            left -= bytes.len() as u64;
            Ok(bytes)
        };
        paths.into_iter().map(read).collect()
    }
}
