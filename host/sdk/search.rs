//! Full-text search over the documentation of functions and built-ins, ranked with BM25F: BM25 with a weight for each field.

use super::{
    names::snake_case,
    search_terms::{Action, Terms, words},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number of functions that a search returns.
const MAX_RESULTS: usize = 20;

/// The size of a query in bytes, and the number of its words. The rest is ignored.
const MAX_QUERY_BYTES: usize = 256;
const MAX_QUERY_WORDS: usize = 16;

/// The number of words of one field that are indexed. It bounds the index, because a specification may have descriptions of any length.
const MAX_FIELD_WORDS: usize = 300;

/// The factor for a term that is only a prefix of the term in the query, or the other way round.
const PREFIX_FACTOR: f64 = 0.4;

/// The length in bytes from which terms match by prefix.
const MIN_PREFIX: usize = 3;

/// The saturation of a term that occurs often in one function.
const K1: f64 = 1.2;

/// The factor for the usual actions if a query has no verb, and the weight from which a function has an action.
const USUAL_FACTOR: f64 = 1.1;
const MIN_ACTION: f64 = 2.0;

/// Words of questions that are in the descriptions of many functions.
const STOP_WORDS: [&str; 38] = [
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how", "i", "in", "into", "is",
    "it", "its", "me", "my", "of", "on", "or", "some", "that", "the", "this", "to", "use", "want", "what", "which", "with", "you",
];

/// A part of a function that is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The name of the function within its source.
    Name,
    /// The last part of the path that is not a placeholder: the resource that the operation is about.
    Resource,
    /// The other parts of the path.
    Path,
    /// The name of the API or MCP server, and the tags.
    Group,
    Summary,
    Description,
    Parameters,
}

impl Field {
    const ALL: [Self; 7] = [Self::Name, Self::Resource, Self::Path, Self::Group, Self::Summary, Self::Description, Self::Parameters];

    /// Returns the weight of a term in this field, and how much a long field reduces it.
    const fn weight(self) -> (f64, f64) {
        match self {
            Self::Name => (4.0, 0.6),
            Self::Resource => (5.0, 0.5),
            Self::Path => (1.0, 0.5),
            Self::Group => (1.0, 0.5),
            Self::Summary => (4.0, 0.6),
            Self::Description => (1.0, 0.7),
            Self::Parameters => (0.5, 0.7),
        }
    }
}

/// A function or built-in, as the index reads it.
pub struct SearchEntry {
    /// The full name, such as `shop.list_pets`.
    pub name: String,
    pub fields: Vec<(Field, String)>,
    /// The actions of the function, each with a weight.
    pub actions: Vec<(Action, f64)>,
    /// The HTTP method. As a word of the name, it says less than the actions.
    pub method: Option<String>,
}

/// The terms of all functions.
pub struct SearchIndex {
    names: Vec<String>,
    /// The terms in the name of each function that are not verbs, and those of its resource.
    subjects: Vec<(Vec<String>, Vec<String>)>,
    /// The functions with a term, and the weight of the term there.
    postings: BTreeMap<String, Vec<(usize, f64)>>,
    terms: Terms,
}

/// A word of a query.
struct QueryWord {
    term: String,
    action: Option<Action>,
}

impl SearchIndex {
    /// Indexes functions or built-ins.
    pub fn new(entries: impl IntoIterator<Item = SearchEntry>) -> Self {
        let terms = Terms::default();
        let mut index = Self { names: Vec::new(), subjects: Vec::new(), postings: BTreeMap::new(), terms };
        let mut all_fields: Vec<Vec<(Field, Vec<String>)>> = Vec::new();
        let mut all_actions = Vec::new();
        for entry in entries {
            let read = |(field, text): &(Field, String)| (*field, index.field_terms(*field, text, entry.method.as_deref()));
            let fields: Vec<(Field, Vec<String>)> = entry.fields.iter().map(read).collect();
            index.subjects.push((index.nouns(&entry, Field::Name), index.nouns(&entry, Field::Resource)));
            index.names.push(entry.name);
            all_fields.push(fields);
            all_actions.push(entry.actions);
        }
        let average = average_lengths(&all_fields);
        for (position, (fields, actions)) in all_fields.into_iter().zip(all_actions).enumerate() {
            let mut weights: HashMap<String, f64> = HashMap::new();
            for (field, terms) in fields {
                let (weight, reduction) = field.weight();
                let length = terms.len() as f64 / average.get(field as usize).copied().unwrap_or(1.0).max(1.0);
                let weight = weight / (1.0 - reduction + reduction * length);
                terms.into_iter().for_each(|term| *weights.entry(term).or_default() += weight);
            }
            for (action, weight) in actions {
                *weights.entry(action.term().into()).or_default() += weight;
            }
            for (term, weight) in weights {
                index.postings.entry(term).or_default().push((position, weight));
            }
        }
        index
    }

