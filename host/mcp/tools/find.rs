//! `list_files`, `glob_files` and `grep_files`.

use super::{Answer, FileTool, Work, count, looks};
use crate::files::{FileInfo, FileKind, GlobQuery, GrepQuery};
use crate::{text::one_line, timestamp::format_rfc3339};
use serde_json::{Value, json};

/// Names in one answer, and bytes of them all: what a model can read in one go.
const MAX_NAMES: usize = 1000;
const MAX_BYTES: usize = 50 << 10;

pub const LIST: FileTool = FileTool {
    name: "list_files",
    definition: || {
        let description = "Lists one folder of the sandbox: names, sorted, with sizes and times of change. Folders end with a slash.";
        let input = json!({ "properties": { "path": { "type": "string", "description": "Folder; the top one if absent" } } });
        looks(LIST.name, "List a folder", description, input, entries_schema("name"))
    },
    prepare: |fields| {
        let path = fields.optional_text("path")?.unwrap_or_else(|| ".".into());
        Ok(Work::new(0, move |io, _| {
            let infos = io.files.list(&path)?;
            let mut bytes = 0;
            let fits = |info: &&FileInfo| {
                bytes += info.name.len();
                bytes <= MAX_BYTES
            };
            let shown = infos.iter().take(MAX_NAMES).take_while(fits).count();
            let truncated = shown < infos.len();
            let hint = truncated.then(|| format!("{shown} of {} names; use glob_files for the others", infos.len()));
            Ok(entries("name", &infos[..shown], truncated, 0, hint, "(the folder is empty)"))
        }))
    },
};

pub const GLOB: FileTool = FileTool {
    name: "glob_files",
    definition: || {
        let description = "Finds files and folders of the sandbox by a pattern for their paths: * and ? within a name, [a-z], {a,b}, ** for \
            folders at any depth. Names that begin with a dot are found only by a pattern with that dot.";
        let input = json!({
            "properties": {
                "pattern": { "type": "string", "description": "For example **/*.csv" },
                "path": { "type": "string", "description": "Folder to look in; the top one if absent" },
            },
            "required": ["pattern"],
        });
        looks(GLOB.name, "Find files by name", description, input, entries_schema("path"))
    },
    prepare: |fields| {
        let mut query = GlobQuery::new(fields.text("pattern")?);
        query.path = fields.optional_text("path")?.unwrap_or(query.path);
        (query.max_results, query.max_bytes) = (MAX_NAMES, MAX_BYTES);
        Ok(Work::new(0, move |io, is_wanted| {
            let found = io.files.glob(&query, is_wanted)?;
            let hint = found.truncated.then(|| "there are more; use a narrower pattern or path".into());
            Ok(entries("path", &found.entries, found.truncated, found.skipped, hint, "(nothing fits)"))
        }))
    },
};

