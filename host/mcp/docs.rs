//! The documentation of functions as resources: `sdk://api` and `sdk://api/function`.

use crate::sdk::Sdk;
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::json;

/// In front of a name.
pub const SCHEME: &str = "sdk://";

const MIME_TYPE: &str = "text/plain";

/// All APIs. Their functions are not listed one by one: there may be thousands.
pub fn list(sdk: &Sdk) -> Vec<Resource> {
    let describe = |source: crate::sdk::Source| {
        let resource = Resource::new(format!("{SCHEME}{}", source.name), source.name).with_mime_type(MIME_TYPE);
        if source.title.is_empty() { resource } else { resource.with_title(source.title) }
    };
    sdk.sources().into_iter().map(describe).collect()
}

/// How one function's address is made.
pub fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{api}}/{{function}}"), "function")
        .with_description("How a script calls a function of an API")
        .with_mime_type(MIME_TYPE)
}

/// The documentation at an address.
pub fn read(sdk: &Sdk, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let name = uri.strip_prefix(SCHEME).unwrap_or(uri).trim_end_matches('/').replace('/', ".");
    match sdk.docs(&name) {
        Ok(text) => Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(MIME_TYPE)])),
        Err(error) => Err(ErrorData::resource_not_found(format!("Resource not found: {error}"), Some(json!({ "uri": uri })))),
    }
}
