//! The rules for paths, and nothing else. A path that breaks one never reaches the operating system.

use super::{error::FileError, reserved};

/// Bytes of a path.
pub const MAX_PATH: usize = 4096;

/// Components of a path: each is a folder to open or to make.
pub const MAX_COMPONENTS: usize = 64;

/// Bytes of a component, as file systems have it.
const MAX_COMPONENT: usize = 255;

/// A path that keeps to the rules: relative, UTF-8, without `..`. Two spellings of one path are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePath {
    /// Joined by single slashes, without `.`; empty for the io dir itself.
    name: String,
    /// Written as only a folder is: with a slash or a dot at its end.
    folder: bool,
}

impl FilePath {
    /// The io dir itself.
    pub fn home() -> Self {
        Self { name: String::new(), folder: true }
    }

    /// Checks the bytes that a script gave.
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
        // What another system takes for a way out is one, too.
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
        if let Some(message) = components.iter().find_map(|component| reserved::error_message(component)) {
            return Err(FileError::Invalid(message));
        }
        Ok(Self { name: components.join("/"), folder: text.ends_with('/') || text == "." || text.ends_with("/.") })
    }

    /// The path as messages and reports show it.
    pub fn name(&self) -> &str {
        if self.name.is_empty() { "." } else { &self.name }
    }

    /// All components, from the io dir on.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.name.split('/').filter(|component| !component.is_empty())
    }

    /// The folders on the way, and the file's own name.
    ///
    /// # Errors
    ///
    /// When the path can only be a folder.
    pub fn split(&self) -> Result<(impl Iterator<Item = &str> + Clone, &str), FileError> {
        if self.folder || self.name.is_empty() {
            return Err(FileError::folder(self));
        }
        let (folders, file) = self.name.rsplit_once('/').unwrap_or(("", &self.name));
        Ok((folders.split('/').filter(|component| !component.is_empty()), file))
    }
}

/// Where relative paths start.
#[derive(Clone, Debug)]
pub enum Start {
    /// At the io dir, where `~` is a name like any other.
    Root,
    /// At a folder in it. The io dir is home there: `~` and what begins with `~/` counts from it.
    Folder(FilePath),
}

impl Start {
    /// The path of this start, from the io dir on.
    pub fn name(&self) -> &str {
        match self {
            Self::Root => ".",
            Self::Folder(folder) => folder.name(),
        }
    }

    /// Whether a path is this start or the io dir: both are made at the first write, and are empty before.
    pub fn is(&self, path: &FilePath) -> bool {
        path.name.is_empty() || path.name() == self.name()
    }

    /// The path from the io dir on of one that counts from here.
    pub fn resolve(&self, path: &[u8]) -> Result<FilePath, FileError> {
        let Self::Folder(start) = self else { return FilePath::parse(path) };
        match path {
            b"~" | b"~/" => Ok(FilePath::home()),

            [b'~', b'/', rest @ ..] => FilePath::parse(rest),
            _ if start.name.is_empty() => FilePath::parse(path),
            _ => {
                // Two paths that keep to the rules may break one together: they are too long.
                let FilePath { name, folder } = FilePath::parse(path)?;
                let joined = FilePath::parse([start.name.as_str(), "/", &name].concat().as_bytes())?;
                Ok(FilePath { folder, ..joined })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FilePath, Start};
    use crate::files::FileError;

    fn name(path: &str) -> String {
        FilePath::parse(path.as_bytes()).unwrap().name().to_owned()
    }

    fn refused(path: impl AsRef<[u8]>) -> String {
        FilePath::parse(path.as_ref()).unwrap_err().to_string()
    }

    #[test]
    fn two_spellings_of_a_path_are_one() {
        for path in ["a/b.txt", "./a/b.txt", "a//b.txt", "a/./b.txt", "./././a///././b.txt"] {
            assert_eq!(name(path), "a/b.txt");
        }
        assert_eq!(name("..."), "...");
        assert_eq!(name("a..b/..c"), "a..b/..c");
        assert_eq!(name("./."), ".");
    }

    #[test]
    fn each_rule_has_its_message() {
        assert_eq!(refused(""), "path cannot be empty");
        for path in ["/", "/etc/passwd", "//etc", "/proc/self/mem", "/.."] {
            assert_eq!(refused(path), "path must be relative");
        }
        for path in ["..", "../x", "a/../../x", "a/..", "./../x", "a/../b"] {
            assert_eq!(refused(path), "path cannot contain '..' traversal");
        }
        for path in ["\0", "\0a", "a\0b", "a\0", "../\0", "/\0"] {
            assert_eq!(refused(path), "path cannot contain null bytes");
        }
        for path in [&b"\xff"[..], b"a/\xc3", b"\xed\xa0\x80"] {
            assert_eq!(refused(path), "path is not UTF-8");
        }
        for path in ["x".repeat(256), "x/".repeat(2500), "a/".repeat(65), "x/".repeat(10_000), "é".repeat(128)] {
            assert_eq!(refused(path), "path is too long");
        }
        assert_eq!(name(&"é".repeat(127)), "é".repeat(127));
        assert_eq!(name(&"a/".repeat(64)).len(), 127);
    }

    #[test]
    fn the_folder_of_temporary_files_has_no_path() {
        for path in [".toolscript-tmp", ".toolscript-tmp/x", "./.toolscript-tmp/", "a/.toolscript-tmp/b", ".Toolscript-TMP/x"] {
            assert_eq!(refused(path), "path cannot contain '.toolscript-tmp', a reserved name");
        }
        assert_eq!(name(".toolscript-tmp2/x.toolscript-tmp"), ".toolscript-tmp2/x.toolscript-tmp");
    }

    #[test]
    fn the_configuration_file_has_no_path() {
        for path in ["toolscript.toml", "./TOOLSCRIPT.TOML", "a/toolscript.toml", "Toolscript.toml/x", "tool\u{17f}cript.toml"] {
            assert_eq!(refused(path), "path cannot contain 'toolscript.toml', a reserved name");
        }
        assert_eq!(name("my-toolscript.toml"), "my-toolscript.toml");
    }

    #[test]
    fn paths_start_at_the_working_folder_or_at_home() {
        let working = Start::Folder(FilePath::parse(b"desk/top/").unwrap());
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
        assert_eq!(Start::Root.resolve(b"~/a").unwrap().name(), "~/a");
        assert_eq!(Start::Folder(FilePath::home()).resolve(b"~/a").unwrap().name(), "a");
    }

    #[test]
    fn a_path_that_can_only_be_a_folder_is_no_file() {
        for path in [".", "a/", "./", "a/.", "a//"] {
            let path = FilePath::parse(path.as_bytes()).unwrap();
            let Err(FileError::Refused { message, number: 21 }) = path.split().map(|_| ()) else { panic!("{path:?}") };
            assert_eq!(message, format!("{}: Is a directory", path.name()));
        }
    }
}
