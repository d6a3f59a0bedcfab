//! `list_files` and `glob_files`.

use super::{FileTool, ToolOutput, count, define_read_only, prepare};
use crate::{
    engine::IoOptions,
    files::{FileError, FileInfo, FileKind, GlobQuery},
    text::one_line,
    timestamp::format_rfc3339,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum number of names in one result.
const MAX_NAMES: usize = 1000;

/// The maximum size of all names in one result in bytes.
const MAX_NAME_BYTES: usize = 50 << 10;

pub const LIST_FILES: FileTool = FileTool {
    name: "list_files",
    define: || {
        define_read_only::<ListArguments, Listing<NamedEntry>>(
            LIST_FILES.name,
            "List a directory",
            "Lists a directory of the sandbox: sorted names, sizes, modification times. Directories end with a slash.",
        )
    },
    prepare: |arguments| prepare(arguments, |_| 0, list),
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

pub const GLOB_FILES: FileTool = FileTool {
    name: "glob_files",
    define: || {
        define_read_only::<GlobArguments, Listing<PathEntry>>(
            GLOB_FILES.name,
            "Find files by name",
            "Finds files and directories of the sandbox by a pattern for their paths: * and ? within a name, [a-z], {a,b}, ** for \
             directories at any depth. A name that starts with a dot needs a pattern with that dot.",
        )
    },
    prepare: |arguments| prepare(arguments, |_| 0, glob),
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

#[derive(Serialize, JsonSchema)]
struct Listing<E> {
    entries: Vec<E>,
    /// There are more entries.
    truncated: bool,
    /// Names that are not UTF-8, and directories that could not be read.
    skipped: u64,
}

#[derive(Serialize, JsonSchema)]
struct NamedEntry {
    name: String,
    #[serde(flatten)]
    details: Details,
}

#[derive(Serialize, JsonSchema)]
struct PathEntry {
    path: String,
    #[serde(flatten)]
    details: Details,
}

#[derive(Serialize, JsonSchema)]
struct Details {
    #[schemars(extend("enum" = ["file", "folder", "link", "other"]))]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Time of the last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
}

impl Details {
    fn of(info: &FileInfo) -> Self {
        Self {
            kind: info.kind.name(),
            bytes: (info.kind == FileKind::File).then_some(info.bytes),
            modified: info.modified.and_then(format_rfc3339),
        }
    }
}

/// Returns a listing as lines of text.
fn text(infos: &[FileInfo], hint: Option<String>, skipped: u64, if_empty: &str) -> String {
    let mut lines: Vec<String> = infos.iter().map(line).collect();
    if lines.is_empty() {
        lines.push(if_empty.into());
    }
    lines.extend(hint.map(|hint| format!("({hint})")));
    if skipped > 0 {
        lines.push(format!("({} skipped: not UTF-8, or not readable)", count(skipped, "name", "names")));
    }
    lines.join("\n")
}

fn line(info: &FileInfo) -> String {
    let size_or_kind = match info.kind {
        FileKind::Directory => return format!("{}/", one_line(&info.name)),
        FileKind::File => count(info.bytes, "byte", "bytes"),
        other => other.name().into(),
    };
    let modified = info.modified.and_then(format_rfc3339).map(|time| format!(", {time}")).unwrap_or_default();
    format!("{} ({size_or_kind}{modified})", one_line(&info.name))
}
