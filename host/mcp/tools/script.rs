//! `execute_script`, as a client sees it.

use crate::{Limits, engine::IoOptions};
use crate::{
    mcp::{
        arguments::{Fields, Wrong},
        description, result,
    },
    sdk::Sdk,
};
use rmcp::model::{JsonObject, Tool, ToolAnnotations, object};
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// The tool that every server has.
pub const EXECUTE_SCRIPT: &str = "execute_script";

/// The tool, as the configuration in force makes it.
pub fn definition(limits: &Limits, io: Option<&IoOptions>, sdk: Option<&Sdk>) -> Tool {
    let input = object(json!({
        "type": "object",
        "properties": {
            "script": { "type": "string", "description": "Luau source text" },
            "timeout_ms": { "type": "integer", "minimum": 1, "description": "Wall time in milliseconds; it only lowers the limit" },
        },
        "required": ["script"],
        "additionalProperties": false,
    }));
    let changes = io.is_some() || sdk.is_some();
    Tool::new(EXECUTE_SCRIPT, description::tool(limits, io, sdk), input)
        .with_title("Execute a Luau script")
        .with_raw_output_schema(Arc::new(result::schema()))
        .with_annotations(ToolAnnotations::new().read_only(!changes).destructive(changes).open_world(sdk.is_some()))
}

/// What a client asks for.
#[derive(Debug, PartialEq)]
pub struct Arguments {
    pub script: String,
    pub timeout: Option<Duration>,
}

impl Arguments {
    /// Checks what came.
    pub fn parse(arguments: Option<JsonObject>) -> Result<Self, Wrong> {
        let mut fields = Fields::new(arguments);
        let script = fields.text("script")?;
        let timeout = fields.whole_number("timeout_ms", 1, " of milliseconds")?.map(Duration::from_millis);
        fields.finish()?;
        Ok(Self { script, timeout })
    }
}
