//! Glob patterns: `*`, `?`, classes, braces, and `**` for directories at any depth.

use super::error::FileError;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The maximum number of bytes in a pattern. A compiled pattern is many times larger.
pub const MAX_PATTERN: usize = 4096;

/// The maximum number of opening braces in a pattern. Braces can be nested, which multiplies the alternatives.
const MAX_BRACES: usize = 64;

/// The characters with a special meaning.
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// A compiled pattern for paths.
pub struct GlobPattern {
    /// The directories at the start of the pattern that contain no special characters.
    pub literal_directories: Vec<String>,
    /// The maximum number of components of a path that matches the rest of the pattern.
    max_depth: usize,
    /// The rest of the pattern, after the literal directories.
    rest: GlobSet,
    /// The components that explicitly match names that begin with a dot.
    hidden: GlobSet,
}

impl GlobPattern {
    /// Compiles a pattern for whole paths.
    pub fn new(text: &str) -> Result<Self, FileError> {
        let braces = text.bytes().filter(|byte| *byte == b'{').count();
        if text.len() > MAX_PATTERN || braces > MAX_BRACES {
            return Err(invalid(text, &format!("at most {MAX_PATTERN} bytes and {MAX_BRACES} braces are allowed")));
        }
        // Names are compared byte by byte, so a class with a part of a multi-byte character could match a different character.
        let has_non_ascii = |class: &str| {
            class.chars().enumerate().take_while(|(index, letter)| *index == 0 || *letter != ']').any(|(_, letter)| !letter.is_ascii())
        };
        if text.split('[').skip(1).any(has_non_ascii) {
            return Err(invalid(text, "a class such as [a-z] can contain only ASCII characters"));
        }
        if text.starts_with('/') {
            return Err(FileError::Invalid("path must be relative"));
        }
        let components: Vec<&str> = text.split('/').filter(|component| !matches!(*component, "" | ".")).collect();
        if components.contains(&"..") {
            return Err(FileError::Invalid("path cannot contain '..' traversal"));
        }
        let Some((_, directories)) = components.split_last() else { return Err(invalid(text, "it is empty")) };
        let literal = directories.iter().take_while(|component| !component.contains(SPECIAL)).count();
        let rest = &components[literal..];
        // A slash in braces can make the depth too large, but never too small.
        let max_depth = if rest.iter().any(|component| component.contains("**")) { usize::MAX } else { rest.len() };
        // A component matches hidden names explicitly if it has a dot where a name can begin.
        let is_for_hidden = |component: &&&str| component.starts_with('.') || component.contains("{.") || component.contains(",.");
        let hidden: Vec<&str> = rest.iter().filter(is_for_hidden).copied().collect();
        Ok(Self {
            literal_directories: directories[..literal].iter().map(|name| (*name).to_owned()).collect(),
            max_depth,
            rest: compile(text, &[&rest.join("/")])?,
            // Braces with a slash in them are not valid patterns after splitting. They match no hidden names.
            hidden: compile(text, &hidden).unwrap_or_default(),
        })
    }

    /// Returns `true` if a path relative to the literal directories matches the rest of the pattern.
    pub fn matches(&self, path: &str) -> bool {
        self.rest.is_match(path)
    }

    /// Returns `true` if a path below this directory may match.
    pub fn can_match_below(&self, directory: &str) -> bool {
        directory.split('/').count() < self.max_depth
    }

    /// Returns `true` if the pattern explicitly matches this hidden name.
    pub fn matches_hidden(&self, name: &str) -> bool {
        self.hidden.is_match(name)
    }
}

/// Returns `true` if a name begins with a dot. Searches skip such names by default.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

fn compile(text: &str, patterns: &[&str]) -> Result<GlobSet, FileError> {
    let build = || {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            set.add(GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).empty_alternates(true).build()?);
        }
        set.build()
    };
    build().map_err(|error: globset::Error| invalid(text, &error.kind().to_string()))
}

fn invalid(text: &str, reason: &str) -> FileError {
    let start = &text[..text.floor_char_boundary(64)];
    FileError::Argument(format!("the pattern '{start}' can't be used: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::GlobPattern;

    fn matches(pattern: &str, path: &str) -> bool {
        GlobPattern::new(pattern).unwrap().matches(path)
    }

    fn rejected(pattern: &str) -> String {
        GlobPattern::new(pattern).err().unwrap().to_string()
    }

    #[test]
    fn patterns_match_what_a_shell_would_match() {
        for (pattern, path) in [
            ("*.txt", "a.txt"),
            ("**/*.txt", "a.txt"),
            ("**/*.txt", "b/c/a.txt"),
            ("**", "b/c"),
            ("{a,b}*.{txt,md}", "b1.md"),
            ("{x/,}a", "a"),
            ("[a-c]?", "bz"),
            ("[!a-c]", "d"),
            ("\\*", "*"),
            ("日*", "日本"),
            ("[a-z]日", "x日"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [("*.txt", "b/a.txt"), ("[!a-c]", "b"), ("\\*", "x"), ("?", "xy"), ("{a,b}", "{a,b}"), ("*.TXT", "a.txt")] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_limits_where_to_search() {
        let pattern = GlobPattern::new("./a//b/*/c").unwrap();
        assert_eq!((pattern.literal_directories.as_slice(), pattern.max_depth), (&["a".into(), "b".into()][..], 2));
        assert!(pattern.matches("x/c"));
        let pattern = GlobPattern::new("a/**/c").unwrap();
        assert_eq!((pattern.literal_directories.len(), pattern.max_depth), (1, usize::MAX));
        assert_eq!(GlobPattern::new("a").unwrap().max_depth, 1);
    }

    #[test]
    fn hidden_names_match_only_an_explicit_dot() {
        assert!(GlobPattern::new("**/.e*").unwrap().matches_hidden(".env"));
        assert!(!GlobPattern::new("**/.e*").unwrap().matches_hidden(".git"));
        assert!(GlobPattern::new("{.a,b}/x").unwrap().matches_hidden(".a"));
        assert!(!GlobPattern::new("*").unwrap().matches_hidden(".a"));
    }

    #[test]
    fn invalid_patterns_are_rejected() {
        assert_eq!(rejected(""), "the pattern '' can't be used: it is empty");
        assert_eq!(rejected("./"), "the pattern './' can't be used: it is empty");
        assert_eq!(rejected("[a"), "the pattern '[a' can't be used: unclosed character class; missing ']'");
        assert_eq!(rejected("x[é]"), "the pattern 'x[é]' can't be used: a class such as [a-z] can contain only ASCII characters");
        assert_eq!(rejected("/etc/*"), "path must be relative");
        assert_eq!(rejected("a/../*"), "path cannot contain '..' traversal");
        for pattern in ["{".repeat(65), "x".repeat(4097)] {
            let start = &pattern[..64];
            assert_eq!(rejected(&pattern), format!("the pattern '{start}' can't be used: at most 4096 bytes and 64 braces are allowed"));
        }
        // Patterns at the limits are compiled or rejected without a stack overflow.
        let _ = GlobPattern::new(&"{".repeat(64));
        let _ = GlobPattern::new(&"[!a]".repeat(1024));
        let nested = format!("{}a{}", "{".repeat(64), "}".repeat(64));
        let _ = GlobPattern::new(&nested);
        let _ = GlobPattern::new(&"**/".repeat(1365));
    }
}
