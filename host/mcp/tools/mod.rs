//! The tools: `execute_script`, the file tools, and the tools that document functions.

pub mod check_script;
mod edit_file;
pub mod execute_script;
mod file_listing;
mod function_docs;
mod glob_files;
mod grep_files;
mod list_files;
mod read_file;
pub mod script_description;
mod write_file;

pub use function_docs::DocsTool;

use super::{
    arguments::{self, InvalidArgument},
    file_job::FileJob,
    file_resources, schema,
};
use crate::{Limits, engine::IoOptions, files::FileError, sdk::Sdk};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Returns the definitions of all tools that the server offers.
pub fn define_all(limits: &Limits, io: Option<&IoOptions>, sdk: Option<&Sdk>, has_check: bool) -> Vec<Tool> {
    let mut tools = vec![execute_script::define(limits, io, sdk)];
    if has_check {
        tools.push(check_script::define());
    }
    if io.is_some() {
        tools.extend(FILE_TOOLS.iter().map(|tool| (tool.define)()));
    }
    if sdk.is_some() {
        tools.extend(function_docs::DOCS_TOOLS.iter().map(|tool| (tool.define)()));
    }
    tools
}

/// The job of a file tool.
type FileToolJob = FileJob<Result<ToolOutput, FileError>>;

/// A tool that accesses files.
pub struct FileTool {
    name: &'static str,
    define: fn() -> Tool,
    /// Decodes the arguments. The number is the size in bytes of a page that a model reads at once, or 0.
    prepare: fn(Option<JsonObject>, usize) -> Result<FileToolJob, InvalidArgument>,
}

/// All file tools. A server with an io directory offers them.
const FILE_TOOLS: [FileTool; 6] = [
    read_file::READ_FILE,
    write_file::WRITE_FILE,
    edit_file::EDIT_FILE,
    list_files::LIST_FILES,
    glob_files::GLOB_FILES,
    grep_files::GREP_FILES,
];

impl FileTool {
    /// Returns the tool with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        const { &FILE_TOOLS }.iter().find(|tool| tool.name == name)
    }

    /// Decodes the arguments of a call and returns the job to run. `inline` is the size in bytes of a page that a model reads at once; 0 is
    /// no limit.
    pub fn prepare(&self, arguments: Option<JsonObject>, inline: usize) -> Result<FileToolJob, InvalidArgument> {
        (self.prepare)(arguments, inline)
    }
}

/// Decodes the arguments of a call and combines them with the function that runs it. `input_bytes` returns the size of the data in
/// the arguments.
fn prepare<A: DeserializeOwned + Send + 'static>(
    arguments: Option<JsonObject>,
    input_bytes: fn(&A) -> usize,
    run: impl FnOnce(A, &IoOptions, &dyn Fn() -> bool) -> Result<ToolOutput, FileError> + Send + 'static,
) -> Result<FileToolJob, InvalidArgument> {
    let arguments: A = arguments::parse(arguments)?;
    Ok(FileJob::new(input_bytes(&arguments), move |io, is_wanted| run(arguments, io, is_wanted)))
}

/// The output of a tool.
pub struct ToolOutput {
    /// The content for the model.
    content: Vec<ContentBlock>,
    /// The same content for a program.
    structure: Value,
    /// The name of the file that the tool changed.
    pub changed_file: Option<String>,
}

impl ToolOutput {
    fn new(content: ContentBlock, structure: &impl Serialize) -> Self {
        let structure = serde_json::to_value(structure).unwrap_or_default();
        Self { content: vec![content], structure, changed_file: None }
    }

    fn text(text: impl Into<String>, structure: &impl Serialize) -> Self {
        Self::new(ContentBlock::text(text), structure)
    }

    /// Returns the output of a tool that changed a file, with a link to the file.
    fn changed(text: String, name: String, structure: &impl Serialize) -> Self {
        let mut output = Self::text(text, structure);
        output.content.push(ContentBlock::resource_link(file_resources::describe(&name, None)));
        output.changed_file = Some(name);
        output
    }

    pub fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(self.content);
        result.structured_content = Some(self.structure);
        result
    }
}

/// Defines a tool that changes nothing, with the type of its arguments `A`.
///
/// Only `execute_script` has an output schema. A model pays for schemas in every conversation, and the texts of the other tools need no
/// explanation.
fn define_read_only<A: JsonSchema>(name: &'static str, title: &str, description: &'static str) -> Tool {
    let annotations = ToolAnnotations::new().read_only(true).open_world(false);
    define::<A>(name, title, description).with_annotations(annotations)
}

/// Defines a tool that changes files. It may overwrite data, and a repeated call has another effect.
fn define_destructive<A: JsonSchema>(name: &'static str, title: &str, description: &'static str) -> Tool {
    let annotations = ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(false);
    define::<A>(name, title, description).with_annotations(annotations)
}

fn define<A: JsonSchema>(name: &'static str, title: &str, description: &'static str) -> Tool {
    Tool::new(name, description, schema::of_input::<A>()).with_title(title)
}

/// Returns a number with its noun, such as `1 file` or `3 files`.
fn count(number: u64, singular: &str, plural: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { plural })
}

/// Returns `true` if the value is `false`, to leave it out of an output.
fn is_false(value: &bool) -> bool {
    !value
}
