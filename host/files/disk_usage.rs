//! Measures the disk usage of the io directory, for the [disk quota](super::disk_quota).

use super::{
    directory::Files,
    disk_quota::ENTRY_BYTES,
    error::FileError,
    path::{FilePath, MAX_COMPONENTS},
    reserved_names::is_temporary,
    traverse::{entries, file_type, open_child},
};
use cap_std::fs::{Dir, ReadDir};
use std::{io::ErrorKind, ops::ControlFlow, sync::Arc};

/// A measurement of the disk usage of all files and directories. It proceeds in steps, so that it can be abandoned between them.
pub struct Measurement {
    /// The directories on the path to the current entry.
    open: Vec<(Arc<Dir>, ReadDir)>,
    total: u64,
}

impl Measurement {
    /// Starts a measurement. The io directory need not exist.
    pub fn new(files: &Files) -> Result<Self, FileError> {
        let open = match files.root(&FilePath::root())? {
            Some(root) => vec![(Arc::clone(&root), entries(&root)?)],
            None => Vec::new(),
        };
        Ok(Self { open, total: 0 })
    }

    /// Measures up to `max_entries` files and directories. Returns the total if there are no more.
    ///
    /// Returns an error if a directory can't be read, because it could contain any number of bytes.
    pub fn step(&mut self, max_entries: usize) -> Result<Option<u64>, FileError> {
        for _ in 0..max_entries {
            let Some((directory, remaining)) = self.open.last_mut() else { return Ok(Some(self.total)) };
            match add_next(directory, remaining, &mut self.total)? {
                ControlFlow::Break(()) => drop(self.open.pop()),
                ControlFlow::Continue(Some(next)) if self.open.len() < MAX_COMPONENTS => {
                    let remaining = entries(&next)?;
                    self.open.push((Arc::new(next), remaining));
                }
                ControlFlow::Continue(_) => {}
            }
        }
        Ok(None)
    }
}

/// Returns the disk usage of all files and directories.
///
/// Returns an error if a directory can't be read, because it could contain any number of bytes.
pub fn measure(files: &Files) -> Result<u64, FileError> {
    let mut measurement = Measurement::new(files)?;
    loop {
        if let Some(total) = measurement.step(usize::MAX)? {
            return Ok(total);
        }
    }
}

/// Adds the next entry of a directory to the total. If the entry is a directory, returns it.
fn add_next(directory: &Dir, remaining: &mut ReadDir, total: &mut u64) -> Result<ControlFlow<(), Option<Dir>>, FileError> {
    let Some(entry) = remaining.next() else { return Ok(ControlFlow::Break(())) };
    let entry = entry.map_err(FileError::traversal)?;
    // Temporary files are counted by the operations that write them.
    if entry.file_name().to_str().is_some_and(is_temporary) {
        return Ok(ControlFlow::Continue(None));
    }
    let Some(kind) = file_type(&entry)? else { return Ok(ControlFlow::Continue(None)) };
    let bytes = match entry.metadata() {
        Ok(metadata) if kind.is_file() => metadata.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ControlFlow::Continue(None)),
        Ok(_) => 0,
        Err(error) => return Err(FileError::traversal(error)),
    };
    *total = total.saturating_add(ENTRY_BYTES).saturating_add(bytes);
    Ok(ControlFlow::Continue(if kind.is_dir() { open_child(directory, &entry.file_name())? } else { None }))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test creates files from outside")]
mod tests {
    use super::{ENTRY_BYTES, Files, Measurement, measure};
    use std::fs;

    #[test]
    fn files_and_directories_count_their_contents_and_an_entry_each() {
        let directory = tempfile::TempDir::new().unwrap();
        let files = Files::new(directory.path()).unwrap();
        assert_eq!(measure(&files).unwrap(), 0);
        fs::create_dir_all(directory.path().join("a/b")).unwrap();
        fs::write(directory.path().join("a/b/c"), [0; 5000]).unwrap();
        fs::write(directory.path().join("d"), "").unwrap();
        fs::create_dir(directory.path().join(".toolscript-tmp")).unwrap();
        fs::write(directory.path().join(".toolscript-tmp/e"), [0; 5000]).unwrap();
        assert_eq!(measure(&files).unwrap(), 5000 + 4 * ENTRY_BYTES);
        let (mut measurement, mut steps) = (Measurement::new(&files).unwrap(), 1);
        while measurement.step(1).unwrap().is_none() {
            steps += 1;
        }
        // Five entries, the ends of three directories, and a last step that finds nothing more.
        assert_eq!(steps, 9);
        assert_eq!(measurement.step(1).unwrap(), Some(5000 + 4 * ENTRY_BYTES));
    }
}
