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

/// The size of the documentation of one function or type in bytes.
const MAX_DOCS: usize = 6 << 10;

/// The number of tags of an API that are listed.
const MAX_TAGS: usize = 50;

/// A tool that reads documentation.
pub struct DocsTool {
    name: &'static str,
    pub(super) define: fn() -> Tool,
    /// Decodes the arguments and calls the tool. The number is the size in bytes that a model reads at once, or 0.
    call: fn(&Sdk, Option<JsonObject>, usize) -> Result<ToolOutput, InvalidArgument>,
}

/// All documentation tools. A server whose scripts have functions offers them.
pub(super) const DOCS_TOOLS: [DocsTool; 4] = [LIST_APIS, LIST_FUNCTIONS, GET_FUNCTION_DOCS, SEARCH_DOCS];

impl DocsTool {
    /// Returns the tool with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        const { &DOCS_TOOLS }.iter().find(|tool| tool.name == name)
    }

    /// Calls the tool. `inline` is the size in bytes that a model reads at once; 0 is no limit.
    pub fn call(&self, sdk: &Sdk, arguments: Option<JsonObject>, inline: usize) -> CallToolResult {
        let inline = if inline == 0 { usize::MAX } else { inline };
        (self.call)(sdk, arguments, inline).map_or_else(InvalidArgument::into_result, ToolOutput::into_result)
    }
}

const LIST_APIS: DocsTool = DocsTool {
    name: "list_apis",
    define: || define_read_only::<NoArguments>(LIST_APIS.name, "List APIs", "Lists the APIs in sdk."),
    call: |sdk, arguments, _| {
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
        let tags: BTreeSet<String> = source.tags.iter().take(MAX_TAGS).cloned().collect();
        if !tags.is_empty() {
            let more = source.tags.len() - tags.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            line.push_str(&format!("; tags: {}{more}", tags.iter().map(String::as_str).collect::<Vec<_>>().join(", ")));
        }
        if source.is_starting {
            line.push_str("; still starting");
        }
        if let Some(down) = &source.down {
            line.push_str(&format!("; unavailable: {down}"));
        }
        lines.push(line);
        let (name, title, kind, down) = (source.name, source.title, source.kind, source.down);
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
    call: |sdk, arguments, inline| {
        let arguments: ListArguments = arguments::parse(arguments)?;
        let functions = sdk.functions(arguments.api.as_deref(), arguments.tag.as_deref());
        let functions = functions.map_err(|error| InvalidArgument(error.to_string()))?;
        Ok(list(&functions, inline))
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
    call: |sdk, arguments, inline| {
        let GetArguments { name } = arguments::parse(arguments)?;
        // Without a limit, the documentation is complete.
        let max_bytes = if inline == usize::MAX { inline } else { MAX_DOCS.min(inline) };
        let docs = sdk.docs_within(&name, max_bytes, inline).map_err(|error| InvalidArgument(format!("`name`: {error}")))?;
        Ok(ToolOutput::text(docs.clone(), &FunctionDocs { name, docs }))
    },
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetArguments {
    /// Name of a function, such as shop.list_pets, or of a type.
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
    call: |sdk, arguments, _| {
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

/// Returns the functions that fit into `inline` bytes as lines, and the number of the others.
fn list(functions: &[Arc<Function>], inline: usize) -> ToolOutput {
    let mut lines: Vec<String> = Vec::new();
    let mut entries: Vec<FunctionEntry> = Vec::new();
    let mut bytes: usize = 0;
    for function in functions.iter().take(MAX_FUNCTIONS) {
        let entry = FunctionEntry { name: function.full_name(), summary: function.summary.clone() };
        bytes += serde_json::to_string(&entry).map_or(inline, |json| json.len() + 1);
        if bytes > inline {
            break;
        }
        lines.push(format!("sdk.{}  {}", entry.name, entry.summary));
        entries.push(entry);
    }
    let more = functions.len() - entries.len();
    if functions.is_empty() {
        lines.push("(no matches)".into());
    }
    if more > 0 {
        lines.push(format!("({more} more; give an api or a tag, or use search_docs)"));
    }
    ToolOutput::text(lines.join("\n"), &FunctionList { functions: entries, truncated: more > 0 })
}
