//! The io dir: opened once, made when it is first written to.

use super::{
    disk::DiskLimit,
    error::FileError,
    path::{FilePath, Start},
    reserved, temporary, tree,
};
use cap_fs_ext::{DirExt as _, MetadataExt as _};
use cap_std::{ambient_authority, fs::Dir};
use std::{
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
    sync::{Arc, OnceLock, RwLock},
};

/// A directory whose files scripts may use; cloning is cheap, and all clones are the same directory.
///
/// It is opened at once if it exists, and otherwise made when something is first written to it. Once open, that directory is
/// the one in use, whatever becomes of its name.
#[derive(Clone, Debug)]
pub struct Files {
    shared: Arc<Shared>,
    start: Start,
}

#[derive(Debug)]
struct Shared {
    parent: Parent,
    name: OsString,
    root: OnceLock<Arc<Dir>>,
    shrinking: RwLock<()>,
    disk: Option<DiskLimit>,
}

/// The folder that an io dir lies in.
#[derive(Clone, Debug)]
enum Parent {
    /// By the name that the caller gave.
    Path(PathBuf),
    /// Another io dir.
    Files(Files),
}

/// Why a directory can't be an io dir.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// The path has `..` in it.
    #[error("a path with '..' is not allowed; name the folder itself")]
    Traversal,
    /// The name is reserved: `.toolscript-tmp` or `toolscript.toml`.
    #[error("the name is reserved; choose another")]
    Reserved,
    /// It is the root of a file system.
    #[error("it is all of the file system; name a folder in it")]
    Root,
    /// It is there, and is a symbolic link.
    #[error("it is a symbolic link; name the folder that it points to")]
    Link,
    /// It is there, and can't be opened as a folder.
    #[error("it can't be opened as a folder: {0}")]
    Unusable(io::Error),
}

impl Files {
    /// The files of this directory, which need not exist yet. A relative path counts from the working directory, now.
    ///
    /// # Errors
    ///
    /// When the path has `..` in it, or what is there is a link or no folder.
    pub fn new(dir: impl AsRef<Path>) -> Result<Self, DirectoryError> {
        let dir = dir.as_ref();
        if dir.components().any(|component| component == Component::ParentDir) {
            return Err(DirectoryError::Traversal);
        }
        let absolute = std::path::absolute(dir).map_err(DirectoryError::Unusable)?;
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else { return Err(DirectoryError::Root) };
        Self::open(Parent::Path(parent.into()), name.into())
    }

    /// The files of one folder in this directory, as a directory of their own; neither need exist yet.
    ///
    /// # Errors
    ///
    /// When the name is not that of one folder, or what is there is a link or no folder.
    pub fn folder(&self, name: &str) -> Result<Self, DirectoryError> {
        let mut components = Path::new(name).components();
        match (components.next(), components.next()) {
            _ if reserved::is_reserved(name) => Err(DirectoryError::Reserved),
            (Some(Component::Normal(only)), None) if only == name => Self::open(Parent::Files(self.clone()), name.into()),
            _ => Err(DirectoryError::Traversal),
        }
    }

    /// The same directory, with a limit on what all files in it may take together. What is there is counted now, which blocks; it is
    /// kept up to date by what scripts do with the files that this returns. Each file and folder counts 1 KiB beside its contents.
    ///
    /// # Errors
    ///
    /// When a folder can't be read.
    pub fn with_disk_limit(self, max_bytes: u64) -> Result<Self, FileError> {
        let disk = DiskLimit::new(max_bytes, tree::size(&self)?);
        let Shared { parent, name, root, .. } = &*self.shared;
        let (parent, name, root) = (parent.clone(), name.clone(), root.clone());
        let shared = Shared { parent, name, root, shrinking: RwLock::new(()), disk: Some(disk) };
        Ok(Self { shared: Arc::new(shared), start: self.start })
    }

    /// The same directory, where relative paths start at a folder in it, which need not exist yet. The directory itself is home from
    /// now on: `~`, and `~/` in front of a path that counts from it. Names in results and errors always count from home.
    ///
    /// # Errors
    ///
    /// When the path breaks a rule.
    pub fn with_working_directory(self, folder: &str) -> Result<Self, FileError> {
        let mut files = self.with_home();
        files.start = Start::Folder(files.start.resolve(folder.as_bytes())?);
        Ok(files)
    }

    /// The same directory, where relative paths start at the directory itself unless it says otherwise, and `~` is home.
    pub(crate) fn with_home(mut self) -> Self {
        if matches!(self.start, Start::Root) {
            self.start = Start::Folder(FilePath::home());
        }
        self
    }

