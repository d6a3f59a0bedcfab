//! Names that other programs execute or trust, or in which they keep credentials.
//!
//! A program that works in a directory loads some files there without being asked: a shell its profile, git its hooks, an editor its
//! tasks, an agent its instructions. A script that writes such a file runs commands outside of the sandbox. So these names can't be
//! written at any depth of an io directory, and the ones for credentials can't be read either.
//!
//! The list can't be complete. Files that a program executes only on request, such as `Makefile` or `package.json`, are not in it.
//! `guest/wasi-command/protected_names.cpp` and `tests/embedding/python/host/protected_names.py` have the same list.

use super::{error::FileError, path::FilePath, reserved_names};
use std::{collections::HashMap, sync::LazyLock};

/// Names that can be read but not written. All are in the form of [`reserved_names::fold`].
const EXECUTED_OR_TRUSTED: [&str; 112] = [
    // Version control: hooks, filters, aliases and pagers are commands.
    ".git",                    // the repository, or a file that names another one
    "git~1",                   // the short name of `.git` on Windows
    ".gitconfig",              // the settings of the user
    ".gitmodules",             // sources and update commands of submodules
    ".hg",                     // Mercurial, with `.hg/hgrc`
    ".hgrc",                   // the settings of the user for Mercurial
    ".svn",                    // Subversion
    ".bzr",                    // Breezy
    ".jj",                     // Jujutsu
    ".husky",                  // hooks of git that a project installs
    ".githooks",               // the same
    ".pre-commit-config.yaml", // the same
    // Continuous integration: executed with the credentials of the project after a push.
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".gitea",
    ".forgejo",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".woodpecker.yml",
    ".drone.yml",
    ".travis.yml",
    // Editors: tasks, language servers and interpreters that start when a directory or a file is opened.
    ".vscode",            // Visual Studio Code
    ".vscode-server",     // its part on a remote machine
    ".vs",                // Visual Studio
    ".idea",              // editors by JetBrains
    ".fleet",             // the same
    ".zed",               // Zed
    ".devcontainer",      // commands on the host that start a container
    ".devcontainer.json", // the same
    ".vim",               // plugins of Vim
    ".vimrc",             // scripts of Vim
    ".gvimrc",            // the same
    ".exrc",              // the same, in the current directory
    ".nvimrc",            // scripts of Neovim, in the current directory
    ".nvim.lua",          // the same
    ".emacs",             // Lisp that Emacs executes
    ".emacs.d",           // the same
    ".dir-locals.el",     // the same, for the files of a directory
    // Agents: MCP servers that they start, commands that they may execute, and instructions that they follow.
    ".mcp.json",       // MCP servers of a project
    ".agents",         // instructions for several agents
    "agents.md",       // the same
    ".claude",         // Claude Code
    ".claude.json",    // the same
    "claude.md",       // the same
    "claude.local.md", // the same
    ".codex",          // Codex
    ".copilot",        // GitHub Copilot
    ".cursor",         // Cursor
    ".cursorrules",    // the same
    ".gemini",         // Gemini
    "gemini.md",       // the same
    ".windsurf",       // Windsurf
    ".windsurfrules",  // the same
    ".codeium",        // the same
    ".continue",       // Continue
    ".clinerules",     // Cline
    ".roo",            // Roo Code
    ".kiro",           // Kiro
    ".junie",          // Junie
    ".amazonq",        // Amazon Q
    ".opencode",       // OpenCode
    ".aider.conf.yml", // Aider
    ".goosehints",     // Goose
    // Shells and sessions: executed at login, or by each new shell.
    ".profile",         // all shells
    ".bashrc",          // Bash
    ".bash_profile",    // the same
    ".bash_login",      // the same
    ".bash_logout",     // the same
    ".bash_aliases",    // the same
    ".zshrc",           // Zsh
    ".zshenv",          // the same
    ".zprofile",        // the same
    ".zlogin",          // the same
    ".zlogout",         // the same
    ".kshrc",           // KornShell
    ".mkshrc",          // the same
    ".shrc",            // the Almquist shell
    ".cshrc",           // the C shell
    ".tcshrc",          // the same
    ".login",           // the same
    ".logout",          // the same
    ".inputrc",         // keys that insert commands
    ".tmux.conf",       // commands of tmux
    ".screenrc",        // commands of GNU Screen
    ".config",          // settings of fish, git, systemd, the desktop and others
    ".local",           // programs and desktop entries of the user
    ".xinitrc",         // the X Window System
    ".xprofile",        // the same
    ".xsession",        // the same
    ".xsessionrc",      // the same
    ".pam_environment", // the environment of each login
    ".envrc",           // direnv executes it in a shell
    ".mise.toml",       // mise sets the environment and runs tasks
    // Languages, build tools and debuggers: code that they load from the current directory or the home directory.
    ".cargo",        // wrappers and runners of Cargo
    ".yarn",         // the release of Yarn that is executed
    ".yarnrc",       // names that release
    ".yarnrc.yml",   // the same
    ".pnpmfile.cjs", // hooks of pnpm
    ".mvn",          // extensions of Maven
    ".gradle",       // scripts of Gradle
    ".bazelrc",      // commands of Bazel
    ".irbrc",        // Ruby
    ".pryrc",        // the same
    ".pdbrc",        // the Python debugger
    ".rprofile",     // R
    ".gdbinit",      // GDB
    ".lldbinit",     // LLDB
    ".psqlrc",       // commands of PostgreSQL's psql, which may start programs
    // Servers and desktops.
    ".htaccess", // settings of a web server that serves the directory
    ".user.ini", // settings of PHP that name code to execute
];