    /// Returns the distinct terms of a field, without verbs and stop words.
    fn nouns(&self, entry: &SearchEntry, field: Field) -> Vec<String> {
        let texts = entry.fields.iter().filter(|(known, _)| *known == field).map(|(_, text)| text);
        let words = texts.flat_map(|text| words(text)).filter(|word| Action::of(word).is_none() && !STOP_WORDS.contains(&word.as_str()));
        let terms: BTreeSet<String> = words.map(|word| self.terms.of(&word)).collect();
        terms.into_iter().collect()
    }

    /// Returns the terms of a field. A verb has the term of its action, too.
    fn field_terms(&self, field: Field, text: &str, method: Option<&str>) -> Vec<String> {
        let mut found = Vec::new();
        for (number, word) in words(text).take(MAX_FIELD_WORDS).enumerate() {
            let action = match field {
                Field::Name if method.is_none_or(|method| method != word) => Action::of(&word),
                Field::Summary if number == 0 => Action::of_verb(&word),
                _ => None,
            };
            found.extend(action.map(|action| action.term().to_owned()));
            found.push(self.terms.of(&word));
        }
        found
    }

    /// Returns the positions of the entries that match: first those whose name is the query, then the best match first.
    pub fn search(&self, query: &str) -> Vec<usize> {
        let query = &query[..query.floor_char_boundary(MAX_QUERY_BYTES)];
        let wanted = snake_case(query.strip_prefix("sdk.").unwrap_or(query));
        let query = self.query_words(query);
        let mut scores: Vec<(f64, usize)> = self.names.iter().map(|_| (0.0, 0)).collect();
        for word in &query {
            for (position, score) in self.word_scores(word) {
                if let Some((sum, matched)) = scores.get_mut(position) {
                    *sum += score;
                    *matched += 1;
                }
            }
        }
        if query.iter().all(|word| word.action.is_none()) {
            self.prefer_usual_actions(&mut scores);
        }
        let mut found: Vec<(f64, usize)> = Vec::new();
        for (position, (sum, matched)) in scores.into_iter().enumerate() {
            if self.names.get(position).is_some_and(|name| is_named(name, &wanted)) {
                found.push((f64::INFINITY, position));
            } else if sum > 0.0 {
                let coverage = matched as f64 / query.len() as f64;
                found.push((sum * (0.4 + 0.6 * coverage) * self.precision(position, &query), position));
            }
        }
        let size = |position: usize| (self.subjects.get(position).map_or(0, |(name, _)| name.len()), self.names.get(position));
        found.sort_by(|(left, first), (right, second)| right.total_cmp(left).then_with(|| size(*first).cmp(&size(*second))));
        found.truncate(MAX_RESULTS);
        found.into_iter().map(|(_, position)| position).collect()
    }

    /// Raises the scores of functions that list or create: they are meant more often than those that change or delete.
    fn prefer_usual_actions(&self, scores: &mut [(f64, usize)]) {
        for action in [Action::List, Action::Create] {
            for (position, _) in self.postings.get(action.term()).into_iter().flatten().filter(|(_, weight)| *weight >= MIN_ACTION) {
                if let Some((sum, _)) = scores.get_mut(*position) {
                    *sum *= USUAL_FACTOR;
                }
            }
        }
    }

