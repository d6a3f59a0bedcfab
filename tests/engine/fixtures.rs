//! Script fixtures and their exact outcomes. `UPDATE_FIXTURES=1 cargo test fixtures` updates the outcomes.

use crate::support::{Fixture, engine};
use std::{env, fs};
use toolscript::engine::CheckMode;

async fn check(directory: &str) {
    let mut failures = Vec::new();
    for fixture in Fixture::all(directory) {
        let (_io_dir, options) = match directory {
            "io" => {
                let (io_dir, options) = fixture.options_with_io();
                (Some(io_dir), options)
            }
            _ => (None, fixture.options()),
        };
        let run = engine().run(&fixture.script(), options).await.expect("the run is accepted");
        let mut actual = serde_json::to_string(&run.outcome).expect("JSON");
        actual.push('\n');
        let expected_path = fixture.path.with_extension("json");
        if env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(&expected_path, &actual).expect("the expected outcome");
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        // What works is not rejected by the check.
        if run.outcome.result.is_ok() {
            let (_io_dir, options) = fixture.options_with_io();
            let options = if directory == "io" { options } else { fixture.options() };
            let checked = engine().run(&fixture.script(), options.with_check(CheckMode::Errors)).await.expect("the run is accepted");
            if let Err(error) = checked.outcome.result {
                failures.push(format!("{}: {error}", fixture.name()));
            }
            // The same script costs the same fuel.
            if checked.receipt.fuel != run.receipt.fuel {
                failures.push(format!("{}: {} units of fuel, then {}", fixture.name(), run.receipt.fuel, checked.receipt.fuel));
            }
        }
        if actual != expected {
            failures.push(format!("{}\nexpected: {expected}\nactual: {actual}", fixture.name()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn results_are_encoded_as_json() {
    check("results").await;
}

#[tokio::test]
async fn errors_have_a_message_and_a_position() {
    check("errors").await;
}

#[tokio::test]
async fn language_and_libraries_behave_as_documented() {
    check("language").await;
}

#[tokio::test]
async fn the_io_library_behaves_as_in_lua() {
    check("io").await;
}
