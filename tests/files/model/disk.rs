//! Storage for the reference implementation: in memory, or native files.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    rc::Rc,
};
use tempfile::TempDir;

/// A flat directory of files.
pub trait Disk {
    type File: Handle;
    fn exists(&self, name: &str) -> bool;
    fn open(&mut self, name: &str, mode: &str) -> Self::File;
    fn remove(&mut self, name: &str);
    /// Renames a file, and replaces a file of the new name. Open handles keep their file.
    fn rename(&mut self, old: &str, new: &str);
    /// Returns the contents of all files by name.
    fn all(&self) -> BTreeMap<String, Vec<u8>>;
}

/// An open file with random access.
pub trait Handle {
    fn length(&mut self) -> u64;
    /// Returns the bytes from a position to the end.
    fn rest(&mut self, position: u64) -> Vec<u8>;
    /// Writes bytes at a position. A gap before it is filled with zeros.
    fn write(&mut self, position: u64, bytes: &[u8]);
}

/// Files in memory.
#[derive(Default)]
pub struct Memory(BTreeMap<String, Rc<RefCell<Vec<u8>>>>);

impl Disk for Memory {
    type File = Rc<RefCell<Vec<u8>>>;

    fn exists(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn open(&mut self, name: &str, mode: &str) -> Self::File {
        let file = Rc::clone(self.0.entry(name.to_owned()).or_default());
        if mode.starts_with('w') {
            file.borrow_mut().clear();
        }
        file
    }

    fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    fn rename(&mut self, old: &str, new: &str) {
        let file = self.0.remove(old).expect("the file exists");
        self.0.insert(new.to_owned(), file);
    }

    fn all(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.iter().map(|(name, file)| (name.clone(), file.borrow().clone())).collect()
    }
}

impl Handle for Rc<RefCell<Vec<u8>>> {
    fn length(&mut self) -> u64 {
        self.borrow().len() as u64
    }

    fn rest(&mut self, position: u64) -> Vec<u8> {
        self.borrow().get(position as usize..).unwrap_or_default().to_vec()
    }

    fn write(&mut self, position: u64, bytes: &[u8]) {
        let (mut content, start) = (self.borrow_mut(), position as usize);
        let end = start + bytes.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        content[start..end].copy_from_slice(bytes);
    }
}

/// Native files in a temporary directory.
pub struct Native(pub TempDir);

impl Native {
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

impl Disk for Native {
    type File = File;

    fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    fn open(&mut self, name: &str, mode: &str) -> File {
        let new = mode.starts_with(['w', 'a']);
        let options = OpenOptions::new().read(true).write(true).create(new).truncate(mode.starts_with('w')).clone();
        options.open(self.path(name)).expect("a file")
    }

    fn remove(&mut self, name: &str) {
        fs::remove_file(self.path(name)).expect("removed");
    }

    fn rename(&mut self, old: &str, new: &str) {
        fs::rename(self.path(old), self.path(new)).expect("renamed");
    }

    fn all(&self) -> BTreeMap<String, Vec<u8>> {
        contents(self.0.path())
    }
}

impl Handle for File {
    fn length(&mut self) -> u64 {
        self.metadata().expect("metadata").len()
    }

    fn rest(&mut self, position: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.seek(SeekFrom::Start(position)).expect("a position");
        self.read_to_end(&mut bytes).expect("bytes");
        bytes
    }

    fn write(&mut self, position: u64, bytes: &[u8]) {
        self.seek(SeekFrom::Start(position)).expect("a position");
        self.write_all(bytes).expect("written");
    }
}

/// Returns the contents of all files in a directory by name. A missing directory is empty.
pub fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = fs::read_dir(directory) else { return BTreeMap::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("a file"))).collect()
}
