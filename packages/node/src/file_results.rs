//! The results of file operations as JSON.

use crate::{errors::Failure, events::Output};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;
use toolscript::files::{
    ContextLine, DeleteResult, EditResult, FileContents, FileError, FileInfo, FileKind, GlobResult, GrepMatch, GrepResult, TruncatedBy,
    WriteResult,
};

/// Lines of a text file, or a whole file whose bytes are a buffer.
pub fn contents(contents: FileContents) -> Result<Output, Failure> {
    match contents {
        FileContents::Text(page) => Output::json(&json!({
            "type": "text",
            "text": page.text,
            "firstLine": page.first_line,
            "lines": page.lines,
            "totalLines": page.total_lines,
            "bytes": page.bytes,
            "truncatedBy": page.truncated_by.map(TruncatedBy::name),
            "lineTruncated": page.line_truncated,
            "lossy": page.lossy,
            "nextLine": page.next_line,
            "numbered": page.numbered(),
        })),
        FileContents::Image { mime_type, bytes } => {
            Ok(Output::json(&json!({ "type": "image", "mimeType": mime_type }))?.with_buffer(bytes))
        }
        FileContents::Binary { bytes } => Ok(Output::json(&json!({ "type": "binary", "mimeType": null }))?.with_buffer(bytes)),
        _ => Err(Failure::internal()),
    }
}

pub fn written(written: &WriteResult) -> Value {
    json!({ "name": written.name, "bytes": written.bytes })
}

pub fn edited(edited: &EditResult) -> Value {
    json!({ "name": edited.name, "count": edited.count, "bytes": edited.bytes })
}

pub fn deleted(deleted: &DeleteResult) -> Value {
    json!({ "name": deleted.name, "files": deleted.files, "directories": deleted.directories })
}

pub fn entries(infos: &[FileInfo]) -> Value {
    infos.iter().map(entry).collect()
}

fn entry(info: &FileInfo) -> Value {
    let kind = match info.kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        _ => "other",
    };
    let modified = info.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|time| time.as_secs_f64() * 1000.0);
    json!({ "name": info.name, "kind": kind, "bytes": info.bytes, "modified": modified })
}

pub fn glob(found: &GlobResult) -> Value {
    json!({ "entries": entries(&found.entries), "truncated": found.truncated, "skipped": found.skipped })
}

pub fn grep(found: &GrepResult) -> Value {
    let context = |lines: &[ContextLine]| -> Value { lines.iter().map(|line| json!({ "line": line.line, "text": line.text })).collect() };
    let line = |line: &GrepMatch| {
        json!({
            "name": line.name,
            "line": line.line,
            "text": line.text,
            "truncated": line.truncated,
            "before": context(&line.before),
            "after": context(&line.after),
        })
    };
    json!({
        "matches": found.matches.iter().map(line).collect::<Value>(),
        "truncated": found.truncated,
        "files": found.files,
        "binary": found.binary,
        "skipped": found.skipped,
    })
}

/// One of several results.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Each {
    Failed {
        failure: Failure,
    },
    Written {
        written: Value,
    },
    /// The bytes are the next buffer.
    Read {
        buffer: bool,
    },
}

pub fn uploaded(results: Vec<Result<WriteResult, FileError>>) -> Result<Output, Failure> {
    let each = |result: Result<WriteResult, FileError>| match result {
        Ok(result) => Each::Written { written: written(&result) },
        Err(error) => Each::Failed { failure: error.into() },
    };
    Output::json(&results.into_iter().map(each).collect::<Vec<_>>())
}

pub fn downloaded(results: Vec<Result<Vec<u8>, FileError>>) -> Result<Output, Failure> {
    let mut buffers = Vec::new();
    let mut each = Vec::new();
    for result in results {
        each.push(match result {
            Ok(bytes) => {
                buffers.push(bytes);
                Each::Read { buffer: true }
            }
            Err(error) => Each::Failed { failure: error.into() },
        });
    }
    Ok(Output { buffers, ..Output::json(&each)? })
}
