//! Names of functions and parameters: Luau identifiers in snake case.

use heck::ToSnakeCase as _;
use std::collections::BTreeMap;

/// The length of a name in bytes. A longer name is truncated; numbers keep truncated names distinct.
const MAX_LENGTH: usize = 100;

/// The keywords of Luau, which can't follow a dot.
const KEYWORDS: [&str; 21] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or", "repeat", "return",
    "then", "true", "until", "while",
];

/// The types of the built-in globals, which are in `guest/lib/globals.d.luau`.
const BUILT_IN_TYPES: [&str; 3] = ["FileHandle", "FunctionError", "FunctionResponse"];

/// Returns `true` for a keyword of Luau.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Converts a name to snake case: `listPets`, `list-pets` and `List Pets` become `list_pets`.
///
/// The result is a Luau identifier, so characters other than ASCII letters and digits separate words, and a keyword gets an underscore.
pub fn snake_case(text: &str) -> String {
    let mut separated = String::new();
    let mut previous_is_digit = false;
    for character in text.chars() {
        // heck does not separate a digit from a capital letter in `V2API`.
        if previous_is_digit && character.is_ascii_uppercase() {
            separated.push('_');
        }
        separated.push(if character.is_ascii_alphanumeric() { character } else { '_' });
        previous_is_digit = character.is_ascii_digit();
    }
    let mut name = separated.to_snake_case();
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

/// Assigns distinct names. The first item gets its preferred name. Later items with the same preferred name get a number.
#[derive(Default)]
pub struct DistinctNames {
    /// The items by their names.
    assigned: BTreeMap<String, String>,
    /// The next number to try, by the preferred name.
    next_number: BTreeMap<String, usize>,
    /// A line for each item that did not get its preferred name.
    pub clashes: Vec<String>,
}

impl DistinctNames {
    /// Returns names that are distinct from those of the built-in types.
    pub fn of_types() -> Self {
        let assigned = BUILT_IN_TYPES.iter().map(|name| ((*name).to_owned(), "a built-in type".to_owned())).collect();
        Self { assigned, ..Self::default() }
    }

    /// Returns the preferred name or, if it is taken, the name with a number. `item` describes the owner in [`clashes`](Self::clashes).
    pub fn assign(&mut self, preferred: String, item: &str) -> String {
        let mut name = preferred.clone();
        let number = self.next_number.entry(preferred.clone()).or_insert(2);
        while self.assigned.contains_key(&name) {
            name = format!("{preferred}_{number}");
            *number += 1;
        }
        if let Some(first) = self.assigned.get(&preferred) {
            self.clashes.push(format!("{item} is named {name}, because {first} is already named {preferred}"));
        }
        self.assigned.insert(name.clone(), item.to_owned());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{DistinctNames, snake_case};

    #[test]
    fn names_are_converted_to_snake_case() {
        for (text, name) in [
            ("listPets", "list_pets"),
            ("ListPets", "list_pets"),
            ("list-pets", "list_pets"),
            ("list_pets", "list_pets"),
            ("pets/list", "pets_list"),
            ("getHTTPServer", "get_http_server"),
            ("getV2Users", "get_v2_users"),
            ("getV2API", "get_v2_api"),
            ("SHA256", "sha256"),
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
    fn no_name_is_assigned_twice() {
        let mut names = DistinctNames::default();
        assert_eq!(names.assign("a".into(), "GET /a"), "a");
        assert_eq!(names.assign("a".into(), "POST /a"), "a_2");
        assert_eq!(names.assign("a_2".into(), "GET /a2"), "a_2_2");
        let mut many = DistinctNames::default();
        let last = (0..20_000).map(|_| many.assign("x".into(), "x")).last();
        assert_eq!(last.as_deref(), Some("x_20000"));
        assert_eq!(
            names.clashes,
            ["POST /a is named a_2, because GET /a is already named a", "GET /a2 is named a_2_2, because POST /a is already named a_2"]
        );
    }
}