pub const GREP: FileTool = FileTool {
    name: "grep_files",
    definition: || {
        let description = "Finds lines in files of the sandbox. `pattern` is a literal text, or with `regex` a regular expression. Binary \
            files are skipped. At most 1,000 lines and 50 KiB.";
        let input = json!({
            "properties": {
                "pattern": { "type": "string" },
                "path": { "type": "string", "description": "Folder or file to look in; the top folder if absent" },
                "glob": { "type": "string", "description": "Which files: a pattern for their names, or with a slash for their paths" },
                "regex": { "type": "boolean", "default": false },
            },
            "required": ["pattern"],
        });
        let output = json!({
            "properties": {
                "matches": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": { "type": "string" },
                            "line": { "type": "integer" },
                            "text": { "type": "string" },
                            "cut": { "type": "boolean", "description": "Only the start of a line of more than 1 KiB" },
                        },
                        "required": ["path", "line", "text"],
                    },
                },
                "files": { "type": "integer", "description": "Files that were searched" },
                "binary": { "type": "integer", "description": "Binary files that were skipped" },
                "skipped": { "type": "integer", "description": "Files that could not be read" },
                "truncated": { "type": "boolean", "description": "There are more matches" },
            },
            "required": ["matches", "files", "truncated"],
        });
        looks(GREP.name, "Search in files", description, input, output)
    },
    prepare: |fields| {
        let mut query = GrepQuery::new(fields.text("pattern")?);
        query.path = fields.optional_text("path")?.unwrap_or(query.path);
        query.glob = fields.optional_text("glob")?;
        query.regex = fields.flag("regex")?;
        Ok(Work::new(0, move |io, is_wanted| {
            let found = io.files.grep(&query, is_wanted)?;
            let mut lines = Vec::new();
            let mut matches = Vec::new();
            for found in &found.matches {
                lines.push(format!(
                    "{}:{}: {}{}",
                    one_line(&found.name),
                    found.line,
                    found.text,
                    if found.truncated { " (cut)" } else { "" }
                ));
                let mut entry = json!({ "path": found.name, "line": found.line, "text": found.text });
                if found.truncated {
                    entry["cut"] = json!(true);
                }
                matches.push(entry);
            }
            if lines.is_empty() {
                lines.push(format!("(no line in {})", count(found.files, "file", "files")));
            }
            if found.truncated {
                lines.push("(there are more; use a narrower pattern, path or glob)".into());
            }
            if found.binary > 0 {
                lines.push(format!("({} skipped)", count(found.binary, "binary file", "binary files")));
            }
            if found.skipped > 0 {
                lines.push(format!("({} could not be read)", count(found.skipped, "file", "files")));
            }
            let structure = json!({
                "matches": matches,
                "files": found.files,
                "binary": found.binary,
                "skipped": found.skipped,
                "truncated": found.truncated,
            });
            Ok(Answer::new(lines.join("\n"), structure))
        }))
    },
};

fn entries_schema(key: &str) -> Value {
    json!({
        "properties": {
            "entries": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        key: { "type": "string" },
                        "kind": { "enum": ["file", "folder", "link", "other"] },
                        "bytes": { "type": "integer" },
                        "modified": { "type": "string", "description": "Time of the last change" },
                    },
                    "required": [key, "kind"],
                },
            },
            "truncated": { "type": "boolean", "description": "There are more" },
            "skipped": { "type": "integer", "description": "Names that are not UTF-8, and folders that could not be read" },
        },
        "required": ["entries", "truncated"],
    })
}

fn entries(key: &str, infos: &[FileInfo], truncated: bool, skipped: u64, hint: Option<String>, nothing: &str) -> Answer {
    let mut lines: Vec<String> = infos.iter().map(line).collect();
    if lines.is_empty() {
        lines.push(nothing.into());
    }
    lines.extend(hint.map(|hint| format!("({hint})")));
    if skipped > 0 {
        lines.push(format!("({} left out: not UTF-8, or not readable)", count(skipped, "name", "names")));
    }
    let entries: Vec<Value> = infos.iter().map(|info| entry(key, info)).collect();
    Answer::new(lines.join("\n"), json!({ "entries": entries, "truncated": truncated, "skipped": skipped }))
}

fn line(info: &FileInfo) -> String {
    let what = match info.kind {
        FileKind::Directory => return format!("{}/", one_line(&info.name)),
        FileKind::File => count(info.bytes, "byte", "bytes"),
        other => other.name().into(),
    };
    let modified = info.modified.and_then(format_rfc3339).map(|time| format!(", {time}")).unwrap_or_default();
    format!("{} ({what}{modified})", one_line(&info.name))
}

fn entry(key: &str, info: &FileInfo) -> Value {
    let mut entry = json!({ key: info.name, "kind": info.kind.name() });
    if info.kind == FileKind::File {
        entry["bytes"] = json!(info.bytes);
    }
    if let Some(time) = info.modified.and_then(format_rfc3339) {
        entry["modified"] = json!(time);
    }
    entry
}
