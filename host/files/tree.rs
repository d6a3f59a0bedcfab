//! All files below the io dir: pages of them, and what they take.

use super::{
    disk::ENTRY,
    error::FileError,
    path::{FilePath, MAX_COMPONENTS},
    reserved::is_temporary,
    root::Files,
    walker::{Walker, entries, kind_of, open, system},
};
use cap_std::fs::{Dir, ReadDir};
use std::{io::ErrorKind, ops::ControlFlow, sync::Arc};

/// A file below the io dir.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileEntry {
    /// The path, relative to the io dir.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Some of the files, in name order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilePage {
    /// The files.
    pub entries: Vec<FileEntry>,
    /// There are more behind the last one.
    pub more: bool,
}

impl Files {
    /// Regular files in name order: at most so many, from behind a name on. Links are left out and not followed, and so are names that
    /// are not UTF-8. It blocks; `is_wanted` is asked on the way whether to go on.
    ///
    /// # Errors
    ///
    /// When a folder can't be read, or the page is not wanted any more.
    pub fn page(&self, after: Option<&str>, most: usize, is_wanted: &dyn Fn() -> bool) -> Result<FilePage, FileError> {
        let mut page = FilePage::default();
        let Some(root) = self.root(&FilePath::home())? else { return Ok(page) };
        let mut walker = Walker::new(root, after, is_wanted)?;
        while let Some(found) = walker.next()? {
            if found.is_folder {
                walker.enter(&found)?;
            } else if page.entries.len() == most {
                page.more = true;
                break;
            } else if let Ok(metadata) = found.folder.symlink_metadata(found.name()) {
                page.entries.push(FileEntry { name: found.path, bytes: metadata.len() });
            }
        }
        Ok(page)
    }
}

/// What all files take, as [`super::disk`] counts it. What can't be looked at is an error: it might be a lot.
pub fn size(files: &Files) -> Result<u64, FileError> {
    let mut total = 0_u64;
    let Some(root) = files.root(&FilePath::home())? else { return Ok(0) };
    let mut way = vec![(Arc::clone(&root), entries(&root)?)];
    while let Some((folder, entries)) = way.last_mut() {
        match weigh(folder, entries, &mut total)? {
            ControlFlow::Break(()) => drop(way.pop()),
            ControlFlow::Continue(Some(next)) if way.len() < MAX_COMPONENTS => {
                let entries = self::entries(&next)?;
                way.push((Arc::new(next), entries));
            }
            ControlFlow::Continue(_) => {}
        }
    }
    Ok(total)
}

/// Counts the next entry of a folder; if that is a folder, it is the next to look into.
fn weigh(folder: &Dir, entries: &mut ReadDir, total: &mut u64) -> Result<ControlFlow<(), Option<Dir>>, FileError> {
    let Some(entry) = entries.next() else { return Ok(ControlFlow::Break(())) };
    let entry = entry.map_err(system)?;
    // What is written meanwhile is counted by whoever writes it.
    if entry.file_name().to_str().is_some_and(is_temporary) {
        return Ok(ControlFlow::Continue(None));
    }
    let Some(kind) = kind_of(&entry)? else { return Ok(ControlFlow::Continue(None)) };
    let bytes = match entry.metadata() {
        Ok(metadata) if kind.is_file() => metadata.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ControlFlow::Continue(None)),
        Ok(_) => 0,
        Err(error) => return Err(system(error)),
    };
    *total = total.saturating_add(ENTRY).saturating_add(bytes);
    Ok(ControlFlow::Continue(if kind.is_dir() { open(folder, &entry.file_name())? } else { None }))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes files from outside")]
mod tests {
    use super::Files;
    use std::fs;

    fn all(files: &Files, most: usize) -> Vec<String> {
        let (mut names, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = files.page(after.as_deref(), most, &|| true).unwrap();
            assert!(page.entries.len() <= most);
            names.extend(page.entries.into_iter().map(|entry| entry.name));
            if !page.more {
                return names;
            }
            after = names.last().cloned();
        }
    }

    #[test]
    fn pages_of_every_size_have_all_files_in_the_order_of_their_names() {
        let folder = tempfile::TempDir::new().unwrap();
        let mut expected = vec!["a", "a.txt", "a/b/c", "a/b.d/c", "a/b/d", "b/x", "b-/x", "c", "z/z/z/z"];
        // A file and a folder can't share a name.
        expected.remove(0);
        for name in &expected {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::create_dir_all(folder.path().join("empty/empty")).unwrap();
        expected.sort_unstable();
        let files = Files::new(folder.path()).unwrap();
        for most in 1..=expected.len() + 1 {
            assert_eq!(all(&files, most), expected, "{most} at once");
        }
        assert_eq!(files.page(Some("b"), 100, &|| true).unwrap().entries[0].name, "b-/x");
        assert_eq!(files.page(Some("zz"), 100, &|| true).unwrap().entries, []);
    }

    /// Deep down, few names of a folder are held at once.
    #[test]
    fn a_folder_with_more_names_than_are_held_is_listed_whole() {
        let folder = tempfile::TempDir::new().unwrap();
        let (deep, count) = (folder.path().join("1/2/3/4/5/6/7/8"), 1500);
        for number in 0..count {
            fs::create_dir_all(deep.join(format!("empty{number}"))).unwrap();
            fs::write(deep.join(format!("file{number}")), "").unwrap();
        }
        let files = Files::new(folder.path()).unwrap();
        for most in [70, 2000] {
            let names = all(&files, most);
            assert_eq!(names.len(), count);
            assert!(names.is_sorted());
        }
        assert_eq!(super::size(&files).unwrap(), (2 * count as u64 + 8) * super::ENTRY);
        assert!(files.page(None, 10, &|| false).is_err());
    }
}
