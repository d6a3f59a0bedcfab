//! `toolscript docs` and `toolscript types` without credentials and without APIs.

use super::{text, toolscript};
use std::fs;
use tempfile::TempDir;

#[test]
fn reading_about_an_api_needs_no_credential() {
    let directory = TempDir::new().expect("a directory");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop.yaml"), directory.path().join("shop.yaml")).expect("a specification");
    let config = "[apis.shop]\nspec = \"shop.yaml\"\nauth_env = \"SHOP_TOKEN_THAT_IS_NOT_SET\"\n";
    fs::write(directory.path().join("toolscript.toml"), config).expect("a configuration");
    let output = toolscript(&directory, &["docs"]).output().expect("output");
    assert_eq!((text(&output.stdout).lines().next(), text(&output.stderr)), (Some("sdk.shop: Pet shop 1.2.0"), ""));
    let output = toolscript(&directory, &["types", "-o", "-"]).output().expect("output");
    assert!(text(&output.stdout).contains("    shop: {\n"), "{}", text(&output.stdout));
    // A script could call the API.
    let output = toolscript(&directory, &["run", "-e", "return 1"]).output().expect("output");
    let message = "error: can't load the API 'shop': the environment variable SHOP_TOKEN_THAT_IS_NOT_SET for the credential is not set\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("", message));
}

#[test]
fn types_without_apis_are_those_of_the_built_ins() {
    let directory = TempDir::new().expect("a directory");
    let output = toolscript(&directory, &["types", "-o", "-"]).output().expect("output");
    let definitions = text(&output.stdout);
    for declaration in [
        "declare io: {",
        "    exists: (path: string) -> boolean,",
        "declare os: {",
        "    remove: (path: string) -> boolean,",
        "    rename: (old: string, new: string) -> boolean,",
        "declare base64: {",
        "declare function sleep(seconds: number): ()",
        "declare function require(path: string): any",
    ] {
        assert!(definitions.lines().any(|line| line == declaration), "{declaration}: {definitions}");
    }
    assert!(!definitions.contains("declare sdk"), "{definitions}");
    assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));
}
