//! Modules next to a script that `toolscript run` executes.

use super::{text, toolscript};
use std::{fs, os::unix::fs::symlink, path::Path};
use tempfile::TempDir;

fn write(path: &Path, contents: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, contents).expect("a file");
}

fn directory() -> TempDir {
    let directory = TempDir::new().expect("a directory");
    let write_file = |name: &str, contents: &str| write(&directory.path().join(name), contents);
    write_file("tool/lib/stats.luau", "local sum = require('./sum') return { mean = function(t) return sum(t) / #t end }");
    write_file("tool/lib/sum.lua", "return function(t) local s = 0 for _, n in t do s += n end return s end");
    write_file("tool/both.luau", "return 'next to the script'");
    write_file("tool/secret.txt", "a secret");
    write_file("outside.luau", "return 'outside'");
    write_file("work/toolscript.toml", "[io]\ndir = \"files\"\n");
    write_file("work/files/both.luau", "return 'in the io directory'");
    write_file("work/files/saved.luau", "return 'saved'");
    symlink("../outside.luau", directory.path().join("tool/link.luau")).expect("a link");
    directory
}

/// Runs `tool/main.luau` from the directory `work`, whose configuration names the io directory. Returns both outputs.
fn run(directory: &TempDir, script: &str, options: &[&str]) -> (String, String) {
    fs::write(directory.path().join("tool/main.luau"), script).expect("a script");
    let mut command = toolscript(directory, &[&["run"], options, &["../tool/main.luau"]].concat());
    let output = command.current_dir(directory.path().join("work")).output().expect("output");
    (text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
}

#[test]
fn a_script_requires_modules_next_to_it() {
    let directory = directory();
    let (output, errors) = run(&directory, "return require('./lib/stats').mean({ 1, 2, 6 })", &["--receipt"]);
    assert_eq!(output, "3\n");
    // Reading a module counts like any other read.
    assert!(errors.contains(&format!("\"bytes_read\":{}", 81 + 71)), "{errors}");
}

#[test]
fn modules_of_the_io_directory_are_found_after_those_next_to_the_script() {
    let directory = directory();
    let (output, _) = run(&directory, "return require('./both'), require('@self/saved')", &[]);
    assert_eq!(output, "[\"next to the script\",\"saved\"]\n");
    let script = "io.open('new.luau', 'w'):write('return 7'):close() return require('./new')";
    assert_eq!(run(&directory, script, &[]), ("7\n".into(), "write new.luau (8 bytes)\n".into()));
}

#[test]
fn the_directory_of_a_script_is_only_for_modules() {
    let directory = directory();
    let message = |script: &str, options: &[&str]| run(&directory, script, options).1.lines().next().unwrap_or_default().to_owned();
    assert_eq!(
        message("io.open('secret.txt')", &[]),
        "error: ../tool/main.luau:1: secret.txt: No such file or directory; use io.exists(path) or pcall"
    );
    assert_eq!(message("io.open('both.luau', 'a'):write('x')", &[]), "append both.luau (29 bytes)");
    assert_eq!(fs::read_to_string(directory.path().join("tool/both.luau")).expect("a module"), "return 'next to the script'");
    let tried = "tried secret.txt.luau, secret.txt.lua, secret.txt/init.luau and secret.txt/init.lua";
    assert_eq!(message("require('./secret.txt')", &[]), format!("error: ../tool/main.luau:1: there is no module 'secret.txt': {tried}"));
    assert_eq!(
        message("require('../outside')", &[]),
        "error: ../tool/main.luau:1: invalid module path '../outside': it leaves the io directory"
    );
    assert_eq!(message("require('./link')", &[]), "error: ../tool/main.luau:1: link.luau: symbolic links are not followed");
    assert!(
        message("require('./both')", &["--no-io"])
            .starts_with("error: ../tool/main.luau:1:1: unknown global 'require'; modules need files, which are disabled")
    );
}
