//! The operations of a specification, each a function.

use super::body::{self, Body, is_json};
use crate::sdk::{
    document::{Document, Node, SpecError},
    names::{Distinct, snake_case},
};
use serde_json::Value;
use url::Url;

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The name of the function, in its API.
    pub name: String,
    /// In capitals.
    pub method: String,
    /// With placeholders: `/pets/{id}`.
    pub path: String,
    pub summary: String,
    pub description: String,
    pub tags: Vec<String>,
    pub deprecated: bool,
    pub parameters: Vec<Parameter>,
    pub body: Option<Body>,
    /// What a call gives back: where the schema is of the first response that is a success and has one.
    pub result: Option<String>,
    /// Alternatives, each a list of schemes that are needed together; nothing if the specification does not say.
    pub security: Option<Vec<Vec<String>>>,
    /// In place of the API's own, as it is written.
    pub server_text: Option<String>,
    /// The same as an address.
    pub server: Option<Url>,
}

/// A parameter in the path, the query, a header or a cookie.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// As scripts name it.
    pub name: String,
    /// As the API names it.
    pub key: String,
    pub place: Place,
    pub style: Style,
    pub explode: bool,
    /// Characters with a meaning in URLs stay as they are.
    pub allow_reserved: bool,
    pub required: bool,
    pub description: String,
    /// What the API takes if it is not there.
    pub default: Option<Value>,
    /// Where its schema is, if it has one.
    pub schema: Option<String>,
    /// Its value is written as JSON.
    pub is_json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Path,
    Query,
    Header,
    Cookie,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
}

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// An operation, and what it is to be named by: its `operationId`, or what stands in for one.
pub struct Found {
    pub wished: String,
    pub operation: Operation,
}

/// All operations, in the order of their paths.
pub fn all(document: &Document) -> Result<Vec<Found>, SpecError> {
    let mut found = Vec::new();
    let paths = document.root().get("paths").map(|paths| paths.members()).unwrap_or_default();
    for (path, item) in paths {
        let item = item.resolve().map_err(|error| error.at(&path))?;
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let method = method.to_uppercase();
            found.push(read(document, &path, &item, &method, &operation).map_err(|error| error.at(&format!("{method} {path}")))?);
        }
    }
    Ok(found)
}

fn read(document: &Document, path: &str, item: &Node<'_>, method: &str, operation: &Node<'_>) -> Result<Found, SpecError> {
    let either = |key| [operation, item].iter().map(|node| node.text(key)).find(|text| !text.is_empty()).unwrap_or_default().to_owned();
    let id = operation.text("operationId");
    let security = operation.get("security").or_else(|| document.root().get("security"));
    Ok(Found {
        wished: if id.is_empty() { format!("{method} {path}") } else { id.to_owned() },
        operation: Operation {
            name: String::new(),
            method: method.to_owned(),
            path: path.to_owned(),
            summary: either("summary"),
            description: either("description"),
            tags: strings(operation.value.get("tags")),
            deprecated: operation.flag("deprecated").unwrap_or(false),
            parameters: parameters(item, operation)?,
            body: body::body(operation)?,
            result: body::result(operation)?,
            security: security.map(|security| security.members().iter().map(|(_, needed)| schemes(needed)).collect()),
            server: None,
            server_text: [operation, item].iter().find_map(|node| server(node)),
        },
    })
}

/// The first server that a part of the specification names, with its variables filled in.
pub fn server(node: &Node<'_>) -> Option<String> {
    let server = node.get("servers")?.get("0")?;
    let mut parts = server.text("url").split('{');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let variable = server.get("variables").and_then(|variables| variables.get(name));
        text.push_str(variable.map(|variable| variable.text("default")).unwrap_or_default());
        text.push_str(rest);
    }
    Some(text)
}

fn strings(value: Option<&Value>) -> Vec<String> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn schemes(needed: &Node<'_>) -> Vec<String> {
    needed.members().into_iter().map(|(name, _)| name).collect()
}

/// The operation's own parameters win over those of its path.
fn parameters(item: &Node<'_>, operation: &Node<'_>) -> Result<Vec<Parameter>, SpecError> {
    let mut all: Vec<Parameter> = Vec::new();
    for list in [operation, item].iter().filter_map(|node| node.get("parameters")) {
        for (_, parameter) in list.members() {
            if let Some(parameter) = parameter_of(&parameter.resolve()?)?
                && !all.iter().any(|known| known.key == parameter.key && known.place == parameter.place)
            {
                all.push(parameter);
            }
        }
    }
    // Two that scripts would name alike, such as one in the path and one in the query.
    let mut names = Distinct::default();
    for parameter in &mut all {
        parameter.name = names.take(std::mem::take(&mut parameter.name), &parameter.key);
    }
    Ok(all)
}

/// Headers that are not the caller's to set: those that the specification says so of, and those that would change what a request is.
const OWN_HEADERS: [&str; 14] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "proxy-authorization",
];

/// Nothing for headers that are not the caller's to set.
fn parameter_of(node: &Node<'_>) -> Result<Option<Parameter>, SpecError> {
    let key = node.text("name");
    if key.is_empty() {
        return Err(SpecError::new("a parameter has no name"));
    }
    let place = match node.text("in") {
        "path" => Place::Path,
        "query" => Place::Query,
        "header" if OWN_HEADERS.contains(&key.to_ascii_lowercase().as_str()) => return Ok(None),
        "header" => Place::Header,
        "cookie" => Place::Cookie,
        other => return Err(SpecError::new(format!("the parameter '{key}' is in '{other}', which is no place for one"))),
    };
    written(node, key, place).map(Some)
}

/// A parameter, by how it is written.
pub fn written(node: &Node<'_>, key: &str, place: Place) -> Result<Parameter, SpecError> {
    let style = match node.text("style") {
        "" if matches!(place, Place::Path | Place::Header) => Style::Simple,
        "" | "form" => Style::Form,
        "simple" => Style::Simple,
        "label" => Style::Label,
        "matrix" => Style::Matrix,
        "spaceDelimited" => Style::SpaceDelimited,
        "pipeDelimited" => Style::PipeDelimited,
        "deepObject" => Style::DeepObject,
        other => return Err(SpecError::new(format!("the parameter '{key}' has the style '{other}', which there is not"))),
    };
    let content = node.get("content").and_then(|content| content.members().into_iter().next());
    let is_json = content.as_ref().is_some_and(|(kind, _)| is_json(kind));
    let content = content.map(|(_, media)| media);
    let schema = content.as_ref().unwrap_or(node).get("schema");
    Ok(Parameter {
        name: snake_case(key),
        key: key.to_owned(),
        place,
        style,
        explode: node.flag("explode").unwrap_or(style == Style::Form),
        allow_reserved: node.flag("allowReserved").unwrap_or(false),
        required: place == Place::Path || node.flag("required").unwrap_or(false),
        description: node.text("description").to_owned(),
        default: schema.clone().and_then(|schema| schema.resolve().ok()).and_then(|schema| schema.value.get("default").cloned()),
        is_json,
        schema: schema.map(|schema| schema.pointer),
    })
}
