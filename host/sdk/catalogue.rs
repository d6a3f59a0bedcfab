//! The functions of one revision, by name.

use super::{function::Function, search::SearchIndex};
use crate::engine::{FunctionNames, functions::RESERVED_NAMES};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

/// Functions by the names that scripts call, with a search index.
#[derive(Default)]
pub struct Catalogue {
    /// Sorted by source.
    functions: Vec<Arc<Function>>,
    by_name: BTreeMap<String, Arc<Function>>,
    /// By the names in specifications and on MCP servers, unless a function has that name. They are not listed.
    by_original_name: BTreeMap<String, Arc<Function>>,
    index: OnceLock<SearchIndex>,
    check_names: OnceLock<FunctionNames>,
}

impl Catalogue {
    /// Registers each function as `source.function`, and as `function` alone if that name is unique and is neither a source nor reserved.
    pub fn new(functions: Vec<Arc<Function>>, sources: &BTreeSet<String>) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for function in &functions {
            *counts.entry(&function.name).or_default() += 1;
        }
        let mut by_name = BTreeMap::new();
        for function in &functions {
            by_name.insert(function.full_name(), Arc::clone(function));
            let is_free = !sources.contains(&function.name) && !RESERVED_NAMES.contains(&function.name.as_str());
            if counts.get(function.name.as_str()) == Some(&1) && is_free {
                by_name.insert(function.name.clone(), Arc::clone(function));
            }
        }
        let by_original_name = by_original_name(&functions, &by_name, sources);
        Self { by_name, by_original_name, functions, index: OnceLock::new(), check_names: OnceLock::new() }
    }

    pub fn functions(&self) -> &[Arc<Function>] {
        &self.functions
    }

    /// Returns all names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    /// Returns all names for the check of scripts.
    pub fn check_names(&self) -> &FunctionNames {
        let names = || FunctionNames::new(self.by_name.keys().map(String::as_str), self.by_original_name.keys().map(String::as_str));
        self.check_names.get_or_init(names)
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Function>> {
        self.by_name.get(name).or_else(|| self.by_original_name.get(name))
    }

    /// Returns the functions that match words, best match first.
    pub fn search(&self, query: &str) -> Vec<&Arc<Function>> {
        let index = self.index.get_or_init(|| SearchIndex::new(self.functions.iter().map(|function| function.search_entry())));
        index.search(query).into_iter().filter_map(|position| self.functions.get(position)).collect()
    }
}

/// Returns the functions as `source.original`, and as `original` alone. Names that two functions would have are left out, and so are names of
/// functions, sources and reserved names.
fn by_original_name(
    functions: &[Arc<Function>],
    by_name: &BTreeMap<String, Arc<Function>>,
    sources: &BTreeSet<String>,
) -> BTreeMap<String, Arc<Function>> {
    let mut found: BTreeMap<String, Option<Arc<Function>>> = BTreeMap::new();
    for function in functions {
        let original = function.original_name();
        if original.is_empty() || original == function.name {
            continue;
        }
        for name in [format!("{}.{original}", function.source), original.to_owned()] {
            let is_free = !by_name.contains_key(&name) && !sources.contains(&name) && !RESERVED_NAMES.contains(&name.as_str());
            if is_free {
                found.entry(name).and_modify(|entry| *entry = None).or_insert_with(|| Some(Arc::clone(function)));
            }
        }
    }
    found.into_iter().filter_map(|(name, function)| Some((name, function?))).collect()
}
