//! The io directory. It is opened once, and created by the first write.

use super::{
    disk_quota::DiskQuota,
    disk_usage::{self, Measurement},
    error::FileError,
    path::{FilePath, PathBase},
    protected_names::{Access, NameRules},
    recount, temporary_files,
};
use cap_fs_ext::{DirExt as _, MetadataExt as _};
use cap_std::{ambient_authority, fs::Dir};
use std::{
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
    sync::{Arc, OnceLock, RwLock, Weak},
};

/// A directory that scripts can access. Cloning is cheap, and all clones share the same directory.
///
/// An existing directory is opened at once. A missing directory is created by the first write. Once it is open, the same directory
/// stays in use even if it is renamed or replaced.
#[derive(Clone, Debug)]
pub struct Files {
    shared: Arc<Shared>,
    base: PathBase,
    names: NameRules,
}

/// A reference to an io directory that does not keep it open.
pub(super) struct WeakFiles {
    shared: Weak<Shared>,
    base: PathBase,
    names: NameRules,
}

impl WeakFiles {
    /// Returns the directory, or `None` if nothing else uses it.
    pub fn upgrade(&self) -> Option<Files> {
        Some(Files { shared: self.shared.upgrade()?, base: self.base.clone(), names: self.names })
    }
}

#[derive(Debug)]
struct Shared {
    parent: Parent,
    name: OsString,
    root: OnceLock<Arc<Dir>>,
    truncate_lock: RwLock<()>,
    disk_quota: Option<DiskQuota>,
}

/// The parent of an io directory.
#[derive(Clone, Debug)]
enum Parent {
    /// A path that the embedding program gave.
    Path(PathBuf),
    /// Another io directory.
    Files(Files),
}

/// An error when a directory is opened as an io directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// The path contains `..`.
    #[error("the path contains '..'; name the directory itself")]
    Traversal,
    /// The name is reserved (`.toolscript-tmp` or `toolscript.toml`) or protected (such as `.git`).
    #[error("the name is reserved; choose another")]
    Reserved,
    /// The path is the root of a file system.
    #[error("it is the root of the file system; name a directory in it")]
    Root,
    /// The path is a symlink.
    #[error("it is a symbolic link; name the directory that it points to")]
    Symlink,
    /// The path exists and can't be opened as a directory.
    #[error("it can't be opened as a directory")]
    Unusable(#[source] io::Error),
}

impl Files {
    /// Opens a directory, which need not exist yet. A relative path is resolved against the current working directory of the process.
    ///
    /// # Errors
    ///
    /// Returns an error if the path contains `..`, is the root of a file system, or exists and is a symlink or not a directory.
    pub fn new(directory: impl AsRef<Path>) -> Result<Self, DirectoryError> {
        let directory = directory.as_ref();
        if directory.components().any(|component| component == Component::ParentDir) {
            return Err(DirectoryError::Traversal);
        }
        let absolute = std::path::absolute(directory).map_err(DirectoryError::Unusable)?;
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else { return Err(DirectoryError::Root) };
        Self::open(Parent::Path(parent.into()), name.into(), NameRules::default())
    }

    /// Opens a direct subdirectory as an io directory of its own. Neither directory need exist yet.
    ///
    /// # Errors
    ///
    /// Returns an error if `name` is reserved, protected or not a single name, or if it exists and is a symlink or not a directory.
    pub fn subdirectory(&self, name: &str) -> Result<Self, DirectoryError> {
        let mut components = Path::new(name).components();
        match (components.next(), components.next()) {
            _ if self.names.protects(name) => Err(DirectoryError::Reserved),
            (Some(Component::Normal(only)), None) if only == name => Self::open(Parent::Files(self.clone()), name.into(), self.names),
            _ => Err(DirectoryError::Traversal),
        }
    }

    /// Sets a quota on the disk usage of all files together. Each file and directory counts 1 KiB in addition to its contents.
    ///
    /// Counts the current usage, which blocks. The count is kept up to date by all operations through the returned value and its clones.
    ///
    /// # Errors
    ///
    /// Returns an error if a directory can't be read.
    pub fn with_disk_quota(self, max_bytes: u64) -> Result<Self, FileError> {
        let quota = DiskQuota::new(max_bytes, disk_usage::measure(&self)?);
        Ok(self.with_quota(quota))
    }

