//! Lists all files below the io directory, page by page.

use super::{directory::Files, error::FileError, path::FilePath, traverse::Traversal};

/// A file below the io directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileEntry {
    /// The path, relative to the io directory.
    pub name: String,
    /// The size of the file.
    pub bytes: u64,
}

/// A page of files, in name order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilePage {
    /// The files.
    pub entries: Vec<FileEntry>,
    /// There are more files after the last one.
    pub has_more: bool,
}

impl Files {
    /// Lists up to `max_files` regular files in name order, starting after the name `after`. Symlinks and names that are not UTF-8 are
    /// skipped.
    ///
    /// Blocks. `should_continue` is called repeatedly; the listing stops when it returns `false`.
    ///
    /// # Errors
    ///
    /// Returns an error if a directory can't be read, or the listing was stopped.
    pub fn page(&self, after: Option<&str>, max_files: usize, should_continue: &dyn Fn() -> bool) -> Result<FilePage, FileError> {
        let mut page = FilePage::default();
        let Some(root) = self.root(&FilePath::root())? else { return Ok(page) };
        let mut traversal = Traversal::new(root, self.names(), after, should_continue)?;
        while let Some(entry) = traversal.next()? {
            if entry.is_directory {
                traversal.enter(&entry)?;
            } else if page.entries.len() == max_files {
                page.has_more = true;
                break;
            } else if let Ok(metadata) = entry.parent.symlink_metadata(entry.name()) {
                page.entries.push(FileEntry { name: entry.path, bytes: metadata.len() });
            }
        }
        Ok(page)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test creates files from outside")]
mod tests {
    use super::Files;
    use crate::files::{disk_quota::ENTRY_BYTES, disk_usage};
    use std::fs;

    fn all(files: &Files, max_files: usize) -> Vec<String> {
        let (mut names, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = files.page(after.as_deref(), max_files, &|| true).unwrap();
            assert!(page.entries.len() <= max_files);
            names.extend(page.entries.into_iter().map(|entry| entry.name));
            if !page.has_more {
                return names;
            }
            after = names.last().cloned();
        }
    }

    #[test]
    fn pages_of_every_size_list_all_files_in_name_order() {
        let directory = tempfile::TempDir::new().unwrap();
        let mut expected = vec!["a", "a.txt", "a/b/c", "a/b.d/c", "a/b/d", "b/x", "b-/x", "c", "z/z/z/z"];
        // A file and a directory can't have the same name.
        expected.remove(0);
        for name in &expected {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::create_dir_all(directory.path().join("empty/empty")).unwrap();
        expected.sort_unstable();
        let files = Files::new(directory.path()).unwrap();
        for max_files in 1..=expected.len() + 1 {
            assert_eq!(all(&files, max_files), expected, "{max_files} per page");
        }
        assert_eq!(files.page(Some("b"), 100, &|| true).unwrap().entries[0].name, "b-/x");
        assert_eq!(files.page(Some("zz"), 100, &|| true).unwrap().entries, []);
    }

    /// In a deep directory, the traversal holds only a part of the names at once.
    #[test]
    fn a_directory_with_more_names_than_are_held_is_listed_completely() {
        let directory = tempfile::TempDir::new().unwrap();
        let (deep, count) = (directory.path().join("1/2/3/4/5/6/7/8"), 1500);
        for number in 0..count {
            fs::create_dir_all(deep.join(format!("empty{number}"))).unwrap();
            fs::write(deep.join(format!("file{number}")), "").unwrap();
        }
        let files = Files::new(directory.path()).unwrap();
        for max_files in [70, 2000] {
            let names = all(&files, max_files);
            assert_eq!(names.len(), count);
            assert!(names.is_sorted());
        }
        assert_eq!(disk_usage::measure(&files).unwrap(), (2 * count as u64 + 8) * ENTRY_BYTES);
        assert!(files.page(None, 10, &|| false).is_err());
    }
}
