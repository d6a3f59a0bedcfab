//! Files of the user that commands read and write, such as the configuration of an MCP client. Scripts can't name them.

use crate::{allocation::read_up_to, text};
use anyhow::{Context as _, Result, anyhow, bail};
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use cap_tempfile::TempFile;
use std::{
    ffi::OsStr,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

/// The maximum size of a file that is read.
const MAX_BYTES: u64 = 16 << 20;

/// The treatment of an existing file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum IfExists {
    /// Returns an error.
    Fail,
    /// Replaces it atomically. The new file has the permissions of the old one.
    Replace,
}

/// Reads a text. Returns `None` if the file does not exist.
pub fn read(path: &Path) -> Result<Option<String>> {
    let context = || format!("can't read {}", path.display());
    let target = follow(path);
    let (directory, name) = split(&target)?;
    let file = match Dir::open_ambient_dir(&directory, ambient_authority()).and_then(|directory| directory.open(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.with_context(context)?,
    };
    let mut bytes = Vec::new();
    read_up_to(file, MAX_BYTES + 1, &mut bytes).with_context(context)?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("can't read {}: it is larger than {MAX_BYTES} bytes", path.display());
    }
    String::from_utf8(bytes).map(Some).map_err(|_| anyhow!("can't read {}: it is not UTF-8", path.display()))
}

/// Reads a script from a file, or from standard input if the file is `-`. Stops reading one byte after the limit.
pub fn read_script(file: &Path, limit: usize) -> Result<Vec<u8>> {
    let mut source = Vec::new();
    let read_limit = (limit as u64).saturating_add(1);
    if file == Path::new("-") {
        read_up_to(std::io::stdin().lock(), read_limit, &mut source).context("can't read the script from standard input")?;
    } else {
        let context = || format!("can't read the script {}", file.display());
        #[expect(clippy::disallowed_types, reason = "reads a file that the user named, not one of a script")]
        let opened = std::fs::File::open(file).with_context(context)?;
        read_up_to(opened, read_limit, &mut source).with_context(context)?;
    }
    if source.len() > limit {
        let limit = text::size(limit as u64);
        bail!("the script {} is larger than {limit}; raise the limit with [limits] script in toolscript.toml", file.display());
    }
    Ok(source)
}

/// Writes a text. Creates missing directories. A symlink is followed, and its target is replaced.
pub fn write(path: &Path, text: &str, if_exists: IfExists) -> Result<()> {
    let context = || format!("can't write {}", path.display());
    let target = follow(path);
    let (directory, name) = split(&target)?;
    Dir::create_ambient_dir_all(&directory, ambient_authority()).with_context(context)?;
    let directory = Dir::open_ambient_dir(&directory, ambient_authority()).with_context(context)?;
    match if_exists {
        IfExists::Fail => {
            let mut file = directory.open_with(name, OpenOptions::new().write(true).create_new(true)).with_context(context)?;
            file.write_all(text.as_bytes()).with_context(context)
        }
        IfExists::Replace => replace(&directory, name, text).with_context(context),
    }
}

fn replace(directory: &Dir, name: &OsStr, text: &str) -> std::io::Result<()> {
    let mut file = TempFile::new(directory)?;
    file.write_all(text.as_bytes())?;
    match directory.metadata(name) {
        Ok(metadata) => file.as_file().set_permissions(metadata.permissions())?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    file.as_file().sync_all()?;
    file.replace(name)
}

/// Returns the target of a symlink, or the path itself if it does not exist. A `Dir` follows no symlink that leads out of it.
fn follow(path: &Path) -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "resolves a path that the user named, not one of a script")]
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Splits a path into its directory and the name of the file.
fn split(path: &Path) -> Result<(PathBuf, &OsStr)> {
    let name = path.file_name().with_context(|| format!("{} is not the name of a file", path.display()))?;
    let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    Ok((directory.to_owned(), name))
}
