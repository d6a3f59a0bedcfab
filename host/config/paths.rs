//! Paths in the configuration file: each is relative to the directory of the file, so that the working directory does not matter.

use super::{Config, has_parent_component};
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

impl Config {
    /// Resolves the relative paths of the file, which is in `directory`: the io directory, specifications and programs. Programs are
    /// started in `directory`, so that their arguments can be relative paths, too.
    pub(super) fn resolve_paths(&mut self, directory: &Path) -> Result<()> {
        // In the working directory, messages show paths as they are in the file.
        if directory == Path::new(".") {
            return Ok(());
        }
        // An io directory must not contain `..`.
        #[expect(clippy::disallowed_methods, reason = "resolves the directory of the configuration, not a file of a script")]
        let directory = if has_parent_component(directory) { std::fs::canonicalize(directory)? } else { directory.to_owned() };
        if let Some(io) = &mut self.io.dir {
            *io = directory.join(&io);
        }
        for api in self.apis.values_mut().filter(|api| !api.spec.contains("://")) {
            api.spec = to_text(directory.join(&api.spec))?;
        }
        for server in self.mcp_servers.values_mut() {
            let Some(program) = &mut server.command else { continue };
            let absolute = std::path::absolute(&directory).context("can't find the working directory")?;
            // A name without a slash is searched for in `PATH`.
            if program.contains(['/', std::path::MAIN_SEPARATOR]) {
                *program = to_text(absolute.join(&program))?;
            }
            server.working_directory = Some(absolute);
        }
        Ok(())
    }
}

fn to_text(path: PathBuf) -> Result<String> {
    path.into_os_string().into_string().ok().context("the path of the configuration is not UTF-8")
}
