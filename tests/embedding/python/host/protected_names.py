"""Names that other programs execute or trust, or in which they keep credentials: the same list as in `host/files/protected_names.rs`."""

from __future__ import annotations

# Names that can be read but not written, in folded form.
EXECUTED_OR_TRUSTED = {
    # Version control: hooks, filters, aliases and pagers are commands.
    ".git",  # the repository, or a file that names another one
    "git~1",  # the short name of `.git` on Windows
    ".gitconfig",  # the settings of the user
    ".gitmodules",  # sources and update commands of submodules
    ".hg",  # Mercurial, with `.hg/hgrc`
    ".hgrc",  # the settings of the user for Mercurial
    ".svn",  # Subversion
    ".bzr",  # Breezy
    ".jj",  # Jujutsu
    ".husky",  # hooks of git that a project installs
    ".githooks",  # the same
    ".pre-commit-config.yaml",  # the same
    # Continuous integration: executed with the credentials of the project after a push.
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
    # Editors: tasks, language servers and interpreters that start when a directory or a file is opened.
    ".vscode",  # Visual Studio Code
    ".vscode-server",  # its part on a remote machine
    ".vs",  # Visual Studio
    ".idea",  # editors by JetBrains
    ".fleet",  # the same
    ".zed",  # Zed
    ".devcontainer",  # commands on the host that start a container
    ".devcontainer.json",  # the same
    ".vim",  # plugins of Vim
    ".vimrc",  # scripts of Vim
    ".gvimrc",  # the same
    ".exrc",  # the same, in the current directory
    ".nvimrc",  # scripts of Neovim, in the current directory
    ".nvim.lua",  # the same
    ".emacs",  # Lisp that Emacs executes
    ".emacs.d",  # the same
    ".dir-locals.el",  # the same, for the files of a directory
    # Agents: MCP servers that they start, commands that they may execute, and instructions that they follow.
    ".mcp.json",  # MCP servers of a project
    ".agents",  # instructions for several agents
    "agents.md",  # the same
    ".claude",  # Claude Code
    ".claude.json",  # the same
    "claude.md",  # the same
    "claude.local.md",  # the same
    ".codex",  # Codex
    ".copilot",  # GitHub Copilot
    ".cursor",  # Cursor
    ".cursorrules",  # the same
    ".gemini",  # Gemini
    "gemini.md",  # the same
    ".windsurf",  # Windsurf
    ".windsurfrules",  # the same
    ".codeium",  # the same
    ".continue",  # Continue
    ".clinerules",  # Cline
    ".roo",  # Roo Code
    ".kiro",  # Kiro
    ".junie",  # Junie
    ".amazonq",  # Amazon Q
    ".opencode",  # OpenCode
    ".aider.conf.yml",  # Aider
    ".goosehints",  # Goose
    # Shells and sessions: executed at login, or by each new shell.
    ".profile",  # all shells
    ".bashrc",  # Bash
    ".bash_profile",  # the same
    ".bash_login",  # the same
    ".bash_logout",  # the same
    ".bash_aliases",  # the same
    ".zshrc",  # Zsh
    ".zshenv",  # the same
    ".zprofile",  # the same
    ".zlogin",  # the same
    ".zlogout",  # the same
    ".kshrc",  # KornShell
    ".mkshrc",  # the same
    ".shrc",  # the Almquist shell
    ".cshrc",  # the C shell
    ".tcshrc",  # the same
    ".login",  # the same
    ".logout",  # the same
    ".inputrc",  # keys that insert commands
    ".tmux.conf",  # commands of tmux
    ".screenrc",  # commands of GNU Screen
    ".config",  # settings of fish, git, systemd, the desktop and others
    ".local",  # programs and desktop entries of the user
    ".xinitrc",  # the X Window System
    ".xprofile",  # the same
    ".xsession",  # the same
    ".xsessionrc",  # the same
    ".pam_environment",  # the environment of each login
    ".envrc",  # direnv executes it in a shell
    ".mise.toml",  # mise sets the environment and runs tasks
    # Languages, build tools and debuggers: code that they load from the current directory or the home directory.
    ".cargo",  # wrappers and runners of Cargo
    ".yarn",  # the release of Yarn that is executed
    ".yarnrc",  # names that release
    ".yarnrc.yml",  # the same
    ".pnpmfile.cjs",  # hooks of pnpm
    ".mvn",  # extensions of Maven
    ".gradle",  # scripts of Gradle
    ".bazelrc",  # commands of Bazel
    ".irbrc",  # Ruby
    ".pryrc",  # the same
    ".pdbrc",  # the Python debugger
    ".rprofile",  # R
    ".gdbinit",  # GDB
    ".lldbinit",  # LLDB
    ".psqlrc",  # commands of PostgreSQL's psql, which may start programs
    # Servers and desktops.
    ".htaccess",  # settings of a web server that serves the directory
    ".user.ini",  # settings of PHP that name code to execute
}

# Names that can neither be read nor written, and that no listing shows, in folded form.
CREDENTIALS = {
    ".ssh",  # private keys, and the keys that may log in
    ".gnupg",  # private keys
    ".env",  # secrets of an application; it can also set variables that load code. See also `ENVIRONMENTS`
    ".netrc",  # passwords for servers
    "_netrc",  # the same on Windows
    ".git-credentials",  # passwords for git servers
    ".npmrc",  # tokens of registries; it can also name a shell to execute
    ".pypirc",  # passwords for the Python package index
    ".aws",  # keys of Amazon Web Services; it can also name a command to execute
    ".azure",  # tokens of Azure
    ".kube",  # keys of Kubernetes clusters; it can also name a command to execute
    ".docker",  # passwords for registries; it can also name a command to execute
    ".dockercfg",  # the same in old versions
    ".boto",  # keys of storage services
    ".s3cfg",  # the same
    ".pgpass",  # passwords for PostgreSQL
    ".my.cnf",  # passwords for MySQL
    ".vault-token",  # a token of HashiCorp Vault
    ".password-store",  # passwords of pass
    ".htpasswd",  # hashes of passwords
}

# The start of further names of environment files, such as `.env.local`. They are treated as `.env` is.
ENVIRONMENTS = ".env."

# Characters without a width, which some file systems ignore.
IGNORABLE = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


def fold(name: str) -> str:
    """Returns the form in which all names are equal that a file system may treat as the same name."""
    return name.rstrip(". ").translate(IGNORABLE).upper().lower()


def is_credential(name: str) -> bool:
    """Returns `True` if the name can neither be read nor written."""
    folded = fold(name)
    return folded in CREDENTIALS or folded.startswith(ENVIRONMENTS)


def is_executed_or_trusted(name: str) -> bool:
    """Returns `True` if the name can be read but not written."""
    return fold(name) in EXECUTED_OR_TRUSTED
