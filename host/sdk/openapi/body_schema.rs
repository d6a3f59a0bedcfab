//! The request and response bodies that a specification describes.

use super::{
    media_type::{essence, is_json},
    parameters::{Parameter, ParameterLocation},
};
use crate::sdk::{document::Node, error::SpecError};

/// The request body of an operation.
#[derive(Clone, Debug)]
pub struct RequestBody {
    pub media_type: String,
    pub required: bool,
    pub description: String,
    /// The pointer of the schema.
    pub schema: Option<String>,
    /// The form fields for which the specification defines a style.
    pub styled_fields: Vec<Parameter>,
    /// The names of the form fields that are files.
    pub file_fields: Vec<String>,
}

/// The supported media types of a request body, best first.
const MEDIA_TYPES: [&str; 4] = ["application/json", "multipart/form-data", "application/x-www-form-urlencoded", "text/plain"];

/// Reads the request body of an operation, with the best of its media types.
pub fn request_body(operation: &Node<'_>) -> Result<Option<RequestBody>, SpecError> {
    let Some(body) = operation.get("requestBody") else { return Ok(None) };
    let body = body.resolve()?;
    let content = body.get("content").map(|content| content.members()).unwrap_or_default();
    let best = MEDIA_TYPES.iter().find_map(|wanted| content.iter().find(|(media_type, _)| essence(media_type) == *wanted));
    let best = best.or_else(|| content.iter().find(|(media_type, _)| is_json(media_type))).or(content.first());
    let Some((media_type, media)) = best else { return Ok(None) };
    let schema = media.get("schema");
    Ok(Some(RequestBody {
        media_type: media_type.clone(),
        required: body.flag("required").unwrap_or(false),
        description: body.text("description").to_owned(),
        styled_fields: styled_fields(media)?,
        file_fields: schema.clone().and_then(|schema| schema.resolve().ok()).map(|schema| file_fields(&schema)).unwrap_or_default(),
        schema: schema.map(|schema| schema.pointer),
    }))
}

fn styled_fields(media: &Node<'_>) -> Result<Vec<Parameter>, SpecError> {
    let mut fields = Vec::new();
    for (key, encoding) in media.get("encoding").map(|encoding| encoding.members()).unwrap_or_default() {
        if ["style", "explode", "allowReserved"].iter().any(|keyword| encoding.value.get(keyword).is_some()) {
            fields.push(Parameter::read(&encoding, &key, ParameterLocation::Query)?);
        }
    }
    Ok(fields)
}

/// Returns the properties that are binary or have a media type of their own.
fn file_fields(schema: &Node<'_>) -> Vec<String> {
    let is_file = |(_, property): &(String, Node<'_>)| {
        let is_binary = |node: &Node<'_>| node.text("format") == "binary" || !node.text("contentMediaType").is_empty();
        let property = property.clone().resolve();
        property.is_ok_and(|property| is_binary(&property) || property.get("items").is_some_and(|items| is_binary(&items)))
    };
    let properties = schema.get("properties").map(|properties| properties.members()).unwrap_or_default();
    properties.into_iter().filter(is_file).map(|(name, _)| name).collect()
}

/// Returns `true` if successful responses have different contents, or some have none.
pub fn has_other_responses(operation: &Node<'_>) -> bool {
    let responses = operation.get("responses").map(|responses| responses.members()).unwrap_or_default();
    let successful = responses.into_iter().filter(|(status, _)| status.starts_with('2'));
    let mut contents = successful.map(|(_, response)| response.resolve().ok().and_then(|response| response.value.get("content")));
    let first = contents.next();
    contents.any(|content| Some(content) != first)
}

/// Returns the pointer of the schema of the first successful response that has a body. The default response is an error if there is a
/// successful one.
pub fn response_schema(operation: &Node<'_>) -> Result<Option<String>, SpecError> {
    let responses = operation.get("responses").map(|responses| responses.members()).unwrap_or_default();
    let is_successful = |status: &str| status.starts_with('2');
    let has_successful = responses.iter().any(|(status, _)| is_successful(status));
    for (status, response) in responses {
        if !is_successful(&status) && (has_successful || status != "default") {
            continue;
        }
        let content = response.resolve()?.get("content").map(|content| content.members()).unwrap_or_default();
        let Some((_, media)) = content.iter().find(|(media_type, _)| is_json(media_type)).or(content.first()) else { continue };
        return Ok(media.get("schema").map(|schema| schema.pointer));
    }
    Ok(None)
}
