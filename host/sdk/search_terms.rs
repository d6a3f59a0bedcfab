//! Words of names, descriptions and queries as terms for the search: without inflection, and with one term for verbs of the same meaning.

use rust_stemmers::{Algorithm, Stemmer};

/// The length of a word in bytes. A longer one is no word.
const MAX_WORD: usize = 64;

/// An action of a function on its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Create,
    Get,
    List,
    Update,
    Delete,
}

/// The verbs and adjectives that ask for an action.
const ACTIONS: [(Action, &[&str]); 5] = [
    (Action::Create, &["create", "add", "post", "new", "make", "insert", "register", "open"]),
    (Action::Get, &["get", "show", "fetch", "retrieve", "read", "return", "view", "lookup", "describe"]),
    (Action::List, &["list", "all", "every", "find", "enumerate", "browse"]),
    (Action::Update, &["update", "change", "edit", "patch", "put", "modify", "replace", "set", "rename"]),
    (Action::Delete, &["delete", "remove", "destroy", "erase"]),
];

/// Abbreviations that are common in names, with the words that they stand for.
const ABBREVIATIONS: [(&str, &str); 14] = [
    ("app", "application"),
    ("apps", "applications"),
    ("auth", "authentication"),
    ("config", "configuration"),
    ("configs", "configurations"),
    ("db", "database"),
    ("doc", "document"),
    ("docs", "documents"),
    ("env", "environment"),
    ("org", "organization"),
    ("orgs", "organizations"),
    ("repo", "repository"),
    ("repos", "repositories"),
    ("organisation", "organization"),
];

impl Action {
    /// Returns the term of the action. It can't be a word.
    pub const fn term(self) -> &'static str {
        match self {
            Self::Create => "@create",
            Self::Get => "@get",
            Self::List => "@list",
            Self::Update => "@update",
            Self::Delete => "@delete",
        }
    }

    /// Returns the action that a word in its basic form asks for.
    pub fn of(word: &str) -> Option<Self> {
        ACTIONS.iter().find(|(_, words)| words.contains(&word)).map(|(action, _)| *action)
    }

    /// Returns the action that the first word of a sentence asks for, such as `Lists` or `Retrieves`.
    pub fn of_verb(word: &str) -> Option<Self> {
        let basic = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
        basic.into_iter().flatten().find_map(Self::of)
    }
}

/// Splits a text into words in lower case, also where a capital letter follows a small one.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_small = false;
    for character in text.chars() {
        let is_boundary = !character.is_alphanumeric() || (is_small && character.is_uppercase());
        if is_boundary && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        is_small = character.is_lowercase();
    }
    words.push(word);
    words.into_iter().filter(|word| !word.is_empty() && word.len() <= MAX_WORD)
}

/// Returns the stems of words.
pub struct Terms(Stemmer);

impl Default for Terms {
    fn default() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }
}

impl Terms {
    /// Returns the term of a word in lower case.
    pub fn of(&self, word: &str) -> String {
        let word = ABBREVIATIONS.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| long);
        // The stemmer is for English only.
        if word.is_ascii() { self.0.stem(word).into_owned() } else { word.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Terms, words};

    #[test]
    fn words_are_split_and_have_terms_without_inflection() {
        let terms = |text: &str| words(text).map(|word| Terms::default().of(&word)).collect::<Vec<_>>();
        assert_eq!(terms("listRepos"), ["list", "repositori"]);
        assert_eq!(terms("The repositories of an org-unit"), ["the", "repositori", "of", "an", "organ", "unit"]);
        assert_eq!(terms("/v1/payment_intents/{id}"), ["v1", "payment", "intent", "id"]);
        assert_eq!(terms("Größen URL x2"), ["größen", "url", "x2"]);
        assert_eq!(terms(&"x".repeat(100)), [""; 0]);
    }

    #[test]
    fn verbs_of_the_same_meaning_have_one_action() {
        assert_eq!(Action::of("add"), Action::of("create"));
        assert_eq!(Action::of_verb("retrieves"), Some(Action::Get));
        assert_eq!(Action::of_verb("fetches"), Some(Action::Get));
        assert_eq!(Action::of("posts"), None);
    }
}
