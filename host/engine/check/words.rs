//! The words of a script: what it can mention.
//!
//! They decide which definitions the checker gets, and whether there is anything to check. Words in strings and comments count, too, so a
//! script never mentions more than its words.

use std::{collections::HashSet, str, sync::OnceLock};

/// The definitions of the built-in globals that the checker has.
const BUILT_INS: [&str; 2] = [include_str!("../../../guest/lib/standard.d.luau"), include_str!("../../../guest/lib/globals.d.luau")];

/// The words of the language. A script that uses them and known globals only has no name that could be wrong.
const KEYWORDS: [&str; 22] = [
    "and", "break", "continue", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
    "repeat", "return", "then", "true", "until", "while",
];

/// The globals and members that exist only with files, or only for some scripts.
const CONDITIONAL: [&str; 6] = ["io", "file", "require", "remove", "rename", "env"];

/// The words of a script.
#[derive(Debug)]
pub struct ScriptWords<'a> {
    words: HashSet<&'a str>,
    /// Each word that follows a dot or a colon, with the word before it.
    members: HashSet<(&'a str, &'a str)>,
    /// The words that do not follow one.
    globals: HashSet<&'a str>,
}

impl<'a> ScriptWords<'a> {
    /// Finds the words of a script.
    #[must_use]
    pub fn new(script: &'a [u8]) -> Self {
        let mut found = Self { words: HashSet::new(), members: HashSet::new(), globals: HashSet::new() };
        let mut previous = "";
        let mut separator = Separator::Other;
        for run in script.chunk_by(|a, b| is_word(*a) == is_word(*b)) {
            let Some(word) =
                str::from_utf8(run).ok().filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
            else {
                separator = Separator::of(run);
                continue;
            };
            found.words.insert(word);
            match separator {
                Separator::Member => found.members.insert((previous, word)),
                Separator::Other => found.globals.insert(word),
            };
            previous = word;
        }
        found
    }

    /// Returns `true` if the script has the word.
    #[must_use]
    pub fn mentions(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Returns `true` if all words are of the language, or are globals and members of libraries, so that no name can be wrong.
    pub(super) fn are_right(&self, has_io: bool) -> bool {
        let known = known_names();
        let is_conditional = |word: &&str| CONDITIONAL.contains(word) && (!has_io || *word == "env");
        let is_known = |word: &&str| KEYWORDS.contains(word) || known.globals.contains(word);
        self.globals.iter().all(is_known)
            && self.members.iter().all(|member| known.members.contains(member))
            && !self.words.iter().any(is_conditional)
    }
}

/// The text between two words.
enum Separator {
    /// A dot or a colon: the second word is a member of the first.
    Member,
    Other,
}

impl Separator {
    fn of(run: &[u8]) -> Self {
        match run.trim_ascii() {
            b"." | b":" => Self::Member,
            _ => Self::Other,
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The names of the built-in globals.
struct KnownNames {
    globals: HashSet<&'static str>,
    members: HashSet<(&'static str, &'static str)>,
}

fn known_names() -> &'static KnownNames {
    static NAMES: OnceLock<KnownNames> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names = KnownNames { globals: HashSet::new(), members: HashSet::new() };
        let mut table = "";
        for line in BUILT_INS.iter().flat_map(|text| text.lines()) {
            if let Some(declared) = line.strip_prefix("declare ") {
                let declared = declared.strip_prefix("function ").unwrap_or(declared);
                table = declared.split([':', '(']).next().unwrap_or_default();
                names.globals.insert(table);
            } else if let Some((member, _)) = line.strip_prefix("    ").and_then(|member| member.split_once(": "))
                && !table.is_empty()
            {
                names.members.insert((table, member));
            } else {
                table = "";
            }
        }
        names
    })
}

#[cfg(test)]
mod tests {
    use super::ScriptWords;

    fn are_right(script: &str) -> bool {
        ScriptWords::new(script.as_bytes()).are_right(true)
    }

    #[test]
    fn a_script_of_known_words_is_right() {
        for script in ["return 1", "", "print(math.max(1, 2) .. tostring(3))", "return string . len(1 + 0x1F)", "return io.list()"] {
            assert!(are_right(script), "{script}");
        }
    }

    #[test]
    fn an_unknown_word_must_be_checked() {
        for script in
            ["return x", "return string.trim(1)", "return math.byte", "print(sdk)", "return ('a'):upper()", "return env", "-- note"]
        {
            assert!(!are_right(script), "{script}");
        }
        assert!(!ScriptWords::new(b"return io.list()").are_right(false));
    }

    #[test]
    fn words_are_found_everywhere() {
        let words = ScriptWords::new(b"sdk.shop[\"get_pet\"]{} -- \xff list_pets\nsdk.a2..b");
        assert!(["sdk", "shop", "get_pet", "list_pets", "a2", "b"].iter().all(|word| words.mentions(word)));
        assert!(!words.mentions("get"));
    }
}
