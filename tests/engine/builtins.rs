//! Builtin functions that the interpreter executes itself behave as the functions of the libraries.

use crate::support::engine;
use std::time::Duration;
use toolscript::{Limits, RunOptions, Script};

#[tokio::test]
async fn instructions_of_builtin_functions_behave_as_the_functions() {
    let script = Script::new(include_str!("builtins.luau")).with_arguments(["40000"]);
    let limits = Limits::default().with_timeout(Duration::from_secs(120));
    let run = engine().run(&script, RunOptions::default().with_limits(limits)).await.expect("the run is accepted");
    let report: serde_json::Value = run.outcome.decode().expect("a report");
    assert_eq!(report["mistakes"], serde_json::json!([]));
    assert!(report["compared"].as_u64().is_some_and(|compared| compared > 1_500_000), "{report}");
}
