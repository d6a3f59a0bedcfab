//! Which functions a question is about.

use super::function::Function;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Functions that an answer has at most.
const MOST: usize = 20;

/// Bytes and words of a question that are looked at.
const MAX_QUERY: usize = 256;
const MAX_WORDS: usize = 16;

/// What a word counts for that begins like one that is asked for.
const PART: f64 = 0.5;

/// Words of the functions' documentation, weighted by where they are, and by how rare they are.
pub struct Index {
    entries: Vec<HashMap<String, f64>>,
    names: Vec<String>,
    /// In how many functions a word is.
    spread: HashMap<String, usize>,
}

impl Index {
    pub fn new(functions: &[Arc<Function>]) -> Self {
        let entries: Vec<HashMap<String, f64>> = functions.iter().map(|function| weights(function.texts())).collect();
        let mut spread: HashMap<String, usize> = HashMap::new();
        for word in entries.iter().flat_map(HashMap::keys) {
            *spread.entry(word.clone()).or_default() += 1;
        }
        Self { entries, names: functions.iter().map(|function| function.full_name()).collect(), spread }
    }

    /// Where those are that fit, best first.
    pub fn find(&self, query: &str) -> Vec<usize> {
        let query: BTreeSet<String> = words(&query[..query.floor_char_boundary(MAX_QUERY)]).into_iter().take(MAX_WORDS).collect();
        let scores = self.entries.iter().map(|entry| self.score(entry, &query));
        let mut found: Vec<(f64, usize)> = scores.zip(0..).filter(|(score, _)| *score > 0.0).collect();
        found.sort_by(|(left, first), (right, second)| right.total_cmp(left).then_with(|| self.names[*first].cmp(&self.names[*second])));
        found.truncate(MOST);
        found.into_iter().map(|(_, at)| at).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of functions are small")]
    fn score(&self, entry: &HashMap<String, f64>, query: &BTreeSet<String>) -> f64 {
        let worth = |word: &String| {
            let spread = self.spread.get(word).copied().unwrap_or(1);
            let rarity = (1.0 + self.entries.len() as f64 / spread as f64).ln();
            entry.get(word).copied().unwrap_or_else(|| part(entry, word)) * rarity
        };
        query.iter().map(worth).sum()
    }
}

/// What the best word counts for of which the other is the beginning: `pet` and `pets`.
fn part(entry: &HashMap<String, f64>, word: &str) -> f64 {
    let (short, is_alike) = (3, |known: &str| known.starts_with(word) || word.starts_with(known));
    let alike = entry.iter().filter(|(known, _)| word.len() >= short && known.len() >= short && is_alike(known));
    alike.map(|(_, weight)| weight * PART).fold(0.0, f64::max)
}

fn weights(texts: Vec<(String, f64)>) -> HashMap<String, f64> {
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
