//! Luau type definitions for a language server.

#[cfg(feature = "mcp")]
use super::{docs, error::LookupError, function::Target};
use super::{
    docs::{Signature, type_prefix},
    function::Function,
    luau_types::Definition,
    names::DistinctNames,
    provider::Sdk,
};
use std::fmt::Write as _;

/// The globals of scripts other than `sdk`.
const GLOBALS: &str = include_str!("../../guest/lib/globals.d.luau");

/// The members of `sdk` that are not functions of a source.
pub const BUILT_IN_MEMBERS: &str = r#"    all: (calls: { { any } }, options: { errors: "raise" | "return" }?) -> { any },
    docs: (name: string) -> string,
    response: (call: (...any) -> any, ...any) -> FunctionResponse,
    search: (query: string) -> { { name: string, summary: string } },
"#;

/// Returns Luau type definitions of the globals of scripts without functions.
#[cfg(feature = "cli")]
pub fn built_in_definitions() -> &'static str {
    GLOBALS
}

impl Sdk {
    /// Returns the signatures and summaries of the functions of an API or MCP server.
    #[cfg(feature = "mcp")]
    pub(crate) fn signatures(&self, source: &str) -> Result<String, LookupError> {
        let functions = self.functions(Some(source), None)?;
        let lines = functions.iter().map(|function| format!("{}\n  {}\n", docs::signature(function), function.summary));
        Ok(docs::truncate(lines.collect(), docs::MAX_DOCS, "(truncated; use search_docs to find functions)"))
    }

    /// Returns the types that the functions of an API or MCP server use.
    #[cfg(feature = "mcp")]
    pub(crate) fn type_definitions(&self, source: &str) -> Result<String, LookupError> {
        let functions = self.functions(Some(source), None)?;
        let mut text = String::new();
        for api in self.apis.iter().filter(|api| api.name == source) {
            let mut types = api.types();
            api.operations.values().for_each(|operation| drop(api.signature(operation, &mut types)));
            text.extend(texts(types.definitions(docs::MAX_DOCS, true)));
        }
        for function in &functions {
            if let (Target::Tool(_, tool), true) = (&function.target, text.len() <= docs::MAX_DOCS) {
                text.extend(texts(tool.signature(&type_prefix(function), docs::MAX_DOCS, true).1));
            }
        }
        Ok(docs::truncate(text, docs::MAX_DOCS, "(truncated; get_function_docs returns the types of one function)"))
    }

    /// Returns Luau type definitions of all functions and of the other globals of scripts, for a language server.
    #[must_use]
    pub fn definitions(&self) -> String {
        let mut text = String::from(GLOBALS);
        let mut members = String::from(BUILT_IN_MEMBERS);
        let mut short_names = String::new();
        let catalogue = self.catalogue();
        let mut names = DistinctNames::of_types();
        let mut write = |source: &str, functions: Vec<(&str, Signature)>| {
            let _ = writeln!(members, "    {source}: {{");
            for (name, Signature { arguments, results }) in functions {
                let _ = writeln!(members, "        {name}: ({arguments}) -> {results},");
                if catalogue.get(name).is_some() {
                    let _ = writeln!(short_names, "    {name}: ({arguments}) -> {results},");
                }
            }
            members.push_str("    },\n");
        };
        for api in &self.apis {
            let mut types = api.types().with_names(names);
            let functions = api.operations.values().map(|operation| (operation.name.as_str(), api.signature(operation, &mut types)));
            write(&api.name, functions.collect());
            text.extend(texts(types.definitions(usize::MAX, true)));
            names = types.into_names();
        }
        for server in &self.servers {
            let list = server.tools();
            let mut functions = Vec::new();
            for tool in &list.tools {
                let (signature, definitions) = tool.signature(&type_prefix(&Function::from_tool(server, tool)), usize::MAX, true);
                text.extend(texts(definitions));
                functions.push((tool.name.as_str(), signature));
            }
            write(&server.name, functions);
        }
        let _ = write!(text, "\ndeclare sdk: {{\n{members}{short_names}}}\n");
        text
    }
}

fn texts(definitions: Vec<Definition>) -> impl Iterator<Item = String> {
    definitions.into_iter().filter_map(|definition| definition.text)
}