    /// Where relative paths start, from the directory on; `.` is the directory itself.
    #[must_use]
    pub fn working(&self) -> &str {
        self.start.name()
    }

    /// Returns `true` if `directory` is this directory or lies beneath it.
    ///
    /// Directories are compared by identity (device and inode), not by name, so that symlinks and bind mounts are recognised.
    ///
    /// # Errors
    ///
    /// When `directory` or one of its ancestors can't be opened.
    pub fn contains(&self, directory: &Path) -> io::Result<bool> {
        let Some(root) = self.existing()? else { return Ok(false) };
        let root = root.dir_metadata()?;
        #[expect(clippy::disallowed_methods, reason = "resolves a path that the host chose, not one from a script")]
        let directory = std::fs::canonicalize(directory)?;
        for ancestor in directory.ancestors() {
            let ancestor = Dir::open_ambient_dir(ancestor, ambient_authority())?.dir_metadata()?;
            if (ancestor.dev(), ancestor.ino()) == (root.dev(), root.ino()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The path from the directory on.
    pub(super) fn resolve(&self, path: &[u8]) -> Result<FilePath, FileError> {
        self.start.resolve(path)
    }

    /// Whether relative paths start here, or this is the directory itself.
    pub(super) fn is_start(&self, path: &FilePath) -> bool {
        self.start.is(path)
    }

    fn open(parent: Parent, name: OsString) -> Result<Self, DirectoryError> {
        let shared = Shared { parent, name, root: OnceLock::new(), shrinking: RwLock::new(()), disk: None };
        let files = Self { shared: Arc::new(shared), start: Start::Root };
        match files.existing() {
            Ok(_) => Ok(files),
            Err(error) if files.shared.is_link() => {
                tracing::debug!(%error, "the io dir is a link");
                Err(DirectoryError::Link)
            }
            Err(error) => Err(DirectoryError::Unusable(error)),
        }
    }

    /// The directory, if it exists by now.
    pub(super) fn root(&self, path: &FilePath) -> Result<Option<Arc<Dir>>, FileError> {
        self.existing().map_err(|error| FileError::system(path, &error))
    }

    /// The directory, made if it does not exist.
    pub(super) fn make_root(&self, path: &FilePath) -> Result<Arc<Dir>, FileError> {
        self.existing_or_made().map_err(|error| FileError::system(path, &error))
    }

    fn existing_or_made(&self) -> io::Result<Arc<Dir>> {
        if let Some(root) = self.existing()? {
            return Ok(root);
        }
        self.shared.make()?;
        self.existing()?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The limit on all files together, if there is one.
    pub(super) fn disk(&self) -> Option<&DiskLimit> {
        self.shared.disk.as_ref()
    }

    /// Held shared by whoever writes at a place that it has compared with a file's size, and alone by whoever makes a file
    /// shorter: no run's write becomes a hole that was not counted because another run emptied the file meanwhile.
    pub(crate) fn shrinking(&self) -> &RwLock<()> {
        &self.shared.shrinking
    }

    fn existing(&self) -> io::Result<Option<Arc<Dir>>> {
        if let Some(root) = self.shared.root.get() {
            return Ok(Some(Arc::clone(root)));
        }
        match self.shared.open() {
            // Of two runs that open it at the same time, one wins, and both use that one's.
            Ok(dir) => Ok(Some(Arc::clone(self.shared.root.get_or_init(|| {
                if let Err(error) = temporary::sweep(&dir) {
                    tracing::debug!(%error, "temporary files are left as they are");
                }
                Arc::new(dir)
            })))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Shared {
    /// Opening follows no link in its own name; making it does not either.
    fn open(&self) -> io::Result<Dir> {
        self.parent()?.open_dir_nofollow(&self.name)
    }

    fn make(&self) -> io::Result<()> {
        let parent = match &self.parent {
            Parent::Path(path) => {
                Dir::create_ambient_dir_all(path, ambient_authority())?;
                self.parent()?
            }
            Parent::Files(files) => files.existing_or_made()?,
        };
        parent.create_dir(&self.name).or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
    }

    /// The folder that it lies in, if that exists.
    fn parent(&self) -> io::Result<Arc<Dir>> {
        match &self.parent {
            Parent::Path(path) => Dir::open_ambient_dir(path, ambient_authority()).map(Arc::new),
            Parent::Files(files) => files.existing()?.ok_or_else(|| io::ErrorKind::NotFound.into()),
        }
    }

    fn is_link(&self) -> bool {
        self.parent().and_then(|parent| parent.symlink_metadata(&self.name)).is_ok_and(|metadata| metadata.is_symlink())
    }
}
