//! Names that other programs execute or trust are protected in every operation on files, unless that is turned off.

use super::hostile_operations::every_operation;
use crate::{
    sandbox::sandbox,
    support::{IoDir, snapshot},
};
use std::fs;
use toolscript::{
    Files,
    files::{DirectoryError, GlobQuery, GrepQuery},
};

const SWITCH: &str = "; the operator can turn this protection off";

/// Operations that only read.
const READERS: [&str; 9] = ["read", "read_raw", "reader", "download", "grep", "list", "glob", "working directory", "backend read"];

fn planted() -> IoDir {
    let dir = IoDir::new().created();
    for (name, contents) in [(".git/config", "secret"), (".env", "secret"), ("sub/.ENV.production", "secret"), (".ssh/id", "secret")] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, contents).expect("a file");
    }
    dir
}

#[tokio::test]
async fn no_operation_changes_a_file_that_other_programs_execute_or_trust() {
    let dir = planted();
    let sandbox = sandbox(&dir);
    let before = snapshot(dir.outside());
    let mut rejected = 0;
    for (path, name) in
        [(".git/config", ".git"), (".git/hooks/pre-commit", ".git"), ("sub/.VSCode/tasks.json", ".VSCode"), (".bashrc", ".bashrc")]
    {
        for answer in every_operation(&sandbox, path).await {
            if READERS.contains(&answer.operation) || answer.operation == "backend ls" {
                let message = answer.result.err().map(|error| error.to_string()).unwrap_or_default();
                assert!(!message.contains("trust"), "{path} {}: {message}", answer.operation);
                continue;
            }
            let message = format!("{path}: cannot be changed, because other programs execute or trust '{name}'{SWITCH}");
            assert_eq!(answer.message(), message, "{}", answer.operation);
            rejected += 1;
        }
    }
    assert_eq!(rejected, 4 * 8);
    assert_eq!(sandbox.read_raw(".git/config").await.expect("it is readable"), b"secret");
    assert_eq!(snapshot(dir.outside()), before);
}

#[tokio::test]
async fn no_operation_reads_or_changes_credentials() {
    let dir = planted();
    let sandbox = sandbox(&dir);
    let before = snapshot(dir.outside());
    for (path, name) in [(".env", ".env"), ("sub/.ENV.production", ".ENV.production"), (".ssh/id", ".ssh"), (".ssh", ".ssh")] {
        for answer in every_operation(&sandbox, path).await {
            let message = format!("{path}: cannot be read or changed, because '{name}' usually contains credentials{SWITCH}");
            assert_eq!(answer.message(), message, "{}", answer.operation);
        }
    }
    // Searches and listings do not show them either, and still find the readable file.
    let found = sandbox.grep(GrepQuery::new("secret").with_hidden(true)).await.expect("searched");
    assert_eq!(found.matches.iter().map(|found| found.name.as_str()).collect::<Vec<_>>(), [".git/config"]);
    let found = sandbox.glob(GlobQuery::new("**").with_hidden(true)).await.expect("searched");
    assert_eq!(found.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), [".git", ".git/config", "sub"]);
    let listed = sandbox.list(".").await.expect("listed");
    assert_eq!(listed.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), [".git", "sub"]);
    let page = dir.io.files.page(None, 10, &|| true).expect("a page");
    assert_eq!(page.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), [".git/config"]);
    let message = sandbox.glob(GlobQuery::new(".ssh/*")).await.expect_err("the pattern names it").to_string();
    assert_eq!(message, format!(".ssh: cannot be read or changed, because '.ssh' usually contains credentials{SWITCH}"));
    assert_eq!(snapshot(dir.outside()), before);
}

#[tokio::test]
async fn a_subdirectory_with_a_protected_name_is_not_an_io_directory() {
    let dir = planted();
    for name in [".git", ".Ssh", "toolscript.toml"] {
        assert!(matches!(dir.io.files.subdirectory(name), Err(DirectoryError::Reserved)), "{name}");
    }
    let files = dir.io.files.clone().with_protected_names(false);
    files.subdirectory(".git").expect("the protection is off");
    assert!(matches!(files.subdirectory("toolscript.toml"), Err(DirectoryError::Reserved)));
}

#[tokio::test]
async fn protection_can_be_turned_off() {
    let mut dir = planted();
    dir.io = dir.io.clone().with_protected_names(false);
    let script = "io.open('.git/hooks/pre-commit', 'w'):write('#!/bin/sh'):close() os.rename('.env', '.env.old') return io.list()";
    let names: Vec<String> = dir.result(script).await;
    assert_eq!(names, [".env.old", ".git", ".ssh", "sub"]);
    let message = sandbox(&dir).read_raw("toolscript.toml").await.expect_err("it is always reserved").to_string();
    assert_eq!(message, "path cannot contain 'toolscript.toml', a reserved name");
    // A subdirectory has the rules of its parent.
    let below: Files = dir.io.files.subdirectory("sub").expect("a directory");
    assert_eq!(below.read_raw(".ENV.production", 100).expect("the protection is off"), b"secret");
}
