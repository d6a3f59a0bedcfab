//! Full-text search over the documentation of functions and built-ins.

use super::names::snake_case;
use std::collections::{BTreeSet, HashMap};

/// The number of functions that a search returns.
const MAX_RESULTS: usize = 20;

/// The size of a query in bytes, and the number of its words. The rest is ignored.
const MAX_QUERY_BYTES: usize = 256;
const MAX_QUERY_WORDS: usize = 16;

/// The factor for a word that is only a prefix of the word in the query, or the other way round.
const PREFIX_FACTOR: f64 = 0.5;

/// The length in bytes from which words match by prefix.
const MIN_PREFIX: usize = 3;

/// Words of questions that are in the descriptions of many functions.
const STOP_WORDS: [&str; 38] = [
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how", "i", "in", "into", "is",
    "it", "its", "me", "my", "of", "on", "or", "some", "that", "the", "this", "to", "use", "want", "what", "which", "with", "you",
];

/// The words of each function, weighted by the text they are in. Rare words count more.
pub struct SearchIndex {
    weights: Vec<HashMap<String, f64>>,
    names: Vec<String>,
    /// The number of functions that have a word.
    frequency: HashMap<String, usize>,
}

impl SearchIndex {
    /// Indexes entries by name, with texts and their weights.
    pub fn new(entries: impl IntoIterator<Item = (String, Vec<(String, f64)>)>) -> Self {
        let (names, weights): (Vec<String>, Vec<HashMap<String, f64>>) =
            entries.into_iter().map(|(name, texts)| (name, word_weights(texts))).unzip();
        let mut frequency: HashMap<String, usize> = HashMap::new();
        for word in weights.iter().flat_map(HashMap::keys) {
            *frequency.entry(word.clone()).or_default() += 1;
        }
        Self { weights, names, frequency }
    }

    /// Returns the positions of the entries that match: first those whose name is the query, then the best match first.
    pub fn search(&self, query: &str) -> Vec<usize> {
        let query = &query[..query.floor_char_boundary(MAX_QUERY_BYTES)];
        let wanted = snake_case(query.strip_prefix("sdk.").unwrap_or(query));
        let mut query: BTreeSet<String> = words(query).into_iter().take(MAX_QUERY_WORDS).collect();
        if query.iter().any(|word| !is_stop_word(word)) {
            query.retain(|word| !is_stop_word(word));
        }
        let score = |(name, weights): (&String, &HashMap<String, f64>)| {
            if is_named(name, &wanted) { f64::INFINITY } else { self.score(weights, &query) }
        };
        let scores = self.names.iter().zip(&self.weights).map(score);
        let mut found: Vec<(f64, usize)> = scores.zip(0..).filter(|(score, _)| *score > 0.0).collect();
        found.sort_by(|(left, first), (right, second)| right.total_cmp(left).then_with(|| self.names[*first].cmp(&self.names[*second])));
        found.truncate(MAX_RESULTS);
        found.into_iter().map(|(_, position)| position).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of functions are small")]
    fn score(&self, weights: &HashMap<String, f64>, query: &BTreeSet<String>) -> f64 {
        let word_score = |word: &String| {
            let frequency = self.frequency.get(word).copied().unwrap_or(1);
            let rarity = (1.0 + self.weights.len() as f64 / frequency as f64).ln();
            weights.get(word).copied().unwrap_or_else(|| prefix_weight(weights, word)) * rarity
        };
        query.iter().map(word_score).sum()
    }
}

/// Returns `true` if a name such as `shop.list_pets`, or its last part, is the wanted name in snake case.
fn is_named(name: &str, wanted: &str) -> bool {
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    last == wanted || snake_case(name) == wanted
}

/// Returns `true` for a word that says nothing about a function.
fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Returns the weight of the best word that is a prefix of the other, such as `pet` and `pets`.
fn prefix_weight(weights: &HashMap<String, f64>, word: &str) -> f64 {
    let is_prefix = |known: &str| known.starts_with(word) || word.starts_with(known);
    let matches = weights.iter().filter(|(known, _)| word.len() >= MIN_PREFIX && known.len() >= MIN_PREFIX && is_prefix(known));
    matches.map(|(_, weight)| weight * PREFIX_FACTOR).fold(0.0, f64::max)
}

fn word_weights(texts: Vec<(String, f64)>) -> HashMap<String, f64> {
    let mut weights: HashMap<String, f64> = HashMap::new();
    for (text, weight) in texts {
        for word in words(&text) {
            let known = weights.entry(word).or_default();
            *known = known.max(weight);
        }
    }
    weights
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
