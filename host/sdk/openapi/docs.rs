//! Documentation of operations.

use super::{
    Api, Operation,
    parameters::{Parameter, ParameterLocation},
};
use crate::sdk::{
    docs::{Signature, collapse_whitespace},
    luau_types::{Type, Types, key, pascal_case},
};
use std::fmt::Write as _;

impl Api {
    /// Returns the types of the specification.
    pub fn types(&self) -> Types<'_> {
        Types::new(&self.document, pascal_case(&self.name))
    }

    /// Returns the signature of an operation.
    pub fn signature(&self, operation: &Operation, types: &mut Types<'_>) -> Signature {
        let mut arguments = Vec::new();
        let parameters: Vec<&Parameter> = self.visible_parameters(operation).collect();
        if !parameters.is_empty() {
            let field = |parameter: &&Parameter| {
                format!("{}: {}", key(&parameter.name), types.at(parameter.schema.as_deref()).with_required(parameter.required))
            };
            let fields: Vec<String> = parameters.iter().map(field).collect();
            let is_required = parameters.iter().any(|parameter| parameter.required);
            arguments.push(format!("params: {}", Type::plain(format!("{{ {} }}", fields.join(", "))).with_required(is_required)));
        }
        if let Some(body) = &operation.body {
            let hidden: Vec<&str> = self.frozen.names().collect();
            arguments.push(format!("body: {}", types.without_fields(body.schema.as_deref(), &hidden).with_required(body.required)));
        }
        let results = types.at(operation.result.as_deref()).to_text();
        Signature { arguments: arguments.join(", "), results }
    }

    /// Returns the method, the path, the description and the parameters of an operation.
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
        let lines: Vec<String> = self.visible_parameters(operation).filter_map(parameter_line).collect();
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

/// Returns the description and the default of a parameter, if it has either.
fn parameter_line(parameter: &Parameter) -> Option<String> {
    let location = match parameter.location {
        ParameterLocation::Path => "path",
        ParameterLocation::Query => "query",
        ParameterLocation::Header => "header",
        ParameterLocation::Cookie => "cookie",
    };
    let default = parameter.default.as_ref().map(|default| format!("default {default}"));
    let description = Some(collapse_whitespace(&parameter.description)).filter(|text| !text.is_empty());
    let details: Vec<String> = [description, default].into_iter().flatten().collect();
    (!details.is_empty()).then(|| format!("  {} ({location}): {}", parameter.name, details.join("; ")))
}
