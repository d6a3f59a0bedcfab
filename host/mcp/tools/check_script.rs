//! `check_script`: its definition, its arguments and its result.

use super::{ToolOutput, define_read_only};
use crate::{
    engine::{Diagnostic, NotChecked},
    mcp::arguments::{self, InvalidArgument},
};
use rmcp::model::{JsonObject, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the tool, which a server offers if it is configured.
pub const NAME: &str = "check_script";

/// The arguments of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Luau source text.
    pub script: String,
}

impl Arguments {
    pub fn parse(arguments: Option<JsonObject>) -> Result<Self, InvalidArgument> {
        arguments::parse(arguments)
    }
}

/// Returns the definition of the tool.
pub fn define() -> Tool {
    define_read_only::<Arguments>(NAME, "Check a script", "Finds mistakes in a script without running it.")
}

#[derive(Serialize)]
struct Structure<'a> {
    diagnostics: &'a [Diagnostic],
    /// Why the script was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_checked: Option<String>,
}

/// Returns the mistakes as text and as structured content.
pub fn output(checked: &Result<Vec<Diagnostic>, NotChecked>) -> ToolOutput {
    match checked {
        Ok(diagnostics) => {
            let line = |diagnostic: &Diagnostic| format!("{}{diagnostic}", if diagnostic.is_error() { "" } else { "note: " });
            let lines: Vec<String> = diagnostics.iter().map(line).collect();
            let text = if lines.is_empty() { "no mistakes were found".into() } else { lines.join("\n") };
            ToolOutput::text(text, &Structure { diagnostics, not_checked: None })
        }
        Err(reason) => {
            let not_checked = Some(reason.to_string());
            ToolOutput::text(format!("not checked: {reason}"), &Structure { diagnostics: &[], not_checked })
        }
    }
}