/// Names that can neither be read nor written, and that no listing shows. All are in the form of [`reserved_names::fold`].
const CREDENTIALS: [&str; 20] = [
    ".ssh",             // private keys, and the keys that may log in
    ".gnupg",           // private keys
    ".env",             // secrets of an application; it can also set variables that load code. See also `ENVIRONMENTS`
    ".netrc",           // passwords for servers
    "_netrc",           // the same on Windows
    ".git-credentials", // passwords for git servers
    ".npmrc",           // tokens of registries; it can also name a shell to execute
    ".pypirc",          // passwords for the Python package index
    ".aws",             // keys of Amazon Web Services; it can also name a command to execute
    ".azure",           // tokens of Azure
    ".kube",            // keys of Kubernetes clusters; it can also name a command to execute
    ".docker",          // passwords for registries; it can also name a command to execute
    ".dockercfg",       // the same in old versions
    ".boto",            // keys of storage services
    ".s3cfg",           // the same
    ".pgpass",          // passwords for PostgreSQL
    ".my.cnf",          // passwords for MySQL
    ".vault-token",     // a token of HashiCorp Vault
    ".password-store",  // passwords of pass
    ".htpasswd",        // hashes of passwords
];

/// The start of further names of environment files, such as `.env.local`. They are treated as `.env` is.
const ENVIRONMENTS: &str = ".env.";

/// The kind of access that an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads a file or a directory, or asks whether it exists.
    Read,
    /// Creates, changes, renames or removes a file.
    Write,
}

/// The rules for names in an io directory.
#[derive(Clone, Copy, Debug)]
pub struct NameRules {
    /// Protects the names in this module. Reserved names are always protected.
    pub protect: bool,
}

impl Default for NameRules {
    fn default() -> Self {
        Self { protect: true }
    }
}

impl NameRules {
    /// Returns `true` if no listing and no search may show the name.
    pub fn hides(self, name: &str) -> bool {
        reserved_names::is_reserved(name) || (self.protect && find(name) == Some(Protection::Hidden))
    }

    /// Returns `true` if a script can't write to a directory with this name.
    pub fn protects(self, name: &str) -> bool {
        reserved_names::is_reserved(name) || (self.protect && find(name).is_some())
    }

    /// Returns an error if a component of the path is protected from this access.
    pub fn check(self, path: &FilePath, access: Access) -> Result<(), FileError> {
        if !self.protect {
            return Ok(());
        }
        let rejected = path.components().find_map(|name| match (find(name)?, access) {
            (Protection::Hidden, _) => Some(FileError::credentials(path, name)),
            (Protection::ReadOnly, Access::Write) => Some(FileError::protected(path, name)),
            (Protection::ReadOnly, Access::Read) => None,
        });
        rejected.map_or(Ok(()), Err)
    }
}

/// The protection of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protection {
    ReadOnly,
    Hidden,
}

fn find(name: &str) -> Option<Protection> {
    static NAMES: LazyLock<HashMap<&str, Protection>> = LazyLock::new(|| {
        let executed = EXECUTED_OR_TRUSTED.map(|name| (name, Protection::ReadOnly));
        executed.into_iter().chain(CREDENTIALS.map(|name| (name, Protection::Hidden))).collect()
    });
    let folded = reserved_names::fold(name);
    let is_environment = folded.starts_with(ENVIRONMENTS);
    NAMES.get(&*folded).copied().or_else(|| is_environment.then_some(Protection::Hidden))
}

#[cfg(test)]
mod tests {
    use super::{Access, CREDENTIALS, EXECUTED_OR_TRUSTED, FilePath, NameRules};
    use crate::files::reserved_names::fold;

    fn check(path: &str, access: Access) -> Result<(), String> {
        NameRules::default().check(&FilePath::parse(path.as_bytes()).unwrap(), access).map_err(|error| error.to_string())
    }

    #[test]
    fn each_name_is_listed_once_and_in_folded_form() {
        let names: Vec<&str> = EXECUTED_OR_TRUSTED.into_iter().chain(CREDENTIALS).collect();
        for (index, name) in names.iter().enumerate() {
            assert_eq!(fold(name), *name);
            assert!(!names[..index].contains(name), "{name}");
        }
    }

    #[test]
    fn protected_names_are_rejected_at_any_depth_and_in_any_case() {
        let end = "; the operator can turn this protection off";
        for path in [".git", ".git/hooks/x", "a/.git/config", "a/b/.GIT/x", ".G\u{131}t"] {
            let name = path.split('/').find(|name| name.to_lowercase().starts_with(".g")).unwrap();
            let message = format!("{path}: cannot be changed, because other programs execute or trust '{name}'{end}");
            assert_eq!(check(path, Access::Write), Err(message));
            assert_eq!(check(path, Access::Read), Ok(()));
        }
        for path in [".env", "a/.ENV.local", ".ssh/id_ed25519"] {
            let name = path.split('/').find(|name| name.starts_with('.')).unwrap();
            let message = format!("{path}: cannot be read or changed, because '{name}' usually contains credentials{end}");
            assert_eq!(check(path, Access::Write), Err(message.clone()));
            assert_eq!(check(path, Access::Read), Err(message));
        }
        for path in ["git", ".gitignore", ".environment", "env", "x.git/y", "profile", ".config2", "agents.txt"] {
            assert_eq!(check(path, Access::Write), Ok(()), "{path}");
        }
        assert!(NameRules { protect: false }.check(&FilePath::parse(b".git/x").unwrap(), Access::Write).is_ok());
    }
}
