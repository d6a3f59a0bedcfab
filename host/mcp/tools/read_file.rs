//! `read_file`.

use super::{FileTool, ToolOutput, define_read_only, is_false, prepare};
use crate::{
    engine::IoOptions,
    files::{FileContents, FileError, TextPage},
    mcp::arguments::WholeNumber,
    text::one_line,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use rmcp::model::ContentBlock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum size of an image or another binary file in bytes. An image is sent in one message.
const MAX_BINARY_SIZE: u64 = 4 << 20;

pub const READ_FILE: FileTool = FileTool {
    name: "read_file",
    define: || {
        define_read_only::<Arguments>(
            READ_FILE.name,
            "Read a file",
            "Reads a text file of the sandbox as numbered lines, a part at a time, with the offset of the next part; or an image.",
        )
    },
    prepare: |arguments, inline| prepare(arguments, |_| 0, move |arguments, io, is_wanted| read(arguments, inline, io, is_wanted)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative path.
    path: String,
    /// First line, counted from 1. Default: 1.
    offset: Option<WholeNumber<1>>,
    /// Maximum number of lines. Default: 2,000.
    limit: Option<WholeNumber<0>>,
}

#[derive(Serialize)]
struct Output {
    path: String,
    kind: Kind,
    /// Size of the file.
    bytes: u64,
    #[serde(flatten)]
    text: Option<TextOutput>,
    /// Only for images.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Text,
    Image,
    Binary,
}

#[derive(Serialize)]
struct TextOutput {
    /// The lines without numbers.
    text: String,
    first_line: u64,
    /// Number of lines in this result.
    lines: u64,
    /// Number of lines in the file.
    total_lines: u64,
    /// The limit that truncated the text. Absent if it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated_by: Option<&'static str>,
    /// The line is longer than a page and truncated.
    #[serde(rename = "line_cut", skip_serializing_if = "is_false")]
    line_truncated: bool,
    /// Bytes that are not UTF-8 were replaced by U+FFFD.
    #[serde(skip_serializing_if = "is_false")]
    lossy: bool,
    /// Offset to continue at. Absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
}

fn read(arguments: Arguments, inline: usize, io: &IoOptions, is_wanted: &dyn Fn() -> bool) -> Result<ToolOutput, FileError> {
    let path = arguments.path;
    let offset = arguments.offset.map_or(1, |WholeNumber(line)| line);
    let limit = arguments.limit.map(|WholeNumber(lines)| lines);
    Ok(match io.files.read(&path, offset, limit, MAX_BINARY_SIZE, is_wanted)? {
        FileContents::Text(mut page) => {
            if inline > 0 {
                page.shorten(inline);
            }
            text_output(path, page)
        }
        FileContents::Image { mime_type, bytes } => {
            let output = Output { path, kind: Kind::Image, bytes: bytes.len() as u64, text: None, mime_type: Some(mime_type) };
            ToolOutput::new(ContentBlock::image(BASE64_STANDARD.encode(bytes), mime_type), &output)
        }
        FileContents::Binary { bytes } => {
            let text = format!("({} is a binary file of {} bytes; a script can read it)", one_line(&path), bytes.len());
            ToolOutput::text(text, &Output { path, kind: Kind::Binary, bytes: bytes.len() as u64, text: None, mime_type: None })
        }
    })
}

fn text_output(path: String, page: TextPage) -> ToolOutput {
    let shown = page.numbered_with_notes(page.next_line);
    let text = TextOutput {
        text: page.text,
        first_line: page.first_line,
        lines: page.lines,
        total_lines: page.total_lines,
        truncated_by: page.truncated_by.map(|limit| limit.name()),
        line_truncated: page.line_truncated,
        lossy: page.lossy,
        next_offset: page.next_line,
    };
    ToolOutput::text(shown, &Output { path, kind: Kind::Text, bytes: page.bytes, text: Some(text), mime_type: None })
}
