//! `toolscript init`: writes a configuration and an example script.

use super::{
    output::Output,
    user_file::{self, IfExists},
};
use anyhow::{Result, bail};
use clap::Args;
use std::{path::PathBuf, process::ExitCode};

/// The files with their contents.
const FILES: [(&str, &str); 2] = [("toolscript.toml", include_str!("toolscript.toml")), ("example.luau", include_str!("example.luau"))];

#[derive(Args)]
pub struct Arguments {
    /// Directory to write to, created if it does not exist
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// Replace existing files
    #[arg(long)]
    force: bool,
}

/// Writes all files, or none of them if one exists.
pub fn init(arguments: &Arguments) -> Result<ExitCode> {
    let files = FILES.map(|(name, contents)| (arguments.directory.join(name), contents));
    let if_exists = if arguments.force { IfExists::Replace } else { IfExists::Fail };
    #[expect(clippy::disallowed_methods, reason = "checks files that the user named, not files of a script")]
    let existing = files.iter().find(|(path, _)| std::fs::symlink_metadata(path).is_ok());
    if let (Some((path, _)), IfExists::Fail) = (existing, if_exists) {
        bail!("{} exists; use --force to replace it", path.display());
    }
    let mut output = Output::stdout();
    for (path, contents) in files {
        user_file::write(&path, contents, if_exists)?;
        output.line(&format!("wrote {}", path.display()));
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}
