//! All functions that there are at a time, by their names.

use super::{function::Function, names::RESERVED, search::Index};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

/// Functions by the names that scripts call them by, and what they are about.
#[derive(Default)]
pub struct Catalogue {
    /// In the order of their sources.
    functions: Vec<Arc<Function>>,
    by_name: BTreeMap<String, Arc<Function>>,
    index: OnceLock<Index>,
}

impl Catalogue {
    /// Each function as `source.function`, and by its own name alone where no other source has it, nor is called so.
    pub fn new(functions: Vec<Arc<Function>>, sources: &BTreeSet<String>) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for function in &functions {
            *counts.entry(&function.name).or_default() += 1;
        }
        let mut by_name = BTreeMap::new();
        for function in &functions {
            by_name.insert(function.full_name(), Arc::clone(function));
            let is_free = !sources.contains(&function.name) && !RESERVED.contains(&function.name.as_str());
            if counts.get(function.name.as_str()) == Some(&1) && is_free {
                by_name.insert(function.name.clone(), Arc::clone(function));
            }
        }
        Self { by_name, functions, index: OnceLock::new() }
    }

    pub fn functions(&self) -> &[Arc<Function>] {
        &self.functions
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Function>> {
        self.by_name.get(name)
    }

    /// What words are about, best first.
    pub fn find(&self, query: &str) -> Vec<&Arc<Function>> {
        let index = self.index.get_or_init(|| Index::new(&self.functions));
        index.find(query).into_iter().filter_map(|at| self.functions.get(at)).collect()
    }
}
