//! `write_file` and `edit_file`.

use super::{Answer, FileTool, Work, changes, count};
use crate::files::WriteMode;
use crate::{mcp::arguments::Wrong, text::one_line};
use serde_json::json;

pub const WRITE: FileTool = FileTool {
    name: "write_file",
    definition: || {
        let description = "Writes a text file in the sandbox and makes the folders on its way. `create` (the default) fails if the file \
            exists, `overwrite` replaces it as a whole, `append` adds to its end.";
        let input = json!({
            "properties": {
                "path": { "type": "string", "description": "Relative path" },
                "content": { "type": "string" },
                "mode": { "enum": ["create", "overwrite", "append"], "default": "create" },
            },
            "required": ["path", "content"],
        });
        let output = json!({
            "properties": {
                "path": { "type": "string" },
                "bytes": { "type": "integer", "description": "Bytes that were written" },
            },
            "required": ["path", "bytes"],
        });
        changes(WRITE.name, "Write a file", description, input, output)
    },
    prepare: |fields| {
        let path = fields.text("path")?;
        let content = fields.text("content")?;
        let mode = match fields.optional_text("mode")?.as_deref() {
            None | Some("create") => WriteMode::Create,
            Some("overwrite") => WriteMode::Overwrite,
            Some("append") => WriteMode::Append,
            Some(_) => return Err(Wrong("`mode` must be `create`, `overwrite` or `append`".into())),
        };
        Ok(Work::new(content.len(), move |io, _| {
            let written = io.files.write(&path, content.as_bytes(), mode, &mut io.write_budget())?;
            let structure = json!({ "path": written.name, "bytes": written.bytes });
            let text = format!("{} written to {}", count(written.bytes, "byte", "bytes"), one_line(&written.name));
            Ok(Answer::changed(text, written.name, structure))
        }))
    },
};

pub const EDIT: FileTool = FileTool {
    name: "edit_file",
    definition: || {
        let description = "Replaces a text in a file of the sandbox. `old` is taken literally and must be there exactly once, unless \
            `all` is true. Line endings are kept.";
        let input = json!({
            "properties": {
                "path": { "type": "string", "description": "Relative path" },
                "old": { "type": "string", "description": "The text to replace, without line numbers" },
                "new": { "type": "string", "description": "The text instead" },
                "all": { "type": "boolean", "default": false, "description": "Replaces it wherever it is" },
            },
            "required": ["path", "old", "new"],
        });
        let output = json!({
            "properties": {
                "path": { "type": "string" },
                "count": { "type": "integer", "description": "How often it was replaced" },
                "bytes": { "type": "integer", "description": "Size of the file now" },
            },
            "required": ["path", "count", "bytes"],
        });
        changes(EDIT.name, "Edit a file", description, input, output)
    },
    prepare: |fields| {
        let path = fields.text("path")?;
        let (old, new) = (fields.text("old")?, fields.text("new")?);
        let all = fields.flag("all")?;
        Ok(Work::new(old.len() + new.len(), move |io, _| {
            let edited = io.files.edit(&path, &old, &new, all, &mut io.write_budget())?;
            let structure = json!({ "path": edited.name, "count": edited.count, "bytes": edited.bytes });
            let text = format!("replaced {} in {}", count(edited.count, "time", "times"), one_line(&edited.name));
            Ok(Answer::changed(text, edited.name, structure))
        }))
    },
};
