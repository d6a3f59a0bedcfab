//! `edit_file`.

use super::{FileJob, FileTool, ToolOutput, count, define_destructive, prepare};
use crate::{engine::IoOptions, files::FileError, text::one_line};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const EDIT_FILE: FileTool = FileTool {
    name: "edit_file",
    define: || {
        define_destructive::<EditArguments>(
            EDIT_FILE.name,
            "Edit a file",
            "Replaces text in a file of the sandbox. `old` is literal and must occur exactly once, unless `all` is true.",
        )
    },
    prepare: |arguments, _| {
        prepare(arguments, |arguments: &EditArguments| arguments.old.len() + arguments.new.len(), edit).map(FileJob::changing_files)
    },
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditArguments {
    /// Relative path.
    path: String,
    /// Without line numbers.
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

#[derive(Serialize)]
struct EditOutput {
    path: String,
    /// Number of replacements.
    count: u64,
    /// Size of the file after the edit.
    bytes: u64,
}

fn edit(arguments: EditArguments, io: &IoOptions, _: &dyn Fn() -> bool) -> Result<ToolOutput, FileError> {
    let edited = io.files.edit(&arguments.path, &arguments.old, &arguments.new, arguments.all, &mut io.write_budget())?;
    let output = EditOutput { path: edited.name.clone(), count: edited.count, bytes: edited.bytes };
    let text = format!("replaced {} in {}", count(edited.count, "time", "times"), one_line(&edited.name));
    Ok(ToolOutput::changed(text, edited.name, &output))
}
