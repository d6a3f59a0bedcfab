//! What people and models read of operations.

use super::{
    Api, Operation,
    operation::{Parameter, Place},
};
use crate::sdk::{
    docs::{Shape, collapse_whitespace},
    luau::{Type, Types, key, pascal_case},
};
use std::fmt::Write as _;

/// What a call returns beside the body.
const DETAILS: &str = "{ status: number, headers: { [string]: string } }";

impl Api {
    /// Types for its functions.
    pub fn types(&self) -> Types<'_> {
        Types::new(&self.document, pascal_case(&self.name))
    }

    /// What a function takes and gives.
    pub fn shape(&self, operation: &Operation, types: &mut Types<'_>) -> Shape {
        let mut arguments = Vec::new();
        let parameters: Vec<&Parameter> = self.visible(operation).collect();
        if !parameters.is_empty() {
            let field = |parameter: &&Parameter| {
                format!("{}: {}", key(&parameter.name), types.at(parameter.schema.as_deref()).needed(parameter.required))
            };
            let fields: Vec<String> = parameters.iter().map(field).collect();
            let is_needed = parameters.iter().any(|parameter| parameter.required);
            arguments.push(format!("params: {}", Type::plain(format!("{{ {} }}", fields.join(", "))).needed(is_needed)));
        }
        if let Some(body) = &operation.body {
            let hidden: Vec<&str> = self.frozen.names().collect();
            arguments.push(format!("body: {}", types.without(body.schema.as_deref(), &hidden).needed(body.required)));
        }
        let body = types.at(operation.result.as_deref()).whole();
        Shape { arguments: arguments.join(", "), results: format!("({body}, {DETAILS})") }
    }

    /// All else that is known of a function.
    pub fn describe(&self, operation: &Operation) -> String {
        let mut text = format!("{} {}", operation.method, operation.path);
        if operation.deprecated {
            text.push_str(" (deprecated)");
        }
        for part in [&operation.summary, &operation.description] {
            if !part.trim().is_empty() {
                let _ = write!(text, "\n\n{}", part.trim());
            }
        }
        let lines: Vec<String> = self.visible(operation).filter_map(line).collect();
        if !lines.is_empty() {
            let _ = write!(text, "\n\nparams:\n{}", lines.join("\n"));
        }
        if let Some(body) = &operation.body {
            let description = collapse_whitespace(&body.description);
            let _ = write!(text, "\n\nbody: {}{}{description}", body.media_type, if description.is_empty() { "" } else { ": " });
        }
        text
    }
}

/// What there is to say of a parameter beyond its type.
fn line(parameter: &Parameter) -> Option<String> {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header => "header",
        Place::Cookie => "cookie",
    };
    let default = parameter.default.as_ref().map(|default| format!("default {default}"));
    let description = Some(collapse_whitespace(&parameter.description)).filter(|text| !text.is_empty());
    let said: Vec<String> = [description, default].into_iter().flatten().collect();
    (!said.is_empty()).then(|| format!("  {} ({place}): {}", parameter.name, said.join("; ")))
}