    /// Sets a quota as [`with_disk_quota`](Self::with_disk_quota) does, but counts a directory with many files in the background.
    ///
    /// Until the count ends, scripts that change files wait, and all other operations that would use disk space return an error. Counts
    /// of several directories proceed in turn, on one thread with a low priority. A count ends early if its directory is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if a directory can't be read. If that happens in the background, operations that use disk space return an error
    /// until a later count succeeds.
    pub fn with_background_disk_quota(self, max_bytes: u64) -> Result<Self, FileError> {
        // The thread may be busy with other directories. Most directories are small, and need not wait for it.
        if let Some(used) = Measurement::new(&self)?.step(recount::STEP_ENTRIES)? {
            return Ok(self.with_quota(DiskQuota::new(max_bytes, used)));
        }
        let files = self.with_quota(DiskQuota::uncounted(max_bytes));
        if recount::start(&files) { Ok(files) } else { Err(FileError::Failed) }
    }

    /// Waits until the disk usage is known, if there is a quota. The count may have failed.
    pub(crate) async fn counted(&self) {
        if let Some(quota) = self.disk_quota() {
            quota.first_count().cancelled().await;
        }
    }

    /// Returns `true` until the first count of the disk usage has ended.
    pub(crate) fn is_being_counted(&self) -> bool {
        self.disk_quota().is_some_and(|quota| !quota.first_count().is_cancelled())
    }

    pub(super) fn with_quota(self, quota: DiskQuota) -> Self {
        let Shared { parent, name, root, .. } = &*self.shared;
        let (parent, name, root) = (parent.clone(), name.clone(), root.clone());
        let shared = Shared { parent, name, root, truncate_lock: RwLock::new(()), disk_quota: Some(quota) };
        Self { shared: Arc::new(shared), base: self.base, names: self.names }
    }

    /// Sets whether names that other programs execute or trust are protected; `true` by default.
    ///
    /// A protected name, such as `.git`, `.bashrc` or `.mcp.json`, can't be written, renamed or removed at any depth. Names of files with
    /// credentials, such as `.env` or `.ssh`, can't be read or listed either. docs/security.md describes them.
    #[must_use]
    pub fn with_protected_names(mut self, protect: bool) -> Self {
        self.names = NameRules { protect };
        self
    }

    /// Sets the directory that relative paths start at. It need not exist yet.
    ///
    /// From then on, `~` is the io directory, and paths that begin with `~/` start there. Names in results and errors are always relative
    /// to the io directory.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is invalid.
    pub fn with_working_directory(self, directory: &str) -> Result<Self, FileError> {
        let mut files = self.with_home();
        files.base = PathBase::WorkingDirectory(files.resolve(directory.as_bytes(), Access::Read)?);
        Ok(files)
    }

    /// Gives `~` its meaning. Without a working directory, relative paths start at the io directory.
    pub(crate) fn with_home(mut self) -> Self {
        if matches!(self.base, PathBase::IoDirectory) {
            self.base = PathBase::WorkingDirectory(FilePath::root());
        }
        self
    }

    /// Returns the directory that relative paths start at, relative to the io directory; `.` is the io directory itself.
    #[must_use]
    pub fn working_directory(&self) -> &str {
        self.base.name()
    }

    /// Returns `true` if `directory` is this directory or lies beneath it.
    ///
    /// Directories are compared by identity (device and inode), not by name, so that symlinks and bind mounts are recognised.
    ///
    /// # Errors
    ///
    /// Returns an error if `directory` or one of its ancestors can't be opened.
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

    /// Converts a path of the caller to one that is relative to the io directory, and checks that its names allow this access.
    pub(super) fn resolve(&self, path: &[u8], access: Access) -> Result<FilePath, FileError> {
        let path = self.base.resolve(path)?;
        self.names.check(&path, access)?;
        Ok(path)
    }

    /// Returns the name that results have for a path: relative to the io directory, and `.` for the io directory itself.
    pub(crate) fn name_of(&self, path: &str) -> Result<String, FileError> {
        self.resolve(path.as_bytes(), Access::Read).map(|path| path.name().to_owned())
    }

