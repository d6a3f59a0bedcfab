//! `glob_files`.

use super::{
    FileTool, ToolOutput, define_read_only,
    file_listing::{Details, Listing, MAX_NAME_BYTES, MAX_NAMES, text},
    prepare,
};
use crate::{
    engine::IoOptions,
    files::{FileError, GlobQuery},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const GLOB_FILES: FileTool = FileTool {
    name: "glob_files",
    define: || {
        define_read_only::<GlobArguments>(
            GLOB_FILES.name,
            "Find files by name",
            "Finds files and directories of the sandbox by path: * ? [a-z] {a,b} within a name, ** for directories at any depth.",
        )
    },
    prepare: |arguments, _| prepare(arguments, |_| 0, glob),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GlobArguments {
    /// For example **/*.csv
    pattern: String,
    /// Directory to search. Default: the top directory.
    path: Option<String>,
}

fn glob(arguments: GlobArguments, io: &IoOptions, is_wanted: &dyn Fn() -> bool) -> Result<ToolOutput, FileError> {
    let mut query = GlobQuery::new(arguments.pattern);
    query.path = arguments.path.unwrap_or(query.path);
    (query.max_results, query.max_bytes) = (MAX_NAMES, MAX_NAME_BYTES);
    let found = io.files.glob(&query, is_wanted)?;
    let hint = found.truncated.then(|| "there are more; use a narrower pattern or path".into());
    let text = text(&found.entries, hint, found.skipped, "(no matches)");
    let entries = found.entries.into_iter().map(|info| PathEntry { details: Details::of(&info), path: info.name }).collect();
    Ok(ToolOutput::text(text, &Listing { entries, truncated: found.truncated, skipped: found.skipped }))
}

#[derive(Serialize)]
struct PathEntry {
    path: String,
    #[serde(flatten)]
    details: Details,
}
