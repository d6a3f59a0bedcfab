//! Lists of files and directories, as `list_files` and `glob_files` return them.

use super::count;
use crate::{
    files::{FileInfo, FileKind},
    text::one_line,
    timestamp::format_rfc3339,
};
use serde::Serialize;

/// The maximum number of names in one result.
pub const MAX_NAMES: usize = 1000;

/// The maximum size of all names in one result in bytes.
pub const MAX_NAME_BYTES: usize = 50 << 10;

#[derive(Serialize)]
pub struct Listing<E> {
    pub entries: Vec<E>,
    /// There are more entries.
    pub truncated: bool,
    /// Names that are not UTF-8, and directories that could not be read.
    pub skipped: u64,
}

#[derive(Serialize)]
pub struct Details {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Time of the last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
}

impl Details {
    pub fn of(info: &FileInfo) -> Self {
        Self {
            kind: info.kind.name(),
            bytes: (info.kind == FileKind::File).then_some(info.bytes),
            modified: info.modified.and_then(format_rfc3339),
        }
    }
}

/// Returns a listing as lines of text.
pub fn text(infos: &[FileInfo], hint: Option<String>, skipped: u64, if_empty: &str) -> String {
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
