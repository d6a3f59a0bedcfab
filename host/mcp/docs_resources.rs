//! The documentation of functions as resources: `sdk://api`, its parts `sdk://api/overview`, `sdk://api/functions` and
//! `sdk://api/schemas`, and `sdk://api/function`.

use super::file_resources::not_found;
use crate::sdk::{Sdk, Source};
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};

/// The prefix of URIs.
pub const SCHEME: &str = "sdk://";

const MIME_TYPE: &str = "text/plain";

/// Lists all APIs. Their functions are not listed, because there may be thousands.
pub fn list(sdk: &Sdk) -> Vec<Resource> {
    let describe = |source: Source| {
        let resource = Resource::new(format!("{SCHEME}{}", source.name), source.name).with_mime_type(MIME_TYPE);
        if source.title.is_empty() { resource } else { resource.with_title(source.title) }
    };
    sdk.sources().into_iter().map(describe).collect()
}

/// Returns the URI template of a function.
pub fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{api}}/{{function}}"), "function")
        .with_description("How a script calls a function of an API")
        .with_mime_type(MIME_TYPE)
}

/// Reads the documentation of an API or a function.
pub fn read(sdk: &Sdk, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let path = uri.strip_prefix(SCHEME).unwrap_or(uri).trim_end_matches('/');
    let docs = sdk.docs_for(&path.replace('/', ".")).or_else(|error| match path.split_once('/') {
        Some((api, "overview")) => sdk.docs_for(api),
        Some((api, "functions")) => sdk.signatures(api),
        Some((api, "schemas")) => sdk.type_definitions(api),
        _ => Err(error),
    });
    match docs {
        Ok(text) => Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(MIME_TYPE)])),
        Err(error) => Err(not_found(uri, &error.to_string())),
    }
}
