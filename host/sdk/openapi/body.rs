//! What is sent with a call, and what comes back, by their media types.

use super::operation::{Parameter, Place, written};
use crate::sdk::document::{Node, SpecError};

/// What is sent with a call.
#[derive(Clone, Debug)]
pub struct Body {
    pub media_type: String,
    pub required: bool,
    pub description: String,
    /// Where its schema is, if it has one.
    pub schema: Option<String>,
    /// Fields of a form for which the specification has a style.
    pub styles: Vec<Parameter>,
    /// Fields that are files.
    pub files: Vec<String>,
}

/// Bodies that can be sent, the best first.
const BODIES: [&str; 4] = ["application/json", "multipart/form-data", "application/x-www-form-urlencoded", "text/plain"];

pub fn body(operation: &Node<'_>) -> Result<Option<Body>, SpecError> {
    let Some(body) = operation.get("requestBody") else { return Ok(None) };
    let body = body.resolve()?;
    let content = body.get("content").map(|content| content.members()).unwrap_or_default();
    let best = BODIES.iter().find_map(|wanted| content.iter().find(|(kind, _)| essence(kind) == *wanted));
    let Some((media_type, media)) = best.or_else(|| content.iter().find(|(kind, _)| is_json(kind))).or(content.first()) else {
        return Ok(None);
    };
    let schema = media.get("schema");
    Ok(Some(Body {
        media_type: media_type.clone(),
        required: body.flag("required").unwrap_or(false),
        description: body.text("description").to_owned(),
        styles: styles(media)?,
        files: schema.clone().and_then(|schema| schema.resolve().ok()).map(|schema| files(&schema)).unwrap_or_default(),
        schema: schema.map(|schema| schema.pointer),
    }))
}

/// How the fields of a form are written, where that is said.
fn styles(media: &Node<'_>) -> Result<Vec<Parameter>, SpecError> {
    let mut styles = Vec::new();
    for (key, encoding) in media.get("encoding").map(|encoding| encoding.members()).unwrap_or_default() {
        if ["style", "explode", "allowReserved"].iter().any(|said| encoding.value.get(said).is_some()) {
            styles.push(written(&encoding, &key, Place::Query)?);
        }
    }
    Ok(styles)
}

/// Fields whose contents are not text, or a type of their own.
fn files(schema: &Node<'_>) -> Vec<String> {
    let is_file = |(_, property): &(String, Node<'_>)| {
        let property = property.clone().resolve();
        let of = |node: &Node<'_>| node.text("format") == "binary" || !node.text("contentMediaType").is_empty();
        property.is_ok_and(|property| of(&property) || property.get("items").is_some_and(|items| of(&items)))
    };
    let properties = schema.get("properties").map(|properties| properties.members()).unwrap_or_default();
    properties.into_iter().filter(is_file).map(|(name, _)| name).collect()
}

pub fn result(operation: &Node<'_>) -> Result<Option<String>, SpecError> {
    for (status, response) in operation.get("responses").map(|responses| responses.members()).unwrap_or_default() {
        if !status.starts_with('2') && status != "default" {
            continue;
        }
        let content = response.resolve()?.get("content").map(|content| content.members()).unwrap_or_default();
        let Some((_, media)) = content.iter().find(|(kind, _)| is_json(kind)).or(content.first()) else { continue };
        return Ok(media.get("schema").map(|schema| schema.pointer));
    }
    Ok(None)
}

/// A media type without its parameters, in lower case.
pub fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether bodies of this type are JSON.
pub fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == "application/json" || essence == "text/json" || essence.ends_with("+json")
}
