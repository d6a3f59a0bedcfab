//! `write_file`.

use super::{FileJob, FileTool, ToolOutput, count, define_destructive, prepare};
use crate::{
    engine::IoOptions,
    files::{FileError, WriteMode},
    text::one_line,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const WRITE_FILE: FileTool = FileTool {
    name: "write_file",
    define: || {
        define_destructive::<WriteArguments>(
            WRITE_FILE.name,
            "Write a file",
            "Writes a text file in the sandbox and creates missing directories. `create` fails if the file exists.",
        )
    },
    prepare: |arguments, _| prepare(arguments, |arguments: &WriteArguments| arguments.content.len(), write).map(FileJob::changing_files),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    /// Relative path.
    path: String,
    content: String,
    #[serde(default)]
    mode: Mode,
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Create,
    Overwrite,
    Append,
}

#[derive(Serialize)]
struct WriteOutput {
    path: String,
    /// Number of bytes written.
    bytes: u64,
}

fn write(arguments: WriteArguments, io: &IoOptions, _: &dyn Fn() -> bool) -> Result<ToolOutput, FileError> {
    let mode = match arguments.mode {
        Mode::Create => WriteMode::Create,
        Mode::Overwrite => WriteMode::Overwrite,
        Mode::Append => WriteMode::Append,
    };
    let written = io.files.write(&arguments.path, arguments.content.as_bytes(), mode, &mut io.write_budget())?;
    let output = WriteOutput { path: written.name.clone(), bytes: written.bytes };
    let text = format!("{} written to {}", count(written.bytes, "byte", "bytes"), one_line(&written.name));
    Ok(ToolOutput::changed(text, written.name, &output))
}
