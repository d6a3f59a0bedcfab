//! `[io]`: the io directory. Rejects a directory in which a script could write the configuration.

use super::{
    Config,
    units::{self, MAX_COUNT, MAX_DISK},
};
use crate::{
    Files,
    engine::{IoErrorMode, IoOptions},
};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The io directory if none is named.
pub const DEFAULT_IO_DIR: &str = "toolscript-files";

/// `[io]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IoSection {
    pub dir: Option<PathBuf>,
    #[serde(deserialize_with = "units::bytes::<0, MAX_DISK, _>")]
    max_bytes: Option<u64>,
    #[serde(deserialize_with = "units::integer::<0, MAX_COUNT, _>")]
    max_files: Option<u64>,
    enabled: Option<bool>,
    errors: Option<IoErrorMode>,
    /// Protects names that other programs execute or trust.
    protect_names: Option<bool>,
    /// The maximum size of all files of a tenant.
    #[serde(deserialize_with = "units::bytes::<0, MAX_DISK, _>")]
    pub tenant_bytes: Option<u64>,
}

impl IoSection {
    /// Returns `true` if scripts have files.
    pub fn is_enabled(&self, by_default: bool) -> bool {
        self.enabled.unwrap_or(by_default)
    }
}

/// The directories that no io directory may contain: a script could otherwise write the configuration of the next start.
#[derive(Debug, Default)]
pub struct Protected {
    directories: Vec<PathBuf>,
    /// Describes their contents for an error message.
    contents: String,
}

impl Protected {
    /// Protects the working directory, from which the next start would read a configuration.
    pub fn working_directory() -> Self {
        Self { directories: vec![".".into()], contents: "the working directory, from which toolscript.toml is read".into() }
    }

    /// Protects a configuration file. If it is a symlink, the link and its target are protected.
    pub fn file(path: &Path) -> std::io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "resolves the configuration of the user, not a file of a script")]
        let target = std::fs::canonicalize(path)?;
        let directories = [path, &target].map(directory_of).into();
        Ok(Self { directories, contents: format!("the configuration {}", path.display()) })
    }
}

/// Returns the directory that contains a file.
pub fn directory_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent.into(),
        _ => PathBuf::from("."),
    }
}

impl Config {
    /// Opens the io directory: the one named on the command line, or else `[io] dir`, or `./toolscript-files`.
    ///
    /// A directory named on the command line enables io. Otherwise `[io] enabled` decides, or `enabled_by_default` if it is not set.
    ///
    /// # Errors
    ///
    /// When the directory can't be used, or contains the configuration.
    pub fn open_io(&self, named: Option<&Path>, enabled_by_default: bool) -> Result<Option<IoOptions>> {
        let section = &self.io;
        if named.is_none() && !section.is_enabled(enabled_by_default) {
            return Ok(None);
        }
        let (origin, directory) = match (named, &section.dir) {
            (Some(directory), _) => ("--io-dir", directory),
            (None, Some(directory)) => ("[io] dir", directory.as_path()),
            (None, None) => ("the io directory", Path::new(DEFAULT_IO_DIR)),
        };
        let origin = format!("{origin} {}", directory.display());
        let files = Files::new(directory).with_context(|| origin.clone())?;
        for protected in &self.protected.directories {
            let contains = files.contains(protected).with_context(|| format!("{origin}: can't open {}", protected.display()))?;
            ensure!(
                !contains,
                "{origin}: it contains {}; use a subdirectory such as --io-dir ./files, or a configuration elsewhere with --config",
                self.protected.contents
            );
        }
        let mut io = IoOptions::new(files.with_protected_names(section.protect_names.unwrap_or(true)));
        io.max_bytes = section.max_bytes.unwrap_or(io.max_bytes);
        io.max_files = section.max_files.unwrap_or(io.max_files);
        io.errors = section.errors.unwrap_or(io.errors);
        Ok(Some(io))
    }
}
