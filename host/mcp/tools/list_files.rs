//! `list_files`.

use super::{
    FileTool, ToolOutput, define_read_only,
    file_listing::{Details, Listing, MAX_NAME_BYTES, MAX_NAMES, text},
    prepare,
};
use crate::{
    engine::IoOptions,
    files::{FileError, FileInfo},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const LIST_FILES: FileTool = FileTool {
    name: "list_files",
    define: || {
        define_read_only::<ListArguments>(LIST_FILES.name, "List a directory", "Lists a directory of the sandbox, with sizes and times.")
    },
    prepare: |arguments, _| prepare(arguments, |_| 0, list),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    /// Directory. Default: the top directory.
    path: Option<String>,
}

fn list(arguments: ListArguments, io: &IoOptions, _: &dyn Fn() -> bool) -> Result<ToolOutput, FileError> {
    let infos = io.files.list(arguments.path.as_deref().unwrap_or("."))?;
    let mut bytes = 0;
    let fits = |info: &&FileInfo| {
        bytes += info.name.len();
        bytes <= MAX_NAME_BYTES
    };
    let shown = infos.iter().take(MAX_NAMES).take_while(fits).count();
    let truncated = shown < infos.len();
    let hint = truncated.then(|| format!("{shown} of {} names; use glob_files for the others", infos.len()));
    let text = text(&infos[..shown], hint, 0, "(the directory is empty)");
    let entries = infos.into_iter().take(shown).map(|info| NamedEntry { details: Details::of(&info), name: info.name }).collect();
    Ok(ToolOutput::text(text, &Listing { entries, truncated, skipped: 0 }))
}

#[derive(Serialize)]
struct NamedEntry {
    name: String,
    #[serde(flatten)]
    details: Details,
}
