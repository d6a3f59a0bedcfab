//! The definitions for the check of a script: the types of the functions that it mentions, and the names of all.
//!
//! They are written by the same code as those for editors, with differences where a check must be certain: a type whose schema can't be
//! expressed is `any`, and a schema that allows no other fields says so.

use super::{
    catalogue::Catalogue, definitions::BUILT_IN_MEMBERS, docs::Signature, luau_types::Definition, mcp_client::UpstreamTool,
    openapi::Operation, provider::Sdk,
};
use crate::engine::{Definitions, FunctionNames, ScriptWords};
use std::fmt::Write as _;

/// The levels of types that refer to each other. A type beyond is `any`. Specifications often connect all of their types.
const MAX_LEVELS: usize = 5;

/// The declaration of `sdk`.
#[derive(Default)]
struct Declaration {
    types: String,
    members: String,
    /// The functions that have a name without a source.
    short_names: String,
    /// For each other name of a parameter: the function, the other name and the name.
    aliases: Vec<[String; 3]>,
}

impl Declaration {
    /// Declares the functions of a source. Each has its name, and its name in the specification or on the server.
    fn add(&mut self, catalogue: &Catalogue, source: &str, functions: &[([&str; 2], Signature)]) {
        if functions.is_empty() {
            return;
        }
        let _ = writeln!(self.members, "    {source}: {{");
        for (names, Signature { arguments, results }) in functions {
            let full_name = format!("{source}.{}", names[0]);
            // Without a response schema, the fields of earlier responses are known.
            let function = catalogue.get(&full_name).filter(|_| results == "any");
            let observed = function.map(|function| function.observed.check_type());
            let results = observed.as_ref().unwrap_or(results);
            let is_other = names[1] != names[0] && is_identifier(names[1]);
            for name in names.iter().take(if is_other { 2 } else { 1 }) {
                let _ = writeln!(self.members, "        {name}: ({arguments}) -> {results},");
                if catalogue.get(name).is_some_and(|function| function.full_name() == full_name) {
                    let _ = writeln!(self.short_names, "    {name}: ({arguments}) -> {results},");
                }
            }
        }
        self.members.push_str("    },\n");
    }

    fn add_types(&mut self, definitions: Vec<Definition>) {
        self.types.extend(definitions.into_iter().filter_map(|definition| definition.text));
    }
}

impl Sdk {
    /// Returns the definitions for the check of a script, with the types of the functions that it mentions.
    pub(super) fn definitions_for(&self, words: &ScriptWords<'_>) -> Definitions {
        let catalogue = self.catalogue();
        // The functions of a server that is starting or down are not known.
        let unknown = self.servers.iter().filter(|server| server.is_starting() || server.failure().is_some());
        let names = FunctionNames::clone(catalogue.check_names()).with_unknown(unknown.map(|server| server.name.as_str()));

        let mut declaration = Declaration::default();
        for api in &self.apis {
            // Names of sources are distinct and have no double underscore. Types of other sources can't have the same name.
            let mut types = api.check_types(format!("{}__", api.name));
            let is_mentioned = |operation: &&std::sync::Arc<Operation>| words.mentions(&operation.name) || words.mentions(&operation.id);
            let operations: Vec<_> = api.operations.values().filter(is_mentioned).collect();
            let functions: Vec<_> = operations
                .iter()
                .map(|operation| ([operation.name.as_str(), operation.id.as_str()], api.check_signature(operation, &mut types)))
                .collect();
            declaration.add(&catalogue, &api.name, &functions);
            declaration.add_types(types.nearest_definitions(MAX_LEVELS));
            for operation in &operations {
                for (alias, name) in api.parameter_aliases(operation) {
                    let functions = [&operation.name, &operation.id].map(|function| format!("{}.{function}", api.name));
                    declaration.aliases.extend(functions.map(|function| [function, alias.clone(), name.clone()]));
                }
            }
        }
        for server in &self.servers {
            let list = server.tools();
            let is_mentioned = |tool: &&std::sync::Arc<UpstreamTool>| words.mentions(&tool.name) || words.mentions(&tool.upstream_name);
            let tools: Vec<_> = list.tools.iter().filter(is_mentioned).collect();
            let mut functions = Vec::new();
            for tool in &tools {
                let prefix = format!("{}__{}__", server.name, tool.name);
                let (signature, definitions) = tool.check_signature(&prefix, MAX_LEVELS);
                declaration.add_types(definitions);
                functions.push(([tool.name.as_str(), tool.upstream_name.as_str()], signature));
            }
            declaration.add(&catalogue, &server.name, &functions);
        }
        let Declaration { types, members, short_names, aliases } = declaration;
        if types.len() + members.len() + short_names.len() > Definitions::MAX_TYPES {
            return Definitions::of_names(names);
        }
        let types = format!("{types}declare sdk: {{\n{BUILT_IN_MEMBERS}{members}{short_names}}}\n");
        Definitions::with_types(types, names).with_aliases(aliases.iter().map(|names| names.each_ref().map(String::as_str)))
    }
}

fn is_identifier(name: &str) -> bool {
    super::luau_syntax::key(name) == name
}