    /// Returns the words of a query. Stop words are used only if there are no others.
    fn query_words(&self, query: &str) -> Vec<QueryWord> {
        let all: Vec<String> = words(query).take(MAX_QUERY_WORDS).collect();
        let is_all = |word: &String| matches!(word.as_str(), "all" | "every");
        // "get all orders" asks for a list.
        let asks_for_list = all.iter().any(is_all);
        let mut found: Vec<QueryWord> = Vec::new();
        let mut stop_words = Vec::new();
        for (number, word) in all.iter().enumerate() {
            let action = if number == 0 { Action::of_verb(word) } else { Action::of(word) };
            let action = if asks_for_list && action == Some(Action::Get) { Some(Action::List) } else { action };
            let entry = QueryWord { term: self.terms.of(word), action };
            let is_repeated = |known: &QueryWord| known.term == entry.term || (known.action.is_some() && known.action == action);
            if STOP_WORDS.contains(&word.as_str()) && action.is_none() {
                stop_words.push(entry);
            } else if !found.iter().any(is_repeated) {
                found.push(entry);
            }
        }
        if found.is_empty() { stop_words } else { found }
    }

    /// Returns the score of each function for a word: the best of its term, its action and terms with a common prefix.
    fn word_scores(&self, word: &QueryWord) -> HashMap<usize, f64> {
        let mut best: HashMap<usize, f64> = HashMap::new();
        let mut add = |term: &str, factor: f64| {
            let Some(postings) = self.postings.get(term) else { return };
            let (count, total) = (postings.len() as f64, self.names.len() as f64);
            let rarity = (1.0 + (total - count + 0.5) / (count + 0.5)).ln();
            for (position, weight) in postings {
                let score = factor * rarity * weight * (K1 + 1.0) / (weight + K1);
                let known = best.entry(*position).or_default();
                *known = known.max(score);
            }
        };
        add(&word.term, 1.0);
        if let Some(action) = word.action {
            add(action.term(), 1.0);
        }
        if word.term.len() >= MIN_PREFIX {
            let longer = self.postings.range(word.term.clone()..).map(|(term, _)| term).take_while(|term| term.starts_with(&word.term));
            longer.skip_while(|term| **term == word.term).for_each(|term| add(term, PREFIX_FACTOR));
            let shorter = (MIN_PREFIX..word.term.len()).filter_map(|end| word.term.get(..end));
            shorter.for_each(|term| add(term, PREFIX_FACTOR));
        }
        best
    }

    /// Returns a factor of at most 1 for the parts of the name and the resource of a function that the query mentions. A function of a
    /// sub-resource has a longer name, and another resource.
    fn precision(&self, position: usize, query: &[QueryWord]) -> f64 {
        let Some((name, resource)) = self.subjects.get(position) else { return 1.0 };
        let mentioned = |terms: &[String]| {
            let is_mentioned = |term: &&String| query.iter().any(|word| shares_prefix(&word.term, term));
            if terms.is_empty() { 1.0 } else { terms.iter().filter(is_mentioned).count() as f64 / terms.len() as f64 }
        };
        let name = mentioned(name);
        let resource = if resource.is_empty() { name } else { mentioned(resource) };
        0.3 + 0.4 * resource + 0.3 * name
    }
}

/// Returns the average number of terms of each field.
fn average_lengths(entries: &[Vec<(Field, Vec<String>)>]) -> [f64; Field::ALL.len()] {
    let mut sums = [0.0; Field::ALL.len()];
    for (field, terms) in entries.iter().flatten() {
        if let Some(sum) = sums.get_mut(*field as usize) {
            *sum += terms.len() as f64;
        }
    }
    sums.map(|sum| sum / entries.len().max(1) as f64)
}

/// Returns `true` if terms are equal, or if one is a prefix of the other.
fn shares_prefix(first: &str, second: &str) -> bool {
    first == second || (first.len().min(second.len()) >= MIN_PREFIX && (first.starts_with(second) || second.starts_with(first)))
}

/// Returns `true` if a name such as `shop.list_pets`, or its last part, is the wanted name in snake case.
fn is_named(name: &str, wanted: &str) -> bool {
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    last == wanted || snake_case(name) == wanted
}
