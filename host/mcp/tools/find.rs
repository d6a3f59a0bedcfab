//! `list_files`, `glob_files` and `grep_files`.

use super::{Answer, FileTool, count, looks};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};
use toolscript::{FileInfo, FileKind, GlobQuery, GrepQuery};

/// Names in one answer: what a model can read in one go.
const MAX_NAMES: usize = 1000;

pub const LIST: FileTool = FileTool {
    name: "list_files",
    definition: || {
        let description = "Lists one folder of the sandbox: names, sorted, with sizes and times of change. Folders end with a slash.";
        let input = json!({ "properties": { "path": { "type": "string", "description": "Folder; the top one if absent" } } });
        looks(LIST.name, "List a folder", description, input, entries_schema())
    },
    prepare: |fields| {
        let path = fields.optional_text("path")?.unwrap_or_else(|| ".".into());
        Ok(Box::new(move |io, _| {
            let infos = io.files.list(&path)?;
            let truncated = infos.len() > MAX_NAMES;
            let hint = truncated.then(|| format!("{} names; use glob_files for the others", infos.len()));
            Ok(entries(&infos[..infos.len().min(MAX_NAMES)], truncated, 0, hint, "(the folder is empty)"))
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
        looks(GLOB.name, "Find files by name", description, input, entries_schema())
    },
    prepare: |fields| {
        let mut query = GlobQuery::new(fields.text("pattern")?);
        query.path = fields.optional_text("path")?.unwrap_or(query.path);
        query.max_results = MAX_NAMES;
        Ok(Box::new(move |io, is_wanted| {
            let found = io.files.glob(&query, is_wanted)?;
            let hint = found.truncated.then(|| format!("there are more than {MAX_NAMES}; use a narrower pattern"));
            Ok(entries(&found.entries, found.truncated, found.skipped, hint, "(nothing fits)"))
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
        Ok(Box::new(move |io, is_wanted| {
            let found = io.files.grep(&query, is_wanted)?;
            let mut lines = Vec::new();
            let mut matches = Vec::new();
            for found in &found.matches {
                lines.push(format!("{}:{}: {}{}", found.name, found.line, found.text, if found.cut { " (cut)" } else { "" }));
                let mut entry = json!({ "path": found.name, "line": found.line, "text": found.text });
                if found.cut {
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

fn entries_schema() -> Value {
    json!({
        "properties": {
            "entries": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string", "description": "The name in a listing, the whole path in a search" },
                        "kind": { "enum": ["file", "folder", "link", "other"] },
                        "bytes": { "type": "integer" },
                        "modified": { "type": "string", "description": "Time of the last change" },
                    },
                    "required": ["path", "kind"],
                },
            },
            "truncated": { "type": "boolean", "description": "There are more" },
            "skipped": { "type": "integer", "description": "Names that are not UTF-8, and folders that could not be read" },
        },
        "required": ["entries", "truncated"],
    })
}

fn entries(infos: &[FileInfo], truncated: bool, skipped: u64, hint: Option<String>, nothing: &str) -> Answer {
    let mut lines: Vec<String> = infos.iter().map(line).collect();
    if lines.is_empty() {
        lines.push(nothing.into());
    }
    lines.extend(hint.map(|hint| format!("({hint})")));
    if skipped > 0 {
        lines.push(format!("({} left out: not UTF-8, or not readable)", count(skipped, "name", "names")));
    }
    let entries: Vec<Value> = infos.iter().map(entry).collect();
    Answer::new(lines.join("\n"), json!({ "entries": entries, "truncated": truncated, "skipped": skipped }))
}

fn line(info: &FileInfo) -> String {
    let what = match info.kind {
        FileKind::Folder => return format!("{}/", info.name),
        FileKind::File => count(info.bytes, "byte", "bytes"),
        other => other.name().into(),
    };
    let modified = info.modified.map(|time| format!(", {}", moment(time))).unwrap_or_default();
    format!("{} ({what}{modified})", info.name)
}

fn entry(info: &FileInfo) -> Value {
    let mut entry = json!({ "path": info.name, "kind": info.kind.name() });
    if info.kind == FileKind::File {
        entry["bytes"] = json!(info.bytes);
    }
    if let Some(time) = info.modified {
        entry["modified"] = json!(moment(time));
    }
    entry
}

/// As everybody writes it: 2026-11-17T12:34:56Z.
fn moment(time: std::time::SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true)
}
