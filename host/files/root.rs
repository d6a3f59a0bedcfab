//! The io dir: opened once, made when it is first written to.

use super::{error::FileError, path::FilePath};
use cap_fs_ext::DirExt as _;
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
}

#[derive(Debug)]
struct Shared {
    /// The folder that the io dir lies in, by the name that the caller gave.
    parent: PathBuf,
    name: OsString,
    root: OnceLock<Arc<Dir>>,
    shrinking: RwLock<()>,
}

/// Why a directory can't be an io dir.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The path has `..` in it.
    #[error("a path with '..' is not allowed; name the folder itself")]
    Traversal,
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
    pub fn new(dir: impl AsRef<Path>) -> Result<Self, FilesError> {
        let dir = dir.as_ref();
        if dir.components().any(|component| component == Component::ParentDir) {
            return Err(FilesError::Traversal);
        }
        let absolute = std::path::absolute(dir).map_err(FilesError::Unusable)?;
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else { return Err(FilesError::Root) };
        let shared = Shared { parent: parent.into(), name: name.into(), root: OnceLock::new(), shrinking: RwLock::new(()) };
        let files = Self { shared: Arc::new(shared) };
        match files.existing() {
            Ok(_) => Ok(files),
            Err(error) if files.shared.is_link() => {
                tracing::debug!(%error, "the io dir is a link");
                Err(FilesError::Link)
            }
            Err(error) => Err(FilesError::Unusable(error)),
        }
    }

    /// The directory, if it exists by now.
    pub(super) fn root(&self, path: &FilePath) -> Result<Option<Arc<Dir>>, FileError> {
        self.existing().map_err(|error| FileError::system(path, &error))
    }

    /// The directory, made if it does not exist.
    pub(super) fn make_root(&self, path: &FilePath) -> Result<Arc<Dir>, FileError> {
        if let Some(root) = self.root(path)? {
            return Ok(root);
        }
        let made = self.shared.make().and_then(|()| self.existing());
        made.and_then(|root| root.ok_or_else(|| io::ErrorKind::NotFound.into())).map_err(|error| FileError::system(path, &error))
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
        let opened =
            Dir::open_ambient_dir(&self.shared.parent, ambient_authority()).and_then(|parent| parent.open_dir_nofollow(&self.shared.name));
        match opened {
            // Of two runs that open it at the same time, one wins, and both use that one's.
            Ok(dir) => Ok(Some(Arc::clone(self.shared.root.get_or_init(|| Arc::new(dir))))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Shared {
    /// Making a folder follows no link in its own name; opening it afterwards does not either.
    fn make(&self) -> io::Result<()> {
        Dir::create_ambient_dir_all(&self.parent, ambient_authority())?;
        let parent = Dir::open_ambient_dir(&self.parent, ambient_authority())?;
        parent.create_dir(&self.name).or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
    }

    fn is_link(&self) -> bool {
        let parent = Dir::open_ambient_dir(&self.parent, ambient_authority());
        parent.and_then(|parent| parent.symlink_metadata(&self.name)).is_ok_and(|metadata| metadata.is_symlink())
    }
}
