//! The prompt `write-script`: a guide for models, for clients that use prompts.

use super::arguments::{invalid_params, truncate};
use rmcp::{
    ErrorData,
    model::{GetPromptResult, Prompt, PromptMessage, Role},
};

const NAME: &str = "write-script";

const DESCRIPTION: &str = "How to write a script for execute_script, with two examples";

/// The same text as the page for people who paste it into a system prompt.
const GUIDE: &str = include_str!("../../docs/for-models.md");

/// Lists the prompts.
pub fn list() -> Vec<Prompt> {
    vec![Prompt::new(NAME, Some(DESCRIPTION), None).with_title("Write a script")]
}

/// Returns the messages of a prompt.
pub fn get(name: &str) -> Result<GetPromptResult, ErrorData> {
    if name != NAME {
        return Err(invalid_params(&format!("`name`: unknown prompt `{}`; see prompts/list", truncate(name))));
    }
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, GUIDE)]).with_description(DESCRIPTION))
}
