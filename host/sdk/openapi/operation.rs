//! The operations of a specification. Each becomes a function.

use super::{
    body_schema::{self, RequestBody},
    parameters::{self, Parameter},
    server_url,
};
use crate::sdk::{
    document::{Document, Node},
    error::SpecError,
};
use serde_json::Value;
use url::Url;

/// An operation of an API.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The name of the function.
    pub name: String,
    /// The `operationId`. Empty if the specification has none.
    pub id: String,
    /// The HTTP method, in upper case.
    pub method: String,
    /// The path with placeholders, such as `/pets/{id}`.
    pub path: String,
    pub summary: String,
    pub description: String,
    pub tags: Vec<String>,
    pub deprecated: bool,
    pub parameters: Vec<Parameter>,
    pub body: Option<RequestBody>,
    /// The pointer of the schema of the result.
    pub result: Option<String>,
    /// Other successful responses have another schema, so that the schema of a result is not certain.
    pub has_other_results: bool,
    /// The alternative security requirements, each a list of schemes. `None` if the specification has none.
    pub security: Option<Vec<Vec<String>>>,
    /// The URL of the operation's own server, as it is in the specification.
    pub server_text: Option<String>,
    /// The URL of the operation's own server.
    pub server: Option<Url>,
}

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// An operation without a function name yet.
pub struct UnnamedOperation {
    /// The `operationId`, or method and path if it has none.
    pub id: String,
    pub operation: Operation,
    /// The number of parameters without a name, which the operation does not have.
    pub nameless_parameters: usize,
}

/// Reads all operations, in the order of their paths.
pub fn operations(document: &Document) -> Result<Vec<UnnamedOperation>, SpecError> {
    let mut operations = Vec::new();
    let paths = document.root().get("paths").map(|paths| paths.members()).unwrap_or_default();
    for (path, item) in paths {
        let item = item.resolve().map_err(|error| error.at(&path))?;
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let method = method.to_uppercase();
            let operation = read(document, &path, &item, &method, &operation);
            operations.push(operation.map_err(|error| error.at(&format!("{method} {path}")))?);
        }
    }
    Ok(operations)
}

fn read(document: &Document, path: &str, item: &Node<'_>, method: &str, operation: &Node<'_>) -> Result<UnnamedOperation, SpecError> {
    let text = |key| [operation, item].iter().map(|node| node.text(key)).find(|text| !text.is_empty()).unwrap_or_default().to_owned();
    let id = operation.text("operationId");
    let security = operation.get("security").or_else(|| document.root().get("security"));
    let (parameters, nameless_parameters) = parameters::parameters(item, operation)?;
    Ok(UnnamedOperation {
        nameless_parameters,
        id: if id.is_empty() { format!("{method} {path}") } else { id.to_owned() },
        operation: Operation {
            name: String::new(),
            id: id.to_owned(),
            method: method.to_owned(),
            path: path.to_owned(),
            summary: text("summary"),
            description: text("description"),
            tags: strings(operation.value.get("tags")),
            deprecated: operation.flag("deprecated").unwrap_or(false),
            parameters,
            body: body_schema::request_body(operation)?,
            result: body_schema::response_schema(operation)?,
            has_other_results: body_schema::has_other_responses(operation),
            security: security.map(|security| security.members().iter().map(|(_, requirement)| scheme_names(requirement)).collect()),
            server: None,
            server_text: [operation, item].iter().find_map(|node| server_url::first_server(node)),
        },
    })
}

fn strings(value: Option<&Value>) -> Vec<String> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn scheme_names(requirement: &Node<'_>) -> Vec<String> {
    requirement.members().into_iter().map(|(name, _)| name).collect()
}
