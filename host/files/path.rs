//! The rules for paths. A path that breaks a rule never reaches the operating system.

use super::{error::FileError, reserved_names};

/// The maximum number of bytes in a path.
pub const MAX_PATH: usize = 4096;

/// The maximum number of components in a path. Each one is a directory to open or to create.
pub const MAX_COMPONENTS: usize = 64;

/// The maximum number of bytes in a component. Common file systems have the same limit.
const MAX_COMPONENT: usize = 255;

/// A valid path: relative, UTF-8, without `..`. Two spellings of the same path are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePath {
    /// The components, joined by single slashes, without `.`. Empty for the io directory itself.
    name: String,
    /// The path can only name a directory, because it ends with a slash or a dot.
    is_directory: bool,
}

impl FilePath {
    /// Returns the path of the io directory itself.
    pub fn root() -> Self {
        Self { name: String::new(), is_directory: true }
    }

    /// Checks and normalizes a path.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        if bytes.is_empty() {
            return Err(FileError::Invalid("path cannot be empty"));
        }
        if bytes.len() > MAX_PATH {
            return Err(FileError::Invalid("path is too long"));
        }
        if bytes.contains(&0) {
            return Err(FileError::Invalid("path cannot contain null bytes"));
        }
        let text = str::from_utf8(bytes).map_err(|_| FileError::Invalid("path is not UTF-8"))?;
        // Windows also has backslashes, drive letters and alternate data streams.
        if text.starts_with('/') || (cfg!(windows) && text.contains(['\\', ':'])) {
            return Err(FileError::Invalid("path must be relative"));
        }
        let components: Vec<&str> = text.split('/').filter(|component| !matches!(*component, "" | ".")).collect();
        if components.contains(&"..") {
            return Err(FileError::Invalid("path cannot contain '..' traversal"));
        }
        if components.len() > MAX_COMPONENTS || components.iter().any(|component| component.len() > MAX_COMPONENT) {
            return Err(FileError::Invalid("path is too long"));
        }
        if let Some(message) = components.iter().find_map(|component| reserved_names::error_message(component)) {
            return Err(FileError::Invalid(message));
        }
        Ok(Self { name: components.join("/"), is_directory: text.ends_with('/') || text == "." || text.ends_with("/.") })
    }

    /// Returns the path for messages and reports.
    pub fn name(&self) -> &str {
        if self.name.is_empty() { "." } else { &self.name }
    }

    /// Returns all components, starting at the io directory.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.name.split('/').filter(|component| !component.is_empty())
    }

    /// Splits the path into its parent directories and the name of the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the path can only name a directory.
    pub fn split(&self) -> Result<(impl Iterator<Item = &str> + Clone, &str), FileError> {
        if self.is_directory || self.name.is_empty() {
            return Err(FileError::is_directory(self));
        }
        Ok(self.split_any())
    }

    /// Splits the path into its parent directories and its last component, which may name a directory.
    pub fn split_any(&self) -> (impl Iterator<Item = &str> + Clone, &str) {
        let (directories, last) = self.name.rsplit_once('/').unwrap_or(("", &self.name));
        (directories.split('/').filter(|component| !component.is_empty()), last)
    }

    /// Returns `true` if the path can only name a directory.
    pub fn is_directory(&self) -> bool {
        self.is_directory
    }
}

/// The directory that relative paths start at.
#[derive(Clone, Debug)]
pub enum PathBase {
    /// The io directory. `~` has no special meaning.
    IoDirectory,
    /// A directory in the io directory. `~` is the io directory, and paths that begin with `~/` start there.
    WorkingDirectory(FilePath),
}

impl PathBase {
    /// Returns the path of this directory, relative to the io directory.
    pub fn name(&self) -> &str {
        match self {
            Self::IoDirectory => ".",
            Self::WorkingDirectory(directory) => directory.name(),
        }
    }

    /// Returns `true` if the path is this directory or the io directory. Both are created by the first write, and are empty before.
    pub fn is_base_or_root(&self, path: &FilePath) -> bool {
        path.name.is_empty() || path.name() == self.name()
    }

