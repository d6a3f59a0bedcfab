//! The tools: `execute_script`, those that work on files without a script, and those that tell which functions scripts have.

mod change;
mod docs;
mod find;
mod read;
pub mod script;

pub use docs::{DOCS_TOOLS, DocsTool};

use super::{
    arguments::{Fields, Wrong},
    resources,
};
use crate::{engine::IoOptions, files::FileError};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations, object};
use serde_json::{Value, json};
use std::sync::Arc;

/// Work on files, which may block and asks on the way whether to go on.
type Run = dyn FnOnce(&IoOptions, &dyn Fn() -> bool) -> Result<Answer, FileError> + Send;

/// What such a tool does with the files, once its arguments are known.
pub struct Work {
    /// Bytes that it holds until it is done.
    pub holds: usize,
    pub run: Box<Run>,
}

impl Work {
    fn new(holds: usize, run: impl FnOnce(&IoOptions, &dyn Fn() -> bool) -> Result<Answer, FileError> + Send + 'static) -> Self {
        Self { holds, run: Box::new(run) }
    }
}

/// A tool that works on files.
pub struct FileTool {
    pub name: &'static str,
    pub definition: fn() -> Tool,
    prepare: fn(&mut Fields) -> Result<Work, Wrong>,
}

/// All tools that there are when scripts have files.
pub const FILE_TOOLS: [FileTool; 6] = [read::READ, change::WRITE, change::EDIT, find::LIST, find::GLOB, find::GREP];

impl FileTool {
    /// The tool of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        const { &FILE_TOOLS }.iter().find(|tool| tool.name == name)
    }

    /// Checks the arguments of a call.
    pub fn prepare(&self, arguments: Option<JsonObject>) -> Result<Work, Wrong> {
        let mut fields = Fields::new(arguments);
        let work = (self.prepare)(&mut fields)?;
        fields.finish()?;
        Ok(work)
    }
}

/// What a tool answers.
pub struct Answer {
    /// What a model reads.
    content: Vec<ContentBlock>,
    /// The same for a program.
    structure: Value,
    /// The file that was changed.
    pub changed: Option<String>,
}

impl Answer {
    fn new(text: String, structure: Value) -> Self {
        Self { content: vec![ContentBlock::text(text)], structure, changed: None }
    }

    /// An answer about a file that was changed, with a link to it.
    fn changed(text: String, name: String, structure: Value) -> Self {
        let link = ContentBlock::resource_link(resources::describe(&name, None));
        Self { content: vec![ContentBlock::text(text), link], structure, changed: Some(name) }
    }

    pub fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(self.content);
        result.structured_content = Some(self.structure);
        result
    }
}

/// A tool that only looks.
fn looks(name: &'static str, title: &str, description: &str, input: Value, output: Value) -> Tool {
    let annotations = ToolAnnotations::new().read_only(true).open_world(false);
    define(name, title, description, input, output).with_annotations(annotations)
}

/// A tool that changes files: what was there before may be gone, and a second call is not like none.
fn changes(name: &'static str, title: &str, description: &str, input: Value, output: Value) -> Tool {
    let annotations = ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(false);
    define(name, title, description, input, output).with_annotations(annotations)
}

fn define(name: &'static str, title: &str, description: &str, mut input: Value, mut output: Value) -> Tool {
    for schema in [&mut input, &mut output] {
        schema["type"] = json!("object");
    }
    input["additionalProperties"] = json!(false);
    Tool::new(name, description.to_owned(), object(input)).with_title(title).with_raw_output_schema(Arc::new(object(output)))
}

/// A number of things.
fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
