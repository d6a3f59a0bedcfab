//! `read_file`.

use super::{Answer, FileTool, Work, looks};
use crate::files::{FileContents, TextPage};
use crate::text::one_line;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use rmcp::model::ContentBlock;
use serde_json::{Map, Value, json};

/// Bytes of an image or of other binary contents: an image becomes one message.
const MAX_BYTES: u64 = 4 << 20;

pub const READ: FileTool = FileTool {
    name: "read_file",
    definition: || {
        let description = "Reads a file of the sandbox: lines with their numbers in front, at most 2,000 lines or 50 KiB at once, or an \
            image (PNG, JPEG, GIF, WebP). Says how many lines there are and where to go on. Of other binary files only the size; those of more than 4 MiB are refused.";
        let input = json!({
            "properties": {
                "path": { "type": "string", "description": "Relative path" },
                "offset": { "type": "integer", "minimum": 1, "description": "First line, counted from 1; 1 if absent" },
                "limit": { "type": "integer", "minimum": 0, "description": "Lines at most; 2,000 if absent" },
            },
            "required": ["path"],
        });
        let output = json!({
            "properties": {
                "path": { "type": "string" },
                "kind": { "enum": ["text", "image", "binary"] },
                "bytes": { "type": "integer", "description": "Size of the file" },
                "text": { "type": "string", "description": "The lines as they are, without numbers" },
                "first_line": { "type": "integer" },
                "lines": { "type": "integer", "description": "Lines in this answer" },
                "total_lines": { "type": "integer", "description": "Lines of the file" },
                "truncated_by": { "enum": ["lines", "bytes"], "description": "Which limit cut it; absent if nothing was cut" },
                "line_cut": { "type": "boolean", "description": "Only the start of the line is here: it is longer than 50 KiB" },
                "lossy": { "type": "boolean", "description": "Some bytes are not UTF-8, and U+FFFD is in their place" },
                "next_offset": { "type": "integer", "description": "Where to go on; absent at the end" },
                "mime_type": { "type": "string", "description": "Of an image" },
            },
            "required": ["path", "kind", "bytes"],
        });
        looks(READ.name, "Read a file", description, input, output)
    },
    prepare: |fields| {
        let path = fields.text("path")?;
        let offset = fields.whole_number("offset", 1, "")?.unwrap_or(1);
        let limit = fields.whole_number("limit", 0, "")?;
        Ok(Work::new(0, move |io, is_wanted| Ok(answer(&path, io.files.read(&path, offset, limit, MAX_BYTES, is_wanted)?))))
    },
};

fn answer(path: &str, contents: FileContents) -> Answer {
    match contents {
        FileContents::Text(part) => text(path, &part),
        FileContents::Image { mime_type, bytes } => {
            let structure = json!({ "path": path, "kind": "image", "bytes": bytes.len(), "mime_type": mime_type });
            Answer { content: vec![ContentBlock::image(BASE64_STANDARD.encode(bytes), mime_type)], structure, changed: None }
        }
        FileContents::Binary { bytes } => {
            let structure = json!({ "path": path, "kind": "binary", "bytes": bytes.len() });
            Answer::new(format!("({} is no text: {} bytes; a script can read them)", one_line(path), bytes.len()), structure)
        }
    }
}

fn text(path: &str, part: &TextPage) -> Answer {
    let mut structure = Map::from_iter([
        ("path".to_owned(), json!(path)),
        ("kind".to_owned(), json!("text")),
        ("bytes".to_owned(), json!(part.bytes)),
        ("text".to_owned(), json!(part.text)),
        ("first_line".to_owned(), json!(part.first_line)),
        ("lines".to_owned(), json!(part.lines)),
        ("total_lines".to_owned(), json!(part.total_lines)),
    ]);
    if part.line_truncated {
        structure.insert("line_cut".into(), json!(true));
    }
    if part.lossy {
        structure.insert("lossy".into(), json!(true));
    }
    if let Some(cut_by) = part.truncated_by {
        structure.insert("truncated_by".into(), json!(cut_by.name()));
    }
    if let Some(next) = part.next_line {
        structure.insert("next_offset".into(), json!(next));
    }
    Answer::new(part.numbered_with_notes(part.next_line), Value::Object(structure))
}
