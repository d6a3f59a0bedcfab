//! A function of an API or MCP server.

use super::{
    docs,
    mcp_client::{UpstreamServer, UpstreamTool},
    observed_shape::ObservedShape,
    openapi::{Api, Operation},
    operation_action::{http_actions, path_and_resource},
    search::{Field, SearchEntry},
};
use crate::functions::{FunctionResponse, FunctionValue};
use std::{fmt, sync::Arc};

/// A function that scripts can call: an operation of an API, or a tool of an MCP server.
#[non_exhaustive]
pub struct Function {
    /// The name of the API or MCP server.
    pub source: String,
    /// The name of the function within its source.
    pub name: String,
    /// The first words of the description, on one line.
    pub summary: String,
    pub(super) target: Target,
    /// The shape of earlier responses. Only for a function without a response schema.
    pub(super) observed: ObservedShape,
}

/// The implementation of a function.
pub(super) enum Target {
    Operation(Arc<Api>, Arc<Operation>),
    Tool(Arc<UpstreamServer>, Arc<UpstreamTool>),
}

impl Function {
    pub(super) fn from_operation(api: &Arc<Api>, operation: &Arc<Operation>) -> Self {
        let endpoint = format!("{} {}", operation.method, operation.path);
        Self {
            source: api.name.clone(),
            name: operation.name.clone(),
            summary: docs::summary(&[&operation.summary, &operation.description, &endpoint]),
            target: Target::Operation(Arc::clone(api), Arc::clone(operation)),
            observed: ObservedShape::default(),
        }
    }

    pub(super) fn from_tool(server: &Arc<UpstreamServer>, tool: &Arc<UpstreamTool>) -> Self {
        Self {
            source: server.name.clone(),
            name: tool.name.clone(),
            summary: docs::summary(&[&tool.title, &tool.description]),
            target: Target::Tool(Arc::clone(server), Arc::clone(tool)),
            observed: ObservedShape::default(),
        }
    }

    /// Returns `source.function`, the name that scripts can always use after `sdk.`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.source, self.name)
    }

    /// Returns the name in the specification or on the MCP server, such as `listPets`. Empty if the operation has none.
    pub(super) fn original_name(&self) -> &str {
        match &self.target {
            Target::Operation(_, operation) => &operation.id,
            Target::Tool(_, tool) => &tool.upstream_name,
        }
    }

    /// Adds a response to the shape of earlier ones, unless the function has a response schema.
    pub(super) fn observe(&self, response: &FunctionResponse) {
        let has_schema = match &self.target {
            Target::Operation(_, operation) => operation.result.is_some(),
            Target::Tool(_, tool) => tool.has_output_schema(),
        };
        if let (false, FunctionValue::Json(json)) = (has_schema, &response.body) {
            self.observed.add(json.text.get());
        }
    }

    /// Returns the tags of the operation. A tool has none.
    #[must_use]
    pub fn tags(&self) -> &[String] {
        match &self.target {
            Target::Operation(_, operation) => &operation.tags,
            Target::Tool(..) => &[],
        }
    }

    /// Returns the texts to search, and what the function does.
    pub(super) fn search_entry(&self) -> SearchEntry {
        let group = format!("{} {}", self.source, self.tags().join(" "));
        let mut fields = vec![(Field::Name, self.name.clone()), (Field::Group, group), (Field::Summary, self.summary.clone())];
        let mut actions = Vec::new();
        let mut method = None;
        match &self.target {
            Target::Operation(_, operation) => {
                let parameters: Vec<&str> = operation.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
                let (path, resource) = path_and_resource(&operation.path);
                fields.extend([(Field::Resource, resource.to_owned()), (Field::Path, path), (Field::Parameters, parameters.join(" "))]);
                fields.push((Field::Description, operation.description.clone()));
                actions = http_actions(&operation.method, &operation.path, resource);
                method = Some(operation.method.to_lowercase());
            }
            Target::Tool(_, tool) => fields.push((Field::Description, tool.description.clone())),
        }
        SearchEntry { name: self.full_name(), fields, actions, method }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Function").field("name", &self.full_name()).field("summary", &self.summary).finish_non_exhaustive()
    }
}
