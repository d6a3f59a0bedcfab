//! The functions of a sandbox: JavaScript functions, APIs and MCP servers.

use crate::{
    events::{EventKind, Events},
    sources::SourceProvider,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use toolscript::{
    engine::{Definitions, FunctionNames, ScriptWords},
    functions::{BoxFuture, FunctionCall, FunctionError, FunctionProvider, FunctionResponse, FunctionValue},
    sdk::Sdk,
};

/// The maximum number of results of a search, as in an SDK.
const MAX_RESULTS: usize = 20;

/// A JavaScript function, as scripts see it.
#[derive(Deserialize)]
pub struct ScriptFunction {
    name: String,
    #[serde(default)]
    description: String,
}

/// JavaScript functions by name, with their descriptions.
pub type FunctionTable = BTreeMap<String, String>;

/// Checks the names of all functions.
pub fn function_table(functions: Vec<ScriptFunction>) -> Result<FunctionTable, String> {
    let mut checked = toolscript::Functions::new();
    let mut table = FunctionTable::new();
    for ScriptFunction { name, description } in functions {
        checked = checked.with_function(&name, |(): ()| Ok::<_, String>(())).map_err(|error| error.to_string())?;
        table.insert(name, description);
    }
    Ok(table)
}

/// Returns the signature and the summary of each function.
pub fn summaries(table: &FunctionTable) -> Vec<(String, String)> {
    table.iter().map(|(name, description)| (signature(name), summary(description).to_owned())).collect()
}

/// Returns the signature of a JavaScript function, whose parameters are not known.
fn signature(name: &str) -> String {
    format!("sdk.{name}(...): any")
}

fn summary(description: &str) -> &str {
    description.lines().next().unwrap_or_default()
}

/// The functions of one run.
pub struct RunFunctions {
    pub table: Arc<FunctionTable>,
    /// The sources of the sandbox, with the credentials of the run.
    pub sources: Vec<SourceProvider>,
    pub events: Arc<Events>,
    pub operation: u32,
}

/// A call as JavaScript receives it. The buffers of the event are in the order of the attachments.
#[derive(Serialize)]
struct EncodedCall<'a> {
    call: u32,
    name: &'a str,
    arguments: Vec<&'a RawValue>,
    attachments: Vec<EncodedAttachment<'a>>,
}

#[derive(Serialize)]
struct EncodedAttachment<'a> {
    argument: usize,
    pointer: &'a str,
}

impl RunFunctions {
    /// Passes a call to JavaScript, and waits for the answer.
    async fn call_script(&self, call: FunctionCall) -> Result<FunctionResponse, FunctionError> {
        let waiting = self.events.replies.wait();
        let (mut arguments, mut attachments, mut buffers) = (Vec::new(), Vec::new(), Vec::new());
        for (argument, value) in call.arguments.iter().enumerate() {
            match value {
                FunctionValue::Bytes(bytes) => {
                    arguments.push(RawValue::NULL);
                    attachments.push(EncodedAttachment { argument, pointer: "" });
                    buffers.push(bytes.clone());
                }
                FunctionValue::Json(json) => {
                    arguments.push(&*json.text);
                    attachments
                        .extend(json.attachments.iter().map(|attachment| EncodedAttachment { argument, pointer: &attachment.pointer }));
                    buffers.extend(json.attachments.iter().map(|attachment| attachment.bytes.clone()));
                }
            }
        }
        let encoded = EncodedCall { call: waiting.number, name: &call.name, arguments, attachments };
        let text = serde_json::to_string(&encoded).map_err(|error| format!("{}: invalid arguments: {error}", call.name))?;
        self.events.send(EventKind::Call, self.operation, text, buffers);
        let mut waiting = waiting;
        (&mut waiting.reply).await.unwrap_or_else(|_| Err(format!("{}: the function did not return", call.name).into()))
    }

    /// Returns the names of each source that no JavaScript function hides. A name without a dot that several sources have is left out.
    fn source_names(&self) -> Vec<BTreeSet<String>> {
        let mut names: Vec<BTreeSet<String>> = self.sources.iter().map(|source| source.names().into_iter().collect()).collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for name in names.iter().flatten() {
            *counts.entry(name.clone()).or_default() += 1;
        }
        let tables: BTreeSet<String> = counts.keys().filter_map(|name| Some(name.split_once('.')?.0.to_owned())).collect();
        for source in &mut names {
            source.retain(|name| {
                let is_unique = name.contains('.') || (counts.get(name) == Some(&1) && !tables.contains(name));
                is_unique && !self.table.keys().any(|function| conflict(function, name))
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
    /// Returns the definitions of the sources, and the names of the JavaScript functions, whose parameters are not known.
    fn definitions(&self, words: &ScriptWords<'_>) -> Definitions {
        let names = FunctionNames::new(self.table.keys().map(String::as_str), []);
        let own = (!self.table.is_empty()).then(|| Definitions::of_names(names));
        let sources = self.sources.iter().map(|source| source.definitions(words));
        own.into_iter().chain(sources).reduce(Definitions::merge).unwrap_or_default()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.table.keys().cloned().collect();
        if !self.sources.is_empty() {
            names.extend(self.source_names().into_iter().flatten());
            names.sort();
            names.dedup();
        }
        names
    }

    fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        if self.table.contains_key(&call.name) {
            return Box::pin(self.call_script(call));
        }
        match self.source_of(&call.name).or_else(|| self.sources.first()) {
            Some(source) => source.call(call),
            None => Box::pin(std::future::ready(Err(format!("there is no function '{}'", call.name).into()))),
        }
    }

    fn search(&self, query: &str) -> String {
        let query: Vec<String> = words(query).collect();
        let score = |name: &str, description: &str| {
            let found = |text: &str, word: &str| usize::from(words(text).any(|known| known.starts_with(word)));
            query.iter().map(|word| 3 * found(name, word) + found(description, word)).sum::<usize>()
        };
        let mut scored: Vec<_> = self.table.iter().map(|(name, description)| (score(name, description), name, description)).collect();
        scored.retain(|(score, ..)| *score > 0);
        scored.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
        let own = scored.into_iter().map(|(_, name, description)| json!({ "name": name, "summary": summary(description) }));
        let text = query.join(" ");
        let others = self.sources.iter().flat_map(|source| serde_json::from_str::<Vec<Value>>(&source.search(&text)).unwrap_or_default());
        own.chain(others).take(MAX_RESULTS).collect::<Value>().to_string()
    }

    fn docs(&self, name: &str) -> Result<String, String> {
        let name = name.strip_prefix("sdk.").unwrap_or(name);
        match self.table.get(name) {
            Some(description) if description.is_empty() => return Err(format!("{name}: there is no documentation")),
            Some(description) => return Ok(format!("{}\n{description}", signature(name))),
            None => {}
        }
        if let Some(source) = self.source_of(name) {
            return source.docs(name);
        }
        // An SDK without functions has the documentation of the built-ins.
        let of_a_source = self.sources.iter().find_map(|source| source.docs(name).ok());
        of_a_source.map_or_else(|| Sdk::default().docs_for(name).map_err(|error| error.to_string()), Ok)
    }
}

/// Splits a text into words in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns `true` if two names are equal, or if one is the table that contains the other.
fn conflict(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
