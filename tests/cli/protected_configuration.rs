//! A script must never be able to write the configuration of the next start, which can name commands to execute.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

const ATTACK: &str = "local f = io.open('toolscript.toml', 'w') \
    f:write('[mcp_servers.x]\\ncommand = \"touch\"\\nargs = [\"executed\"]\\n') f:close() return 'written'";

fn toolscript(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.current_dir(directory).args(arguments).env_remove("TOOLSCRIPT_LOG").stdin(Stdio::null()).output().expect("it runs")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

/// Asserts that the io directory is rejected as a usage error, and that the script did not run.
fn rejected(output: &Output, io_dir: &str, contents: &str) {
    let fix = "use a subdirectory such as --io-dir ./files, or a configuration elsewhere with --config";
    assert_eq!(stderr(output), format!("error: {io_dir}: it contains {contents}; {fix}\n"));
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b""[..], Some(2)));
}

/// The error of the attack when the io directory itself is accepted.
fn rejected_attack() -> String {
    let message = "path cannot contain 'toolscript.toml', a reserved name";
    format!("error: script:1: {message}\n  1 | {ATTACK}\n    | {}\n  at [C] function open\n  at script:1\n", "^".repeat(ATTACK.len()))
}

const WORKING_DIRECTORY: &str = "the working directory, from which toolscript.toml is read";

#[test]
fn an_io_dir_that_contains_the_working_directory_is_rejected() {
    let outer = TempDir::new().expect("a directory");
    let working = outer.path().join("project/deep");
    fs::create_dir_all(&working).expect("a directory");
    symlink(&working, outer.path().join("link")).expect("a symlink");
    let (here, above) = (working.to_str().expect("a path"), outer.path().to_str().expect("a path"));
    for directory in [&working, &outer.path().join("link")] {
        for io_dir in [".", here, above] {
            let output = toolscript(directory, &["run", "-e", ATTACK, "--io-dir", io_dir]);
            rejected(&output, &format!("--io-dir {io_dir}"), WORKING_DIRECTORY);
        }
    }
    rejected(&toolscript(&working, &["serve", "--io-dir", "."]), "--io-dir .", WORKING_DIRECTORY);
    rejected(&toolscript(&working, &["files", "ls", "--io-dir", "."]), "--io-dir .", WORKING_DIRECTORY);
    assert!(!working.join("toolscript.toml").exists());
}

#[test]
fn an_io_dir_that_contains_the_configuration_is_rejected() {
    let outer = TempDir::new().expect("a directory");
    let path = |name: &str| outer.path().join(name);
    for directory in ["working", "settings", "shared"] {
        fs::create_dir(path(directory)).expect("a directory");
    }
    fs::write(path("settings/my.toml"), "[io]\ndir = \".\"\n").expect("a file");
    rejected(
        &toolscript(outer.path(), &["run", "-e", ATTACK, "--config", "settings/my.toml"]),
        "[io] dir settings/.",
        "the configuration settings/my.toml",
    );
    fs::write(path("shared/real.toml"), "").expect("a file");
    symlink(path("shared/real.toml"), path("working/toolscript.toml")).expect("a symlink");
    let shared = path("shared");
    let output = toolscript(&path("working"), &["run", "-e", ATTACK, "--io-dir", shared.to_str().expect("a path")]);
    rejected(&output, &format!("--io-dir {}", shared.display()), "the configuration toolscript.toml");
    let output = toolscript(&path("working"), &["run", "-e", ATTACK, "--io-dir", "."]);
    rejected(&output, "--io-dir .", "the configuration toolscript.toml");
    // With the configuration elsewhere the directory is accepted, and the attack fails on the reserved name.
    let output = toolscript(&path("settings"), &["run", "-e", ATTACK, "--io-dir", ".", "--config", "../shared/real.toml"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(stderr(&output), rejected_attack());
    assert!(!path("settings/toolscript.toml").exists());
}

#[test]
fn an_attack_on_the_next_start_fails() {
    let directory = TempDir::new().expect("a directory");
    let written = toolscript(directory.path(), &["run", "-e", ATTACK, "--io-dir", "files"]);
    assert_eq!(stderr(&written), rejected_attack());
    let next = toolscript(directory.path(), &["run", "-e", "return 'unharmed'", "--io-dir", "files"]);
    assert_eq!((next.stdout.as_slice(), next.status.code()), (&b"\"unharmed\"\n"[..], Some(0)));
    assert!(!directory.path().join("executed").exists());
}

#[test]
fn a_script_writes_a_git_hook_only_if_the_configuration_allows_it() {
    let directory = TempDir::new().expect("a directory");
    let attack = "io.open('.git/hooks/pre-commit', 'w'):write('x'):close()";
    let run = || toolscript(directory.path(), &["run", "-e", attack, "--io-dir", "files"]);
    assert_eq!(
        stderr(&run()),
        format!(
            "error: script:1: .git/hooks/pre-commit: cannot be changed, because other programs execute or trust '.git'; \
             the operator can turn this protection off\n  1 | {attack}\n    | {}\n  at [C] function open\n  at script:1\n",
            "^".repeat(attack.len())
        )
    );
    assert!(!directory.path().join("files").exists());
    fs::write(directory.path().join("toolscript.toml"), "[io]\nprotect_names = false\n").expect("a file");
    assert_eq!(run().status.code(), Some(0));
    assert!(directory.path().join("files/.git/hooks/pre-commit").exists());
}
