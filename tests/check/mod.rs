//! The check of scripts before they run: what it finds, and that it rejects nothing that works.

mod cli;
mod findings;
mod hostile_scripts;
mod mcp;
mod mutations;
mod random_scripts;

use crate::support::engine;
use std::{path::Path, sync::Arc};
use toolscript::{
    Script,
    engine::{Definitions, Diagnostic, NotChecked},
    sdk::{ApiOptions, Sdk},
};

/// Loads a specification as the API `name`.
async fn api(name: &str, path: &str) -> Arc<Sdk> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let sdk = Sdk::builder().api(name, ApiOptions::new(path.to_string_lossy())).build().await;
    Arc::new(sdk.expect("a specification"))
}

/// Checks a script with the functions of an API.
async fn check(script: &str, sdk: Option<&Arc<Sdk>>) -> Result<Vec<Diagnostic>, NotChecked> {
    let script = Script::new(script);
    let definitions = Definitions::for_script(&script, sdk.map(|sdk| sdk as _));
    engine().check(&script, &definitions).await
}

/// Returns the mistakes of a script, each as `line:column: message`, with `note: ` in front of those that are not certain.
async fn found(script: &str, sdk: Option<&Arc<Sdk>>) -> Vec<String> {
    let mistakes = check(script, sdk).await.expect("the script is checked");
    let text = |mistake: &Diagnostic| {
        let note = if mistake.is_error() { "" } else { "note: " };
        format!("{note}{}:{}: {}", mistake.line, mistake.column, mistake.message)
    };
    mistakes.iter().map(text).collect()
}
