//! The tools that document the functions of scripts: `list_apis`, `list_functions`, `get_function_docs` and `search_docs`.

use super::{ToolOutput, count, define_read_only};
use crate::{
    mcp::arguments::{self, InvalidArgument},
    sdk::{BuiltIn, Function, Sdk, SourceKind, find_built_in, search_built_ins},
};
use rmcp::model::{CallToolResult, JsonObject, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, sync::Arc};

/// The maximum number of functions in one result.
const MAX_FUNCTIONS: usize = 200;

/// The number of functions that a search shows.
const MAX_MATCHES: usize = 5;

/// A tool that reads documentation.
pub struct DocsTool {
    name: &'static str,
    pub(super) define: fn() -> Tool,
    call: fn(&Sdk, Option<JsonObject>) -> Result<ToolOutput, InvalidArgument>,
}

/// All documentation tools. A server whose scripts have functions offers them.
pub(super) const DOCS_TOOLS: [DocsTool; 4] = [LIST_APIS, LIST_FUNCTIONS, GET_FUNCTION_DOCS, SEARCH_DOCS];

impl DocsTool {
    /// Returns the tool with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        const { &DOCS_TOOLS }.iter().find(|tool| tool.name == name)
    }

    pub fn call(&self, sdk: &Sdk, arguments: Option<JsonObject>) -> CallToolResult {
        (self.call)(sdk, arguments).map_or_else(InvalidArgument::into_result, ToolOutput::into_result)
    }
}

const LIST_APIS: DocsTool = DocsTool {
    name: "list_apis",
    define: || define_read_only::<NoArguments>(LIST_APIS.name, "List APIs", "Lists the APIs in sdk."),
    call: |sdk, arguments| {
        let NoArguments {} = arguments::parse(arguments)?;
        Ok(list_apis(sdk))
    },
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[derive(Serialize)]
struct ApiList {
    apis: Vec<ApiEntry>,
}

#[derive(Serialize)]
struct ApiEntry {
    /// Scripts call its functions as sdk.NAME.function.
    name: String,
    title: String,
    kind: SourceKind,
    functions: usize,
    tags: BTreeSet<String>,
    /// Why it is unavailable now.
    #[serde(skip_serializing_if = "Option::is_none")]
    down: Option<String>,
}

fn list_apis(sdk: &Sdk) -> ToolOutput {
    let mut lines = Vec::new();
    let mut apis = Vec::new();
    for source in sdk.sources() {
        let functions = source.functions.len();
        let mut line = format!("sdk.{}: {} ({})", source.name, source.title, count(functions as u64, "function", "functions"));
        if !source.tags.is_empty() {
            line.push_str(&format!("; tags: {}", source.tags.iter().map(String::as_str).collect::<Vec<_>>().join(", ")));
        }
        if let Some(down) = &source.down {
            line.push_str(&format!("; unavailable: {down}"));
        }
        lines.push(line);
        let (name, title, kind, tags, down) = (source.name, source.title, source.kind, source.tags, source.down);
        apis.push(ApiEntry { name, title, kind, functions, tags, down });
    }
    ToolOutput::text(lines.join("\n"), &ApiList { apis })
}

const LIST_FUNCTIONS: DocsTool = DocsTool {
    name: "list_functions",
    define: || {
        define_read_only::<ListArguments>(
            LIST_FUNCTIONS.name,
            "List functions",
            "Lists functions of sdk, optionally of one API or with one tag.",
        )
    },
    call: |sdk, arguments| {
        let arguments: ListArguments = arguments::parse(arguments)?;
        let functions = sdk.functions(arguments.api.as_deref(), arguments.tag.as_deref());
        let functions = functions.map_err(|error| InvalidArgument(error.to_string()))?;
        Ok(list(&functions, "(there are more; give an api or a tag, or use search_docs)"))
    },
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    /// Name of an API, from list_apis.
    api: Option<String>,
    /// A tag, from list_apis.
    tag: Option<String>,
}

const GET_FUNCTION_DOCS: DocsTool = DocsTool {
    name: "get_function_docs",
    define: || {
        define_read_only::<GetArguments>(
            GET_FUNCTION_DOCS.name,
            "Get the documentation of a function",
            "Returns how a script calls a function, or a built-in such as io.open: signature, parameters, types.",
        )
    },
    call: |sdk, arguments| {
        let GetArguments { name } = arguments::parse(arguments)?;
        let docs = sdk.docs_for(&name).map_err(|error| InvalidArgument(format!("`name`: {error}")))?;
        Ok(ToolOutput::text(docs.clone(), &FunctionDocs { name, docs }))
    },
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetArguments {
    /// Name of a function, such as shop.list_pets.
    name: String,
}

#[derive(Serialize)]
struct FunctionDocs {
    name: String,
    docs: String,
}

const SEARCH_DOCS: DocsTool = DocsTool {
    name: "search_docs",
    define: || define_read_only::<SearchArguments>(SEARCH_DOCS.name, "Search functions", "Finds functions of sdk by what they do."),
    call: |sdk, arguments| {
        let SearchArguments { query } = arguments::parse(arguments)?;
        Ok(search(sdk, &query))
    },
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    /// A few words.
    query: String,
}

#[derive(Serialize)]
struct FunctionList {
    functions: Vec<FunctionEntry>,
    /// There are more functions.
    truncated: bool,
}

#[derive(Serialize)]
struct FunctionEntry {
    name: String,
    summary: String,
}

/// Returns the best matches. Built-ins follow the functions, unless the query is the name of one.
fn search(sdk: &Sdk, query: &str) -> ToolOutput {
    let functions = sdk.search_functions(query).into_iter().map(|function| {
        let name = function.full_name();
        (format!("sdk.{name}"), FunctionEntry { name, summary: function.summary.clone() })
    });
    let built_in = |found: &BuiltIn| (found.name.clone(), FunctionEntry { name: found.name.clone(), summary: found.summary.clone() });
    let named = find_built_in(query);
    let others = search_built_ins(query).into_iter().filter(|found| named.is_none_or(|named| named.name != found.name));
    let mut found: Vec<(String, FunctionEntry)> = named.into_iter().map(built_in).chain(functions).chain(others.map(built_in)).collect();
    let more = found.len().saturating_sub(MAX_MATCHES);
    found.truncate(MAX_MATCHES);
    let mut lines: Vec<String> = found.iter().map(|(name, entry)| format!("{name}  {}", entry.summary)).collect();
    if lines.is_empty() {
        lines.push("(no matches)".into());
    }
    if more > 0 {
        lines.push(format!("({more} more; use other words)"));
    }
    let functions = found.into_iter().map(|(_, entry)| entry).collect();
    ToolOutput::text(lines.join("\n"), &FunctionList { functions, truncated: more > 0 })
}

/// Returns the functions as lines, and `hint` if there are more than fit.
fn list(functions: &[Arc<Function>], hint: &str) -> ToolOutput {
    let truncated = functions.len() > MAX_FUNCTIONS;
    let shown = &functions[..functions.len().min(MAX_FUNCTIONS)];
    let entry = |function: &Arc<Function>| FunctionEntry { name: function.full_name(), summary: function.summary.clone() };
    let functions: Vec<FunctionEntry> = shown.iter().map(entry).collect();
    let mut lines: Vec<String> = functions.iter().map(|function| format!("sdk.{}  {}", function.name, function.summary)).collect();
    if lines.is_empty() {
        lines.push("(no matches)".into());
    }
    if truncated {
        lines.push(hint.into());
    }
    ToolOutput::text(lines.join("\n"), &FunctionList { functions, truncated })
}
