//! Path, query, header and cookie parameters of operations.

use super::media_type::is_json;
use crate::sdk::{
    document::Node,
    error::SpecError,
    names::{DistinctNames, snake_case},
};

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name in scripts.
    pub name: String,
    /// The name in the specification.
    pub key: String,
    pub location: ParameterLocation,
    pub style: ParameterStyle,
    pub explode: bool,
    /// Reserved characters of URLs are not percent-encoded.
    pub allow_reserved: bool,
    pub required: bool,
    pub description: String,
    /// The pointer of the schema.
    pub schema: Option<String>,
    /// The value is encoded as JSON.
    pub is_json: bool,
}

/// The part of a request that contains a parameter (`in`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterLocation {
    Path,
    Query,
    Header,
    Cookie,
}

/// The encoding of arrays and objects in a parameter (`style`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterStyle {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
}

/// Headers that scripts can't set: those that OpenAPI excludes from parameters, and those that would change the framing of a request.
const RESERVED_HEADERS: [&str; 14] = [
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

/// Reads the parameters of an operation and of its path. The operation takes precedence. Returns the number of parameters without a name
/// too, which are skipped.
pub fn parameters(path_item: &Node<'_>, operation: &Node<'_>) -> Result<(Vec<Parameter>, usize), SpecError> {
    let mut all: Vec<Parameter> = Vec::new();
    let mut nameless = 0;
    for list in [operation, path_item].iter().filter_map(|node| node.get("parameters")) {
        for (_, node) in list.members() {
            let node = node.resolve()?;
            if node.text("name").is_empty() {
                nameless += 1;
            } else if let Some(parameter) = parameter(&node)?
                && !all.iter().any(|known| known.key == parameter.key && known.location == parameter.location)
            {
                all.push(parameter);
            }
        }
    }
    // Parameters in different locations may have the same name.
    let mut names = DistinctNames::default();
    for parameter in &mut all {
        parameter.name = names.assign(std::mem::take(&mut parameter.name), &parameter.key);
    }
    Ok((all, nameless))
}

/// Reads a parameter. Returns `None` for a header that scripts can't set.
fn parameter(node: &Node<'_>) -> Result<Option<Parameter>, SpecError> {
    let key = node.text("name");
    let location = match node.text("in") {
        "path" => ParameterLocation::Path,
        "query" => ParameterLocation::Query,
        "header" if RESERVED_HEADERS.contains(&key.to_ascii_lowercase().as_str()) => return Ok(None),
        "header" => ParameterLocation::Header,
        "cookie" => ParameterLocation::Cookie,
        other => {
            let known = "use path, query, header or cookie";
            return Err(SpecError::new(format!("the parameter '{key}' has the unknown location '{other}'; {known}")));
        }
    };
    Parameter::read(node, key, location).map(Some)
}

impl Parameter {
    /// Reads a parameter object, or the encoding object of a form field.
    pub fn read(node: &Node<'_>, key: &str, location: ParameterLocation) -> Result<Self, SpecError> {
        let style = match node.text("style") {
            "" if matches!(location, ParameterLocation::Path | ParameterLocation::Header) => ParameterStyle::Simple,
            "" | "form" => ParameterStyle::Form,
            "simple" => ParameterStyle::Simple,
            "label" => ParameterStyle::Label,
            "matrix" => ParameterStyle::Matrix,
            "spaceDelimited" => ParameterStyle::SpaceDelimited,
            "pipeDelimited" => ParameterStyle::PipeDelimited,
            "deepObject" => ParameterStyle::DeepObject,
            other => return Err(SpecError::new(format!("the parameter '{key}' has the unknown style '{other}'"))),
        };
        let content = node.get("content").and_then(|content| content.members().into_iter().next());
        let is_json = content.as_ref().is_some_and(|(media_type, _)| is_json(media_type));
        let content = content.map(|(_, media)| media);
        let schema = content.as_ref().unwrap_or(node).get("schema");
        Ok(Self {
            name: snake_case(key),
            key: key.to_owned(),
            location,
            style,
            explode: node.flag("explode").unwrap_or(style == ParameterStyle::Form),
            allow_reserved: node.flag("allowReserved").unwrap_or(false),
            required: location == ParameterLocation::Path || node.flag("required").unwrap_or(false),
            description: node.text("description").to_owned(),
            is_json,
            schema: schema.map(|schema| schema.pointer),
        })
    }
}
