//! Command-line arguments: errors, help and version.

use super::{rejected, run, run_in, text, toolscript};
use std::fs;
use tempfile::TempDir;

#[test]
fn wrong_usage_prints_one_line_and_exits_with_2() {
    rejected(&run(&["run", "missing.luau"]), "can't read the script missing.luau: No such file or directory (os error 2)");
    rejected(&run(&["run", "."]), "can't read the script .: Is a directory (os error 21)");
    rejected(
        &run(&["run", "--fule", "1", "x"]),
        "unexpected argument '--fule' found; did you mean '--fuel'? (see 'toolscript run --help')",
    );
    rejected(
        &run(&["run", "--for-the-script", "x"]),
        "unexpected argument '--for-the-script' found; to pass '--for-the-script' as a value, use '-- --for-the-script' (see 'toolscript run --help')",
    );
    rejected(
        &run(&["run", "--fuel", "much", "x"]),
        "invalid value 'much' for '--fuel <N>': must be a whole number from 1 to 9,223,372,036,854,775,807 (see 'toolscript run --help')",
    );
    rejected(
        &run(&["run", "--timeout", "soon", "x"]),
        "invalid value 'soon' for '--timeout <TIME>': must be a number of seconds, or a time such as 500ms, 30s or 5m (see 'toolscript run --help')",
    );
    rejected(
        &run(&["run", "--memory-limit", "1", "x"]),
        "invalid value '1' for '--memory-limit <SIZE>': must be 4 MiB to 4 GiB (see 'toolscript run --help')",
    );
    rejected(
        &run(&["run", "-e", "", "--timeout", "0"]),
        "invalid value '0' for '--timeout <TIME>': must be 1ms to 1day (see 'toolscript run --help')",
    );
    rejected(
        &run(&["run", "-e", "", "--memory-limit", "8GiB"]),
        "invalid value '8GiB' for '--memory-limit <SIZE>': must be 4 MiB to 4 GiB (see 'toolscript run --help')",
    );
    rejected(
        &run(&["serve", "--port", "http"]),
        "invalid value 'http' for '--port <N>': must be a whole number from 0 to 65,535 (see 'toolscript serve --help')",
    );
    rejected(
        &run(&["serve", "--public-url", "tools"]),
        "invalid value 'tools' for '--public-url <URL>': must be a URL such as https://tools.example.com (see 'toolscript serve --help')",
    );
    rejected(
        &run(&["files", "grep"]),
        "the following required arguments were not provided: <PATTERN> (see 'toolscript files grep --help')",
    );
    rejected(&run(&["run", "-e", "", "--io-dir", "../x"]), "--io-dir ../x: the path contains '..'; name the directory itself");
    rejected(&run(&["run", "-e", "", "--output-dir", "x"]), "--output-dir was replaced by --io-dir");
    rejected(
        &run(&["run", "-e", "", "--io-dir", "x", "--no-io"]),
        "the argument '--io-dir <DIR>' cannot be used with '--no-io' (see 'toolscript run --help')",
    );
    rejected(&run(&["run"]), "the following required arguments were not provided: <FILE> (see 'toolscript run --help')");
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
        "--progress",
        "--receipt",
        "--timeout <TIME>",
        "--fuel <N>",
        "--memory-limit <SIZE>",
        "--io-dir <DIR>",
        "--no-io",
        "--config <FILE>",
    ] {
        assert!(text(&output.stdout).contains(flag), "{flag}");
    }
    let output = run(&["serve", "--help"]);
    for flag in ["--transport <TRANSPORT>", "--io-dir <DIR>", "--timeout <TIME>", "--config <FILE>"] {
        assert!(text(&output.stdout).contains(flag), "{flag}");
    }
}

#[test]
fn reading_a_script_stops_at_the_size_limit() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("large.luau"), vec![b' '; (1 << 20) + 1]).expect("a script");
    let output = toolscript(&directory, &["run", "large.luau"]).output().expect("output");
    rejected(&output, "the script large.luau is larger than 1 MiB; raise the limit with [limits] script in toolscript.toml");
    let output = toolscript(&directory, &["run", "/dev/zero"]).output().expect("output");
    rejected(&output, "the script /dev/zero is larger than 1 MiB; raise the limit with [limits] script in toolscript.toml");
}

#[test]
fn reading_a_configuration_or_a_specification_stops_at_the_size_limit() {
    let directory = TempDir::new().expect("a directory");
    for name in ["large.toml", "large.yaml"] {
        let sparse = fs::File::create(directory.path().join(name)).expect("a file");
        sparse.set_len(1 << 30).expect("a sparse file");
    }
    for config in ["large.toml", "/dev/zero"] {
        let output = toolscript(&directory, &["run", "-e", "return 1", "--config", config]).output().expect("output");
        rejected(&output, &format!("can't read the configuration {config}: it is larger than 1 MiB"));
    }
    for spec in ["large.yaml", "/dev/zero"] {
        let output = toolscript(&directory, &["run", "-e", "return 1", "--api", &format!("a={spec}")]).output().expect("output");
        rejected(&output, &format!("can't load the API 'a': {spec}: the specification is larger than 33554432 bytes"));
    }
    let mut text = "# ".repeat(1 << 19);
    fs::write(directory.path().join("toolscript.toml"), &text).expect("a configuration of the maximum size");
    assert_eq!(run_in(&directory, &["run", "-e", "return 1"]), "1\n");
    text.push('\n');
    fs::write(directory.path().join("toolscript.toml"), &text).expect("a configuration");
    let output = toolscript(&directory, &["run", "-e", "return 1"]).output().expect("output");
    rejected(&output, "can't read the configuration toolscript.toml: it is larger than 1 MiB");
}
