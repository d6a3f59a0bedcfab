//! All files below the io dir, and the contents of one: for those who look at them from outside of a script.
//!
//! A directory may hold more than fits into memory, and more folders than there are descriptors: what is open at any time is the way
//! to one folder, and what is held is one page.

use super::{
    disk::ENTRY,
    error::FileError,
    handle::Mode,
    path::{FilePath, MAX_COMPONENTS},
    quota::Quota,
    root::Files,
    walk,
};
use cap_std::fs::{Dir, DirEntry, ReadDir};
use std::{
    collections::{BTreeSet, VecDeque},
    io::{ErrorKind, Read as _},
    ops::ControlFlow,
    sync::Arc,
};

/// Names of one folder that are held at once, so that they are in order.
const NAMES_AT_ONCE: usize = 1024;

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
        let here = FilePath::parse(b".")?;
        let Some(root) = self.root(&here)? else { return Ok(page) };
        let mut way = vec![Level::new(root, String::new(), after, is_wanted)?];
        while let depth @ 1.. = way.len() {
            let level = &mut way[depth - 1];
            let Some(name) = level.next(is_wanted)? else {
                way.pop();
                continue;
            };
            let path = format!("{}{name}", level.prefix);
            match name.strip_suffix('/') {
                Some(folder) if depth < MAX_COMPONENTS => {
                    // What is gone by now, or became a link meanwhile, is not there.
                    let Some(next) = open(&level.folder, folder)? else { continue };
                    let after = after.and_then(|after| after.strip_prefix(&path));
                    way.push(Level::new(Arc::new(next), path, after, is_wanted)?);
                }
                Some(_) => {}
                None if page.entries.len() == most => {
                    page.more = true;
                    break;
                }
                None => {
                    let Ok(metadata) = level.folder.symlink_metadata(&name) else { continue };
                    page.entries.push(FileEntry { name: path, bytes: metadata.len() });
                }
            }
        }
        Ok(page)
    }

    /// The contents of a file, if it has at most so many bytes. It blocks.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule, there is no such file, it can't be read, or it is larger.
    pub fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, FileError> {
        let path = FilePath::parse(path.as_bytes())?;
        let opened = walk::open(self, &path, Mode::Read, &mut Quota::new(0, 0))?;
        let mut bytes = Vec::new();
        let read = opened.file.take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| FileError::system(&path, &error))?;
        if bytes.len() as u64 > most {
            return Err(FileError::Limit(format!("{}: it is larger than the {most} bytes that can be read at once", path.name())));
        }
        Ok(bytes)
    }
}

/// A folder on the way, and its next names. Those of folders end with a slash: so the order of names is that of whole paths.
struct Level {
    folder: Arc<Dir>,
    prefix: String,
    names: VecDeque<String>,
    /// There may be more behind the names.
    more: bool,
}

impl Level {
    fn new(folder: Arc<Dir>, prefix: String, after: Option<&str>, is_wanted: &dyn Fn() -> bool) -> Result<Self, FileError> {
        let mut level = Self { folder, prefix, names: VecDeque::new(), more: true };
        // The folder that the last page ended in is gone into again.
        let (behind, inside) = match after.and_then(|after| after.split_once('/')) {
            Some((folder, _)) => (None, Some(format!("{folder}/"))),
            None => (after, None),
        };
        level.read(behind, inside.as_deref(), is_wanted)?;
        Ok(level)
    }

    fn next(&mut self, is_wanted: &dyn Fn() -> bool) -> Result<Option<String>, FileError> {
        let name = self.names.pop_front();
        if let (Some(last), true, true) = (&name, self.names.is_empty(), self.more) {
            self.read(Some(&last.clone()), None, is_wanted)?;
        }
        Ok(name)
    }

    /// The first names behind one, or from one on.
    fn read(&mut self, behind: Option<&str>, from: Option<&str>, is_wanted: &dyn Fn() -> bool) -> Result<(), FileError> {
        let mut first = BTreeSet::new();
        self.more = false;
        for entry in entries(&self.folder)? {
            if !is_wanted() {
                return Err(FileError::Limit("the listing is not wanted any more".into()));
            }
            let Some(name) = name_of(&entry.map_err(system)?)? else { continue };
            if behind.is_some_and(|behind| name.as_str() <= behind) || from.is_some_and(|from| name.as_str() < from) {
                continue;
            }
            first.insert(name);
            if first.len() > NAMES_AT_ONCE {
                first.pop_last();
                self.more = true;
            }
        }
        self.names = first.into_iter().collect();
        Ok(())
    }
}

/// The name of a file, or of a folder with a slash behind it; nothing for what is neither, or not UTF-8.
fn name_of(entry: &DirEntry) -> Result<Option<String>, FileError> {
    let Ok(name) = entry.file_name().into_string() else { return Ok(None) };
    let kind = entry.file_type().map_err(system)?;
    Ok(if kind.is_dir() { Some(name + "/") } else { kind.is_file().then_some(name) })
}

/// What all files take, as [`super::disk`] counts it. What can't be looked at is an error: it might be a lot.
pub fn size(files: &Files) -> Result<u64, FileError> {
    let mut total = 0_u64;
    let Some(root) = files.root(&FilePath::parse(b".")?)? else { return Ok(0) };
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
    let kind = entry.file_type().map_err(system)?;
    let bytes = match entry.metadata() {
        Ok(metadata) if kind.is_file() => metadata.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ControlFlow::Continue(None)),
        Ok(_) => 0,
        Err(error) => return Err(system(error)),
    };
    *total = total.saturating_add(ENTRY).saturating_add(bytes);
    Ok(ControlFlow::Continue(if kind.is_dir() { open_os(folder, &entry.file_name())? } else { None }))
}

fn entries(folder: &Dir) -> Result<ReadDir, FileError> {
    folder.entries().map_err(system)
}

fn open(folder: &Dir, name: &str) -> Result<Option<Dir>, FileError> {
    open_os(folder, name.as_ref())
}

/// A folder, unless it is gone or became something else meanwhile.
fn open_os(folder: &Dir, name: &std::ffi::OsStr) -> Result<Option<Dir>, FileError> {
    use cap_fs_ext::DirExt as _;
    match folder.open_dir_nofollow(name) {
        Ok(next) => Ok(Some(next)),
        Err(error) if folder.symlink_metadata(name).is_ok_and(|metadata| metadata.is_dir()) => Err(system(error)),
        Err(_) => Ok(None),
    }
}

fn system(error: std::io::Error) -> FileError {
    FileError::of_folder(&error)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes files from outside")]
mod tests {
    use super::{Files, NAMES_AT_ONCE};
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

    #[test]
    fn a_folder_with_more_names_than_are_held_is_listed_whole() {
        let folder = tempfile::TempDir::new().unwrap();
        let count = 2 * NAMES_AT_ONCE + 10;
        for number in 0..count {
            fs::create_dir(folder.path().join(format!("empty{number}"))).unwrap();
            fs::write(folder.path().join(format!("file{number}")), "").unwrap();
        }
        let files = Files::new(folder.path()).unwrap();
        let names = all(&files, 1000);
        assert_eq!(names.len(), count);
        assert!(names.is_sorted());
        assert_eq!(super::size(&files).unwrap(), 2 * count as u64 * super::ENTRY);
        assert!(files.page(None, 10, &|| false).is_err());
    }
}
