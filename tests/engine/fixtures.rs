//! Scripts beside their exact outcomes. `UPDATE_FIXTURES=1 cargo test fixtures` writes the outcomes anew, for a look at the diff.

use crate::support::{Fixture, engine};
use std::{env, fs};

async fn check(folder: &str) {
    let mut wrong = Vec::new();
    for fixture in Fixture::all(folder) {
        let (_dir, options) = match folder {
            "io" => {
                let (dir, options) = fixture.options_with_io();
                (Some(dir), options)
            }
            _ => (None, fixture.options()),
        };
        let run = engine().run(&fixture.script(), options).await.expect("the run was made");
        let mut actual = serde_json::to_string(&run.outcome).expect("JSON");
        actual.push('\n');
        let expected_path = fixture.path.with_extension("json");
        if env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(&expected_path, &actual).expect("the expected outcome");
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if actual != expected {
            wrong.push(format!("{}\nexpected: {expected}\nactual: {actual}", fixture.name()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn results_are_json_as_designed() {
    check("results").await;
}

#[tokio::test]
async fn errors_say_what_and_where() {
    check("errors").await;
}

#[tokio::test]
async fn the_language_and_its_libraries() {
    check("language").await;
}

#[tokio::test]
async fn files_as_in_lua() {
    check("io").await;
}
