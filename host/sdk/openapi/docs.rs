//! Documentation of operations.

use super::{
    Api, Operation,
    body_schema::RequestBody,
    parameters::{Parameter, ParameterLocation},
};
use crate::sdk::{
    constraints::constraints,
    docs::{Signature, collapse_whitespace},
    document::Node,
    field_notes::field_lines,
    frozen_params::declares_property,
    luau_syntax::{Type, key, pascal_case},
    luau_types::Types,
};
use std::fmt::Write as _;

impl Api {
    /// Returns the types of the specification.
    pub fn types(&self) -> Types<'_> {
        Types::new(&self.document, pascal_case(&self.name))
    }

    /// Returns the types of the specification for the check of scripts, with names that begin with a prefix.
    pub fn check_types(&self, prefix: String) -> Types<'_> {
        Types::new(&self.document, prefix).for_checks()
    }

    /// Returns the pointer of the schema of a type in the signatures.
    pub fn type_pointer(&self, name: &str) -> Option<&str> {
        let pointers = self.type_pointers.get_or_init(|| {
            let mut types = self.types();
            self.operations.values().for_each(|operation| drop(self.signature(operation, &mut types)));
            types.into_pointers()
        });
        pointers.get(name).map(String::as_str)
    }

    /// Returns the signature of an operation.
    pub fn signature(&self, operation: &Operation, types: &mut Types<'_>) -> Signature {
        Signature { arguments: self.arguments(operation, types), results: self.results(operation, types) }
    }

    /// Returns the parameters and the body of an operation, as arguments with types.
    pub fn arguments(&self, operation: &Operation, types: &mut Types<'_>) -> String {
        self.arguments_with(operation, types, |_| true)
    }

    /// Returns the arguments. The type of a body is `any` unless it is known.
    fn arguments_with(&self, operation: &Operation, types: &mut Types<'_>, is_known: impl Fn(&RequestBody) -> bool) -> String {
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
            let kind = if is_known(body) { types.without_fields(body.schema.as_deref(), &hidden) } else { Type::plain("any") };
            arguments.push(format!("body: {}", kind.with_required(body.required)));
        }
        arguments.join(", ")
    }

    /// Returns the signature of an operation for the check of scripts. What the host accepts beyond the schema is `any`.
    pub fn check_signature(&self, operation: &Operation, types: &mut Types<'_>) -> Signature {
        let arguments = self.arguments_with(operation, types, |body| {
            let is_json = super::media_type::is_json(&body.media_type);
            let schema = self.body_schema(body);
            let is_frozen = schema.is_some_and(|schema| {
                let items = schema.get("items");
                self.frozen
                    .names()
                    .any(|name| declares_property(&schema, name) || items.as_ref().is_some_and(|items| declares_property(items, name)))
            });
            is_json && !is_frozen
        });
        let results = if operation.has_other_results { "any".into() } else { self.results(operation, types) };
        Signature { arguments, results }
    }

    /// Returns the names of parameters in the specification, each with the name in scripts, where scripts can use both.
    pub fn parameter_aliases<'a>(&'a self, operation: &'a Operation) -> impl Iterator<Item = (String, String)> + 'a {
        let is_a_name = |key: &str| operation.parameters.iter().any(|other| other.name == key);
        let parameters = self.visible_parameters(operation).filter(move |parameter| !is_a_name(&parameter.key));
        parameters.map(|parameter| (parameter.key.clone(), parameter.name.clone()))
    }

    /// Returns the type of the result of an operation.
    pub fn results(&self, operation: &Operation, types: &mut Types<'_>) -> String {
        types.at(operation.result.as_deref()).to_text()
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
        let lines: Vec<String> = self.visible_parameters(operation).filter_map(|parameter| self.parameter_line(parameter)).collect();
        if !lines.is_empty() {
            let _ = write!(text, "\n\nparams:\n{}", lines.join("\n"));
        }
        if let Some(body) = &operation.body {
            let _ = write!(text, "\n\nbody: {}", self.describe_body(body));
        }
        text
    }

    /// Returns the description, the constraints and the default of a parameter, if it has any.
    fn parameter_line(&self, parameter: &Parameter) -> Option<String> {
        let location = match parameter.location {
            ParameterLocation::Path => "path",
            ParameterLocation::Query => "query",
            ParameterLocation::Header => "header",
            ParameterLocation::Cookie => "cookie",
        };
        let description = Some(collapse_whitespace(&parameter.description)).filter(|text| !text.is_empty());
        let schema = parameter.schema.as_deref().and_then(|pointer| self.document.at(pointer));
        let constraints = schema.map(|schema| constraints(&schema, true)).unwrap_or_default();
        let details: Vec<String> = description.into_iter().chain(constraints).collect();
        (!details.is_empty()).then(|| format!("  {} ({location}): {}", parameter.name, details.join("; ")))
    }

    /// Returns the media type and the description of a body, and a line for each field with a note. A body with a named type has the notes
    /// in the definition of that type.
    fn describe_body(&self, body: &RequestBody) -> String {
        let description = Some(collapse_whitespace(&body.description)).filter(|text| !text.is_empty());
        let mut details: Vec<String> = description.into_iter().collect();
        let mut lines = Vec::new();
        let hidden: Vec<&str> = self.frozen.names().collect();
        let schema = body.schema.as_deref().and_then(|pointer| self.document.at(pointer));
        if let Some(schema) = schema.filter(|schema| schema.value.get("$ref").is_none() || hidden_fields(schema, &hidden)) {
            details.extend(constraints(&schema, false));
            lines = schema.resolve().map(|schema| field_lines(&schema, &hidden)).unwrap_or_default();
        }
        let separator = if details.is_empty() { "" } else { ": " };
        lines.insert(0, format!("{}{separator}{}", body.media_type, details.join("; ")));
        lines.join("\n")
    }
}

/// Returns `true` if a body is shown without some of its fields, so that it has no named type.
fn hidden_fields(schema: &Node<'_>, hidden: &[&str]) -> bool {
    hidden.iter().any(|name| declares_property(schema, name))
}
