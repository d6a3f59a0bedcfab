//! The files of the io dir as resources: `io:///` and the name, percent-encoded.

use super::arguments::invalid;
use crate::{Files, files::FileError};
use base64::Engine as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::{
    ErrorData,
    model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents},
};
use serde_json::json;

/// In front of a name.
const SCHEME: &str = "io:///";

/// What stays as it is in a name: the unreserved characters, and the slash between folders.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Resources in one answer to a listing.
const PAGE: usize = 100;

/// Bytes of a file that is read as a resource: it becomes one message.
const MAX_READ: u64 = 1 << 20;

/// The address of a file.
pub fn uri(name: &str) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(name, ENCODED))
}

/// A file as a resource.
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

/// What the name says of the contents.
fn mime_type(name: &str) -> Option<String> {
    mime_guess::from_path(name).first().map(|mime_type| mime_type.essence_str().to_owned())
}

/// One page of all files, from behind the name that the cursor is. It blocks.
pub fn list(files: &Files, cursor: Option<&str>, is_wanted: &dyn Fn() -> bool) -> Result<ListResourcesResult, ErrorData> {
    let after = cursor.map(name_of_cursor).transpose()?;
    let page = files.page(after.as_deref(), PAGE, is_wanted).map_err(|error| failed(&error))?;
    let resources = page.entries.iter().map(|entry| describe(&entry.name, Some(entry.bytes))).collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    if page.has_more {
        result.next_cursor = page.entries.last().map(|last| uri(&last.name));
    }
    Ok(result)
}

fn name_of_cursor(cursor: &str) -> Result<String, ErrorData> {
    name_of(cursor).ok_or_else(|| invalid("`cursor` is not one that this server gave"))
}

/// The name in an address.
pub fn name_of(uri: &str) -> Option<String> {
    let encoded = uri.strip_prefix(SCHEME)?;
    percent_decode_str(encoded).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

/// The contents of one file, as text if they are text. It blocks.
pub fn read(files: &Files, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let not_found = |message: &str| not_found(uri, message);
    let name = name_of(uri).ok_or_else(|| not_found(&format!("`uri` must begin with {SCHEME} and be percent-encoded UTF-8")))?;
    let bytes = files.read_raw(&name, MAX_READ).map_err(|error| match error {
        FileError::Limit(message) => invalid(&format!("`uri`: {message}")),
        other => not_found(&other.to_string()),
    })?;
    let (contents, otherwise) = match String::from_utf8(bytes) {
        Ok(text) => (ResourceContents::text(text, uri), "text/plain"),
        Err(error) => (ResourceContents::blob(base64::prelude::BASE64_STANDARD.encode(error.as_bytes()), uri), "application/octet-stream"),
    };
    Ok(ReadResourceResult::new(vec![contents.with_mime_type(mime_type(&name).unwrap_or_else(|| otherwise.into()))]))
}

fn not_found(uri: &str, message: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("Resource not found: {message}"), Some(json!({ "uri": uri })))
}

fn failed(error: &FileError) -> ErrorData {
    ErrorData::internal_error(format!("the files can't be listed: {error}"), None)
}
