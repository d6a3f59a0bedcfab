//! The tools that tell which functions scripts have, and how to call them.

use super::{Answer, count, looks};
use crate::{
    mcp::arguments::{Fields, Wrong},
    sdk::{Function, Sdk},
};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use std::sync::Arc;

/// Functions in one answer.
const MOST: usize = 200;

/// A tool that reads documentation.
pub struct DocsTool {
    name: &'static str,
    pub definition: fn() -> Tool,
    answer: fn(&Sdk, &mut Fields) -> Result<Answer, Wrong>,
}

/// All tools that there are when scripts have functions.
pub const DOCS_TOOLS: [DocsTool; 4] = [LIST_APIS, LIST_FUNCTIONS, GET_FUNCTION_DOCS, SEARCH_DOCS];

impl DocsTool {
    /// The tool of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        const { &DOCS_TOOLS }.iter().find(|tool| tool.name == name)
    }

    /// What it answers.
    pub fn answer(&self, sdk: &Sdk, arguments: Option<JsonObject>) -> Result<Answer, Wrong> {
        let mut fields = Fields::new(arguments);
        let answer = (self.answer)(sdk, &mut fields);
        // A name that is not known is told before what it should have been.
        if answer.is_ok() {
            fields.finish()?;
        }
        answer
    }
}

const LIST_APIS: DocsTool = DocsTool {
    name: "list_apis",
    definition: || {
        let output = json!({
            "properties": {
                "apis": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": { "type": "string", "description": "Scripts call its functions as sdk.NAME.function" },
                            "title": { "type": "string" },
                            "kind": { "enum": ["openapi", "mcp"] },
                            "functions": { "type": "integer" },
                            "tags": { "type": "array", "items": { "type": "string" } },
                            "down": { "type": "string", "description": "Why it can't be used now" },
                        },
                        "required": ["name", "title", "kind", "functions", "tags"],
                    },
                },
            },
            "required": ["apis"],
        });
        looks(LIST_APIS.name, "List APIs", "Lists the APIs that scripts can call through sdk.", json!({ "properties": {} }), output)
    },
    answer: |sdk, _| {
        let mut lines = Vec::new();
        let mut apis = Vec::new();
        for source in sdk.sources() {
            let mut entry = json!({
                "name": source.name,
                "title": source.title,
                "kind": source.kind,
                "functions": source.functions.len(),
                "tags": source.tags,
            });
            let mut line =
                format!("sdk.{}: {} ({})", source.name, source.title, count(source.functions.len() as u64, "function", "functions"));
            if !source.tags.is_empty() {
                line.push_str(&format!("; tags: {}", source.tags.into_iter().collect::<Vec<_>>().join(", ")));
            }
            if let Some(down) = source.down {
                line.push_str(&format!("; down: {down}"));
                entry["down"] = json!(down);
            }
            lines.push(line);
            apis.push(entry);
        }
        Ok(Answer::new(lines.join("\n"), json!({ "apis": apis })))
    },
};

const LIST_FUNCTIONS: DocsTool = DocsTool {
    name: "list_functions",
    definition: || {
        let description = "Lists the functions that scripts can call through sdk, of all APIs or one, with all tags or one. At most 200.";
        let input = json!({
            "properties": {
                "api": { "type": "string", "description": "An API's name, as list_apis has it" },
                "tag": { "type": "string", "description": "A tag, as list_apis has it" },
            },
        });
        looks(LIST_FUNCTIONS.name, "List functions", description, input, functions_schema())
    },
    answer: |sdk, fields| {
        let (api, tag) = (fields.optional_text("api")?, fields.optional_text("tag")?);
        let functions = sdk.functions(api.as_deref(), tag.as_deref()).map_err(|error| Wrong(error.to_string()))?;
        Ok(list(&functions, "(there are more; name an api or a tag, or use search_docs)"))
    },
};

const GET_FUNCTION_DOCS: DocsTool = DocsTool {
    name: "get_function_docs",
    definition: || {
        let description = "Tells how a script calls a function: its signature in Luau, what it does, its parameters and types.";
        let input = json!({
            "properties": { "name": { "type": "string", "description": "A function's name, such as shop.list_pets" } },
            "required": ["name"],
        });
        let output = json!({
            "properties": { "name": { "type": "string" }, "docs": { "type": "string" } },
            "required": ["name", "docs"],
        });
        looks(GET_FUNCTION_DOCS.name, "Get the documentation of a function", description, input, output)
    },
    answer: |sdk, fields| {
        let name = fields.text("name")?;
        let docs = sdk.docs(&name).map_err(|error| Wrong(format!("`name`: {error}")))?;
        Ok(Answer::new(docs.clone(), json!({ "name": name, "docs": docs })))
    },
};

const SEARCH_DOCS: DocsTool = DocsTool {
    name: "search_docs",
    definition: || {
        let description = "Finds functions that scripts can call through sdk by what they do, best first. At most 20.";
        let input = json!({
            "properties": { "query": { "type": "string", "description": "A few words" } },
            "required": ["query"],
        });
        looks(SEARCH_DOCS.name, "Search functions", description, input, functions_schema())
    },
    answer: |sdk, fields| {
        let query = fields.text("query")?;
        Ok(list(&sdk.search(&query), ""))
    },
};

fn functions_schema() -> Value {
    json!({
        "properties": {
            "functions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "name": { "type": "string" }, "summary": { "type": "string" } },
                    "required": ["name", "summary"],
                },
            },
            "truncated": { "type": "boolean", "description": "There are more" },
        },
        "required": ["functions", "truncated"],
    })
}

fn list(functions: &[Arc<Function>], hint: &str) -> Answer {
    let truncated = functions.len() > MOST;
    let shown = &functions[..functions.len().min(MOST)];
    let mut lines: Vec<String> = shown.iter().map(|function| format!("sdk.{}  {}", function.full_name(), function.summary)).collect();
    if lines.is_empty() {
        lines.push("(nothing fits)".into());
    }
    if truncated {
        lines.push(hint.into());
    }
    let entries: Vec<Value> = shown.iter().map(|function| json!({ "name": function.full_name(), "summary": function.summary })).collect();
    Answer::new(lines.join("\n"), json!({ "functions": entries, "truncated": truncated }))
}
