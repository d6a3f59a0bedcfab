//! The functions of a sandbox: Python functions, APIs and MCP servers.

use crate::{python_function::PythonFunction, run_state::RunState, sources::SourceProvider};
use pyo3::{PyTraverseError, PyVisit, prelude::*};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use toolscript::{
    engine::{Definitions, FunctionNames, ScriptWords},
    functions::{BoxFuture, FunctionCall, FunctionError, FunctionProvider, FunctionResponse},
    sdk::Sdk,
};

/// The maximum number of results of a search, as in an SDK.
const MAX_RESULTS: usize = 20;

/// Python functions by name, and the sources of other functions.
#[derive(Clone, Default)]
pub struct FunctionTable {
    functions: BTreeMap<String, Arc<PythonFunction>>,
    sources: Vec<Arc<Sdk>>,
}

impl FunctionTable {
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.sources.is_empty()
    }

    /// Adds a function. Another one of the same name is replaced. Returns a message if the name is invalid.
    pub fn insert(&mut self, function: PythonFunction) -> Result<(), String> {
        let name = function.name.clone();
        // The library checks the syntax and the reserved names.
        let checked = toolscript::Functions::new().with_function(&name, |(): ()| Ok::<_, String>(()));
        checked.map_err(|error| error.to_string())?;
        let others = self.functions.keys().filter(|other| **other != name);
        if let Some(other) = others.into_iter().find(|other| conflict(other, &name)) {
            return Err(format!("invalid function name '{name}': it conflicts with '{other}'"));
        }
        self.functions.insert(name, Arc::new(function));
        Ok(())
    }

    pub fn add_source(&mut self, source: Arc<Sdk>) {
        self.sources.push(source);
    }

    pub fn sources(&self) -> &[Arc<Sdk>] {
        &self.sources
    }

    /// Returns the signature and the summary of each Python function.
    pub fn summaries(&self) -> Vec<(String, String)> {
        let summarize = |function: &Arc<PythonFunction>| {
            let signature = function.docs.lines().next().unwrap_or_default();
            (signature.to_owned(), function.summary.clone())
        };
        self.functions.values().map(summarize).collect()
    }

    /// Visits all Python objects, for the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.values().try_for_each(|function| visit.call(&function.callable))
    }
}

/// The functions of one run.
pub struct RunFunctions {
    pub table: Arc<FunctionTable>,
    /// The sources of the table, with the credentials of the run.
    pub sources: Vec<SourceProvider>,
    pub state: Arc<RunState>,
    /// The event loop that executes the functions, or `None` if they are executed on the thread that polls the run.
    pub caller: Option<Arc<Py<PyAny>>>,
}

impl RunFunctions {
    /// Returns the names of each source that no Python function hides. A name without a dot that several sources have is omitted.
    fn source_names(&self) -> Vec<BTreeSet<String>> {
        let mut names: Vec<BTreeSet<String>> = self.sources.iter().map(|source| source.names().into_iter().collect()).collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for name in names.iter().flatten() {
            *counts.entry(name.clone()).or_default() += 1;
        }
        let tables: BTreeSet<&str> = counts.keys().filter_map(|name| Some(name.split_once('.')?.0)).collect();
        let tables: BTreeSet<String> = tables.into_iter().map(str::to_owned).collect();
        for source in &mut names {
            source.retain(|name| {
                let is_unique = name.contains('.') || (counts.get(name) == Some(&1) && !tables.contains(name));
                is_unique && !self.table.functions.keys().any(|function| conflict(function, name))
            });
        }
        names
    }

    /// Returns the source that has a function.
    fn source_of(&self, name: &str) -> Option<&SourceProvider> {
        let position = self.source_names().iter().position(|names| names.contains(name));
        // A function of a server that is still starting is not listed yet.
        let table = name.split_once('.').map(|(table, _)| table);
        position.and_then(|position| self.sources.get(position)).or_else(|| self.sources.iter().find(|source| Some(source.name()) == table))
    }
}

impl FunctionProvider for RunFunctions {
    /// Returns the definitions of the sources, and the names of the Python functions, whose parameters are not checked.
    fn definitions(&self, words: &ScriptWords<'_>) -> Definitions {
        let names = FunctionNames::new(self.table.functions.keys().map(String::as_str), []);
        let own = (!self.table.functions.is_empty()).then(|| Definitions::of_names(names));
        let sources = self.sources.iter().map(|source| source.definitions(words));
        own.into_iter().chain(sources).reduce(Definitions::merge).unwrap_or_default()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.table.functions.keys().cloned().collect();
        if !self.sources.is_empty() {
            names.extend(self.source_names().into_iter().flatten());
            names.sort();
            names.dedup();
        }
        names
    }

    fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        if let Some(function) = self.table.functions.get(&call.name) {
            return Box::pin(Arc::clone(function).call(call, Arc::clone(&self.state), self.caller.clone()));
        }
        match self.source_of(&call.name).or_else(|| self.sources.first()) {
            Some(source) => source.call(call),
            None => Box::pin(std::future::ready(Err(format!("there is no function '{}'", call.name).into()))),
        }
    }

    fn search(&self, query: &str) -> String {
        let words: Vec<String> = words(query).collect();
        let mut scored: Vec<(usize, &PythonFunction)> =
            self.table.functions.values().map(|function| (function.score(&words), &**function)).collect();
        scored.retain(|(score, _)| *score > 0);
        scored.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.name.cmp(&b.name)));
        let own = scored.into_iter().map(|(_, function)| json!({ "name": function.name, "summary": function.summary }));
        let others = self.sources.iter().flat_map(|source| serde_json::from_str::<Vec<Value>>(&source.search(query)).unwrap_or_default());
        own.chain(others).take(MAX_RESULTS).collect::<Value>().to_string()
    }

    fn docs(&self, name: &str) -> Result<String, String> {
        let name = name.strip_prefix("sdk.").unwrap_or(name);
        if let Some(function) = self.table.functions.get(name) {
            return Ok(function.docs.clone());
        }
        match self.source_of(name) {
            Some(source) => source.docs(name),
            // An SDK without functions has the documentation of the built-ins.
            None => self
                .sources
                .iter()
                .find_map(|source| source.docs(name).ok())
                .map_or_else(|| Sdk::default().docs_for(name).map_err(|error| error.to_string()), Ok),
        }
    }
}

/// Splits a text into words in lower case.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns `true` if two names are equal, or if one is the table that contains the other.
fn conflict(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
