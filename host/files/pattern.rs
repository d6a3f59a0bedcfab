//! Patterns for names: `*`, `?`, classes, braces, and `**` for folders at any depth.

use super::error::FileError;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Bytes of a pattern: it becomes a machine of many times its size.
pub const MAX_PATTERN: usize = 4096;

/// Braces in a pattern, each in the one before at worst.
const MAX_BRACES: usize = 64;

/// What means something else than itself.
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// A pattern, ready to be compared with paths.
pub struct Pattern {
    /// The folders that it begins with, by their names.
    pub folders: Vec<String>,
    /// How many components a path has at most that fits the rest.
    depth: usize,
    rest: GlobSet,
    hidden: GlobSet,
}

impl Pattern {
    /// A pattern for whole paths.
    pub fn new(text: &str) -> Result<Self, FileError> {
        let braces = text.bytes().filter(|byte| *byte == b'{').count();
        if text.len() > MAX_PATTERN || braces > MAX_BRACES {
            return Err(wrong(text, &format!("at most {MAX_PATTERN} bytes and {MAX_BRACES} braces are allowed")));
        }
        // Names are compared by their bytes, and a class of half of a letter's bytes would fit another letter.
        let has_other = |class: &str| {
            class.chars().enumerate().take_while(|(place, letter)| *place == 0 || *letter != ']').any(|(_, letter)| !letter.is_ascii())
        };
        if text.split('[').skip(1).any(has_other) {
            return Err(wrong(text, "a class such as [a-z] may have ASCII in it only"));
        }
        if text.starts_with('/') {
            return Err(FileError::Invalid("path must be relative"));
        }
        let components: Vec<&str> = text.split('/').filter(|component| !matches!(*component, "" | ".")).collect();
        if components.contains(&"..") {
            return Err(FileError::Invalid("path cannot contain '..' traversal"));
        }
        let Some((_, begin)) = components.split_last() else { return Err(wrong(text, "it is empty")) };
        let plain = begin.iter().take_while(|component| !component.contains(SPECIAL)).count();
        let rest = &components[plain..];
        // A slash in braces makes a pattern look deeper than it is, never less deep.
        let depth = if rest.iter().any(|component| component.contains("**")) { usize::MAX } else { rest.len() };
        // What asks for hidden names has a dot where a name begins.
        let asks = |component: &&&str| component.starts_with('.') || component.contains("{.") || component.contains(",.");
        let hidden: Vec<&str> = rest.iter().filter(asks).copied().collect();
        Ok(Self {
            folders: begin[..plain].iter().map(|name| (*name).to_owned()).collect(),
            depth,
            rest: set(text, &[&rest.join("/")])?,
            // Braces with a slash in them are no pattern any more when they are cut at it; they ask for nothing.
            hidden: set(text, &hidden).unwrap_or_default(),
        })
    }

    /// Whether a path, from the folders that the pattern begins with on, fits the rest.
    pub fn matches(&self, path: &str) -> bool {
        self.rest.is_match(path)
    }

    /// Whether something in a folder of this path may fit.
    pub fn reaches(&self, folder: &str) -> bool {
        folder.split('/').count() < self.depth
    }

    /// Whether a hidden name was asked for.
    pub fn asks_for(&self, name: &str) -> bool {
        self.hidden.is_match(name)
    }
}

/// Whether a name is one that is not shown unless asked for.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

fn set(text: &str, patterns: &[&str]) -> Result<GlobSet, FileError> {
    let build = || {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            set.add(GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).empty_alternates(true).build()?);
        }
        set.build()
    };
    build().map_err(|error: globset::Error| wrong(text, &error.kind().to_string()))
}

fn wrong(text: &str, reason: &str) -> FileError {
    let shown = &text[..text.floor_char_boundary(64)];
    FileError::Argument(format!("the pattern '{shown}' can't be used: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn fits(pattern: &str, path: &str) -> bool {
        Pattern::new(pattern).unwrap().matches(path)
    }

    fn refused(pattern: &str) -> String {
        Pattern::new(pattern).err().unwrap().to_string()
    }

    #[test]
    fn patterns_fit_what_a_shell_would_find() {
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
            assert!(fits(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [("*.txt", "b/a.txt"), ("[!a-c]", "b"), ("\\*", "x"), ("?", "xy"), ("{a,b}", "{a,b}"), ("*.TXT", "a.txt")] {
            assert!(!fits(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_says_where_to_look() {
        let pattern = Pattern::new("./a//b/*/c").unwrap();
        assert_eq!((pattern.folders.as_slice(), pattern.depth), (&["a".into(), "b".into()][..], 2));
        assert!(pattern.matches("x/c"));
        let pattern = Pattern::new("a/**/c").unwrap();
        assert_eq!((pattern.folders.len(), pattern.depth), (1, usize::MAX));
        assert_eq!(Pattern::new("a").unwrap().depth, 1);
    }

    #[test]
    fn hidden_names_are_asked_for_by_a_dot_of_their_own() {
        assert!(Pattern::new("**/.e*").unwrap().asks_for(".env"));
        assert!(!Pattern::new("**/.e*").unwrap().asks_for(".git"));
        assert!(Pattern::new("{.a,b}/x").unwrap().asks_for(".a"));
        assert!(!Pattern::new("*").unwrap().asks_for(".a"));
    }

    #[test]
    fn what_is_no_pattern_is_an_error() {
        assert_eq!(refused(""), "the pattern '' can't be used: it is empty");
        assert_eq!(refused("./"), "the pattern './' can't be used: it is empty");
        assert_eq!(refused("[a"), "the pattern '[a' can't be used: unclosed character class; missing ']'");
        assert_eq!(refused("x[é]"), "the pattern 'x[é]' can't be used: a class such as [a-z] may have ASCII in it only");
        assert_eq!(refused("/etc/*"), "path must be relative");
        assert_eq!(refused("a/../*"), "path cannot contain '..' traversal");
        for pattern in ["{".repeat(65), "x".repeat(4097)] {
            let shown = &pattern[..64];
            assert_eq!(refused(&pattern), format!("the pattern '{shown}' can't be used: at most 4096 bytes and 64 braces are allowed"));
        }
        // As many as allowed are read, or refused, without harm.
        let _ = Pattern::new(&"{".repeat(64));
        let _ = Pattern::new(&"[!a]".repeat(1024));
        let nested = format!("{}a{}", "{".repeat(64), "}".repeat(64));
        let _ = Pattern::new(&nested);
        let _ = Pattern::new(&"**/".repeat(1365));
    }
}
