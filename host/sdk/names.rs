//! Names that scripts call functions by: identifiers of Luau, in snake case.

use std::collections::BTreeMap;

/// Letters of a name. What is longer is cut, and then told apart by a number.
const MAX_LENGTH: usize = 100;

/// Members that `sdk` has itself.
pub const RESERVED: [&str; 3] = ["all", "docs", "search"];

/// Words of Luau's own, which can't be a field's name after a dot.
const KEYWORDS: [&str; 21] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or", "repeat", "return",
    "then", "true", "until", "while",
];

/// Whether a word is one of Luau's own.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// A name in snake case: `listPets`, `list-pets` and `List Pets` are `list_pets`.
pub fn snake_case(text: &str) -> String {
    let mut name = String::with_capacity(text.len() + 8);
    let characters: Vec<char> = text.chars().collect();
    for (index, &character) in characters.iter().enumerate() {
        if !character.is_ascii_alphanumeric() {
            if !name.is_empty() && !name.ends_with('_') {
                name.push('_');
            }
            continue;
        }
        let before = index.checked_sub(1).map(|before| characters[before]);
        let after = characters.get(index + 1);
        // `listPets`, and the last capital of `HTTPServer`.
        let begins_word = character.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if begins_word && !name.ends_with('_') {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name.truncate(MAX_LENGTH);
    let mut name = name.trim_end_matches('_').to_owned();
    if name.is_empty() || name.starts_with(|character: char| character.is_ascii_digit()) {
        name.insert(0, '_');
    }
    if is_keyword(&name) {
        name.push('_');
    }
    name
}

/// Gives each of several things a name of its own: the first to come keeps a name that others want too, and later ones get a number.
#[derive(Default)]
pub struct Distinct {
    /// What has the name, as the specification calls it.
    taken: BTreeMap<String, String>,
    /// The number that the next one gets who wishes for a name.
    next: BTreeMap<String, usize>,
    /// Names that were not given as wished.
    pub clashes: Vec<String>,
}

impl Distinct {
    /// A name like the wished one that nobody has; `what` is for the report.
    pub fn take(&mut self, wished: String, what: &str) -> String {
        let mut name = wished.clone();
        let number = self.next.entry(wished.clone()).or_insert(2);
        while self.taken.contains_key(&name) {
            name = format!("{wished}_{number}");
            *number += 1;
        }
        if let Some(first) = self.taken.get(&wished) {
            self.clashes.push(format!("{what} is {name}, as {wished} is {first} already"));
        }
        self.taken.insert(name.clone(), what.to_owned());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{Distinct, snake_case};

    #[test]
    fn names_are_in_snake_case() {
        for (text, name) in [
            ("listPets", "list_pets"),
            ("ListPets", "list_pets"),
            ("list-pets", "list_pets"),
            ("list_pets", "list_pets"),
            ("pets/list", "pets_list"),
            ("getHTTPServer", "get_http_server"),
            ("getV2Users", "get_v2_users"),
            ("get", "get"),
            ("end", "end_"),
            ("search", "search"),
            ("2fa", "_2fa"),
            ("__a__", "a"),
            ("ünïcode", "n_code"),
            ("", "_"),
            ("💥", "_"),
        ] {
            assert_eq!(snake_case(text), name, "{text}");
        }
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut names = Distinct::default();
        assert_eq!(names.take("a".into(), "GET /a"), "a");
        assert_eq!(names.take("a".into(), "POST /a"), "a_2");
        assert_eq!(names.take("a_2".into(), "GET /a2"), "a_2_2");
        let mut many = Distinct::default();
        let last = (0..20_000).map(|_| many.take("x".into(), "x")).last();
        assert_eq!(last.as_deref(), Some("x_20000"));
        assert_eq!(names.clashes, ["POST /a is a_2, as a is GET /a already", "GET /a2 is a_2_2, as a_2 is POST /a already"]);
    }
}
