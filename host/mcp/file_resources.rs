//! The files of the io directory as resources. The URI of a file is `io:///` and its percent-encoded name.

use super::arguments::invalid_params;
use crate::{Files, files::FileError};
use base64::Engine as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::{
    ErrorData,
    model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents},
};
use serde_json::json;

/// The prefix of URIs.
const SCHEME: &str = "io:///";

/// The characters to encode: all except unreserved characters and slashes.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The number of resources in one page of a listing.
const PAGE_SIZE: usize = 100;

/// The maximum size of a file to read as a resource, in bytes. It is sent in one message.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// Returns the URI of a file.
pub fn uri(name: &str) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(name, ENCODED))
}

/// Returns the name of the file with this URI, or `None` if it is not the URI of a file.
pub fn file_name(uri: &str) -> Option<String> {
    let encoded = uri.strip_prefix(SCHEME)?;
    percent_decode_str(encoded).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

/// Returns a file as a resource.
pub fn describe(name: &str, bytes: Option<u64>) -> Resource {
    let mut resource = Resource::new(uri(name), name);
    if let Some(mime_type) = mime_type(name) {
        resource = resource.with_mime_type(mime_type);
    }
    if let Some(bytes) = bytes {
        resource = resource.with_size(bytes);
    }
    resource
}

/// Guesses the MIME type from the file extension.
fn mime_type(name: &str) -> Option<String> {
    mime_guess::from_path(name).first().map(|mime_type| mime_type.essence_str().to_owned())
}

/// Lists one page of all files, starting after the file that the cursor names. Blocks.
pub fn list(files: &Files, cursor: Option<&str>, is_wanted: &dyn Fn() -> bool) -> Result<ListResourcesResult, ErrorData> {
    let parse = |cursor| file_name(cursor).ok_or_else(|| invalid_params("`cursor` is not a cursor of this server"));
    let after = cursor.map(parse).transpose()?;
    let page = files
        .page(after.as_deref(), PAGE_SIZE, is_wanted)
        .map_err(|error| ErrorData::internal_error(format!("can't list the files: {error}"), None))?;
    let resources = page.entries.iter().map(|entry| describe(&entry.name, Some(entry.bytes))).collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    if page.has_more {
        result.next_cursor = page.entries.last().map(|last| uri(&last.name));
    }
    Ok(result)
}

/// Reads a file, as text if it is UTF-8. Blocks.
pub fn read(files: &Files, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let name = file_name(uri).ok_or_else(|| not_found(uri, &format!("`uri` must begin with {SCHEME} and be percent-encoded UTF-8")))?;
    let bytes = files.read_raw(&name, MAX_FILE_SIZE).map_err(|error| match error {
        FileError::Limit(message) => invalid_params(&format!("`uri`: {message}")),
        other => not_found(uri, &other.to_string()),
    })?;
    let (contents, default_mime_type) = match String::from_utf8(bytes) {
        Ok(text) => (ResourceContents::text(text, uri), "text/plain"),
        Err(error) => (ResourceContents::blob(base64::prelude::BASE64_STANDARD.encode(error.as_bytes()), uri), "application/octet-stream"),
    };
    Ok(ReadResourceResult::new(vec![contents.with_mime_type(mime_type(&name).unwrap_or_else(|| default_mime_type.into()))]))
}

/// Returns the error for a resource that can't be read.
pub fn not_found(uri: &str, reason: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("Resource not found: {reason}"), Some(json!({ "uri": uri })))
}