    /// Converts a path that is relative to this directory to one that is relative to the io directory.
    pub fn resolve(&self, path: &[u8]) -> Result<FilePath, FileError> {
        let Self::WorkingDirectory(base) = self else { return FilePath::parse(path) };
        match path {
            b"~" | b"~/" => Ok(FilePath::root()),
            [b'~', b'/', rest @ ..] => FilePath::parse(rest),
            _ if base.name.is_empty() => FilePath::parse(path),
            _ => {
                // Two valid paths may be too long together, so the joined path is checked again.
                let FilePath { name, is_directory } = FilePath::parse(path)?;
                let joined = FilePath::parse([base.name.as_str(), "/", &name].concat().as_bytes())?;
                Ok(FilePath { is_directory, ..joined })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FilePath, PathBase};
    use crate::files::FileError;

    fn name(path: &str) -> String {
        FilePath::parse(path.as_bytes()).unwrap().name().to_owned()
    }

    fn rejected(path: impl AsRef<[u8]>) -> String {
        FilePath::parse(path.as_ref()).unwrap_err().to_string()
    }

    #[test]
    fn spellings_of_the_same_path_are_equal() {
        for path in ["a/b.txt", "./a/b.txt", "a//b.txt", "a/./b.txt", "./././a///././b.txt"] {
            assert_eq!(name(path), "a/b.txt");
        }
        assert_eq!(name("..."), "...");
        assert_eq!(name("a..b/..c"), "a..b/..c");
        assert_eq!(name("./."), ".");
    }

    #[test]
    fn every_rule_has_its_own_message() {
        assert_eq!(rejected(""), "path cannot be empty");
        for path in ["/", "/etc/passwd", "//etc", "/proc/self/mem", "/.."] {
            assert_eq!(rejected(path), "path must be relative");
        }
        for path in ["..", "../x", "a/../../x", "a/..", "./../x", "a/../b"] {
            assert_eq!(rejected(path), "path cannot contain '..' traversal");
        }
        for path in ["\0", "\0a", "a\0b", "a\0", "../\0", "/\0"] {
            assert_eq!(rejected(path), "path cannot contain null bytes");
        }
        for path in [&b"\xff"[..], b"a/\xc3", b"\xed\xa0\x80"] {
            assert_eq!(rejected(path), "path is not UTF-8");
        }
        for path in ["x".repeat(256), "x/".repeat(2500), "a/".repeat(65), "x/".repeat(10_000), "é".repeat(128)] {
            assert_eq!(rejected(path), "path is too long");
        }
        assert_eq!(name(&"é".repeat(127)), "é".repeat(127));
        assert_eq!(name(&"a/".repeat(64)).len(), 127);
    }

    #[test]
    fn the_directory_of_temporary_files_cannot_be_named() {
        for path in [".toolscript-tmp", ".toolscript-tmp/x", "./.toolscript-tmp/", "a/.toolscript-tmp/b", ".Toolscript-TMP/x"] {
            assert_eq!(rejected(path), "path cannot contain '.toolscript-tmp', a reserved name");
        }
        assert_eq!(name(".toolscript-tmp2/x.toolscript-tmp"), ".toolscript-tmp2/x.toolscript-tmp");
    }

    #[test]
    fn the_configuration_file_cannot_be_named() {
        for path in ["toolscript.toml", "./TOOLSCRIPT.TOML", "a/toolscript.toml", "Toolscript.toml/x", "tool\u{17f}cript.toml"] {
            assert_eq!(rejected(path), "path cannot contain 'toolscript.toml', a reserved name");
        }
        assert_eq!(name("my-toolscript.toml"), "my-toolscript.toml");
    }

    #[test]
    fn paths_start_at_the_working_directory_or_at_the_io_directory() {
        let working = PathBase::WorkingDirectory(FilePath::parse(b"desk/top/").unwrap());
        let name = |path: &str| working.resolve(path.as_bytes()).map(|path| path.name().to_owned()).map_err(|error| error.to_string());
        for (path, expected) in [
            ("a", "desk/top/a"),
            (".", "desk/top"),
            ("./b/", "desk/top/b"),
            ("~/a", "a"),
            ("~", "."),
            ("~/", "."),
            ("~/./x", "x"),
            ("~x/y", "desk/top/~x/y"),
            ("./~", "desk/top/~"),
        ] {
            assert_eq!(name(path).as_deref(), Ok(expected), "{path}");
        }
        for path in ["/a", "~//a"] {
            assert_eq!(name(path).unwrap_err(), "path must be relative");
        }
        for path in ["../a", "~/../a", "~/a/../../b"] {
            assert_eq!(name(path).unwrap_err(), "path cannot contain '..' traversal");
        }
        assert_eq!(name("").unwrap_err(), "path cannot be empty");
        assert_eq!(name(&"a/".repeat(63)).unwrap_err(), "path is too long");
        assert_eq!(PathBase::IoDirectory.resolve(b"~/a").unwrap().name(), "~/a");
        assert_eq!(PathBase::WorkingDirectory(FilePath::root()).resolve(b"~/a").unwrap().name(), "a");
    }

    #[test]
    fn a_path_that_can_only_name_a_directory_is_not_a_file() {
        for path in [".", "a/", "./", "a/.", "a//"] {
            let path = FilePath::parse(path.as_bytes()).unwrap();
            let Err(FileError::System { message, number: 21, .. }) = path.split().map(|_| ()) else { panic!("{path:?}") };
            assert_eq!(message, format!("{}: Is a directory", path.name()));
        }
    }
}
