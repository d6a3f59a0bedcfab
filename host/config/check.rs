//! `[check]`: the check of scripts before they run.

use crate::engine::CheckMode;
use serde::Deserialize;

/// `[check]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckSection {
    mode: Option<CheckMode>,
    /// The MCP server offers the tool `check_script`.
    pub tool: bool,
}

impl CheckSection {
    /// Returns what happens with mistakes. By default, a script with an error does not run.
    #[must_use]
    pub fn mode(&self) -> CheckMode {
        self.mode.unwrap_or(CheckMode::Errors)
    }
}
