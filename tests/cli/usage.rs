//! Command-line arguments: errors, help and version.

use super::{rejected, run, text, toolscript};
use std::fs;
use tempfile::TempDir;

#[test]
fn wrong_usage_prints_one_line_and_exits_with_2() {
    rejected(&run(&["run", "missing.luau"]), "can't read the script missing.luau: No such file or directory (os error 2)");
    rejected(&run(&["run", "."]), "can't read the script .: Is a directory (os error 21)");
    rejected(&run(&["run", "x", "--fule", "1"]), "unexpected argument '--fule' found; did you mean '--fuel'? (see 'toolscript --help')");
    rejected(
        &run(&["run", "x", "--for-the-script"]),
        "unexpected argument '--for-the-script' found; to pass '--for-the-script' as a value, use '-- --for-the-script' (see 'toolscript --help')",
    );
    rejected(
        &run(&["run", "x", "--fuel", "much"]),
        "invalid value 'much' for '--fuel <N>': invalid digit found in string (see 'toolscript --help')",
    );
    rejected(
        &run(&["run", "x", "--timeout", "soon"]),
        "invalid value 'soon' for '--timeout <S>': not a number of seconds (see 'toolscript --help')",
    );
    rejected(
        &run(&["run", "x", "--memory-limit", "1"]),
        "invalid value '1' for '--memory-limit <MIB>': 1 is not in 4..=4096 (see 'toolscript --help')",
    );
    rejected(&run(&["run", "-e", "", "--timeout", "0"]), "timeout must be more than 0 and at most 86400 seconds");
    rejected(&run(&["run", "-e", "", "--fuel", "0"]), "fuel must be more than 0");
    rejected(&run(&["run", "-e", "", "--io-dir", "../x"]), "--io-dir ../x: the path contains '..'; name the directory itself");
    rejected(&run(&["run", "-e", "", "--output-dir", "x"]), "--output-dir was replaced by --io-dir");
    rejected(
        &run(&["run", "-e", "", "--io-dir", "x", "--no-io"]),
        "the argument '--io-dir <DIR>' cannot be used with '--no-io' (see 'toolscript --help')",
    );
    rejected(&run(&["run"]), "the following required arguments were not provided: <FILE> (see 'toolscript --help')");
    rejected(&run(&["jump"]), "unrecognized subcommand 'jump' (see 'toolscript --help')");
    rejected(&run(&["runn"]), "unrecognized subcommand 'runn'; did you mean 'run'? (see 'toolscript --help')");
}

#[test]
fn help_and_version_are_not_errors() {
    let output = run(&["--version"]);
    assert_eq!(text(&output.stdout), concat!("toolscript ", env!("CARGO_PKG_VERSION"), "\n"));
    let output = run(&["run", "--help"]);
    assert_eq!(output.status.code(), Some(0));
    for flag in [
        "-e <CODE>",
        "--json",
        "--receipt",
        "--timeout <S>",
        "--fuel <N>",
        "--memory-limit <MIB>",
        "--io-dir <DIR>",
        "--no-io",
        "--config <FILE>",
    ] {
        assert!(text(&output.stdout).contains(flag), "{flag}");
    }
    let output = run(&["serve", "--help"]);
    for flag in ["--transport <TRANSPORT>", "--io-dir <DIR>", "--timeout <S>", "--config <FILE>"] {
        assert!(text(&output.stdout).contains(flag), "{flag}");
    }
}

#[test]
fn reading_a_script_stops_at_the_size_limit() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("large.luau"), vec![b' '; (1 << 20) + 1]).expect("a script");
    let output = toolscript(&directory, &["run", "large.luau"]).output().expect("output");
    rejected(&output, "the script large.luau is larger than 1048576 bytes; raise [limits] script in toolscript.toml");
    let output = toolscript(&directory, &["run", "/dev/zero"]).output().expect("output");
    rejected(&output, "the script /dev/zero is larger than 1048576 bytes; raise [limits] script in toolscript.toml");
}