    /// Returns a reference that does not keep the directory open.
    pub(super) fn downgrade(&self) -> WeakFiles {
        WeakFiles { shared: Arc::downgrade(&self.shared), base: self.base.clone(), names: self.names }
    }

    /// Returns the rules for names in this directory.
    pub(super) fn names(&self) -> NameRules {
        self.names
    }

    /// Returns `true` if the path is the working directory or the io directory.
    pub(super) fn is_base_or_root(&self, path: &FilePath) -> bool {
        self.base.is_base_or_root(path)
    }

    fn open(parent: Parent, name: OsString, names: NameRules) -> Result<Self, DirectoryError> {
        let shared = Shared { parent, name, root: OnceLock::new(), truncate_lock: RwLock::new(()), disk_quota: None };
        let files = Self { shared: Arc::new(shared), base: PathBase::IoDirectory, names };
        match files.existing() {
            Ok(_) => Ok(files),
            Err(error) if files.shared.is_symlink() => {
                tracing::debug!(%error, "the io directory is a symlink");
                Err(DirectoryError::Symlink)
            }
            Err(error) => Err(DirectoryError::Unusable(error)),
        }
    }

    /// Returns the directory, or `None` if it does not exist yet.
    pub(super) fn root(&self, path: &FilePath) -> Result<Option<Arc<Dir>>, FileError> {
        self.existing().map_err(|error| FileError::system(path, error))
    }

    /// Returns the directory, and creates it if it does not exist.
    pub(super) fn create_root(&self, path: &FilePath) -> Result<Arc<Dir>, FileError> {
        self.existing_or_created().map_err(|error| FileError::system(path, error))
    }

    fn existing_or_created(&self) -> io::Result<Arc<Dir>> {
        if let Some(root) = self.existing()? {
            return Ok(root);
        }
        self.shared.create()?;
        self.existing()?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Returns the disk quota, if there is one.
    pub(super) fn disk_quota(&self) -> Option<&DiskQuota> {
        self.shared.disk_quota.as_ref()
    }

    /// Returns the lock that protects files from being shortened during a write.
    ///
    /// A write holds it shared, because it compares its position with the size of the file. An operation that shortens a file holds it
    /// exclusively. Otherwise a write after another run truncated the file would create a hole that is not counted.
    pub(crate) fn truncate_lock(&self) -> &RwLock<()> {
        &self.shared.truncate_lock
    }

    fn existing(&self) -> io::Result<Option<Arc<Dir>>> {
        if let Some(root) = self.shared.root.get() {
            return Ok(Some(Arc::clone(root)));
        }
        match self.shared.open() {
            // If two runs open the directory at the same time, both use the one that is stored first.
            Ok(directory) => Ok(Some(Arc::clone(self.shared.root.get_or_init(|| {
                if let Err(error) = temporary_files::sweep(&directory) {
                    tracing::debug!(%error, "leftover temporary files were not removed");
                }
                Arc::new(directory)
            })))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Shared {
    /// Opens the directory without following a symlink at its own name.
    fn open(&self) -> io::Result<Dir> {
        self.parent()?.open_dir_nofollow(&self.name)
    }

    /// Creates the directory without following a symlink at its own name.
    fn create(&self) -> io::Result<()> {
        let parent = match &self.parent {
            Parent::Path(path) => {
                Dir::create_ambient_dir_all(path, ambient_authority())?;
                self.parent()?
            }
            Parent::Files(files) => files.existing_or_created()?,
        };
        parent.create_dir(&self.name).or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
    }

    /// Opens the parent directory, which must exist.
    fn parent(&self) -> io::Result<Arc<Dir>> {
        match &self.parent {
            Parent::Path(path) => Dir::open_ambient_dir(path, ambient_authority()).map(Arc::new),
            Parent::Files(files) => files.existing()?.ok_or_else(|| io::ErrorKind::NotFound.into()),
        }
    }

    fn is_symlink(&self) -> bool {
        self.parent().and_then(|parent| parent.symlink_metadata(&self.name)).is_ok_and(|metadata| metadata.is_symlink())
    }
}
