//! `toolscript.toml`: limits, io, and errors.

use super::{rejected, run_in, text, toolscript};
use std::fs;
use tempfile::TempDir;

#[test]
fn flags_override_the_limits_of_the_configuration() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("toolscript.toml"), "[limits]\nfuel = 1_000_000\nlogs = 50\n").expect("a file");
    let output = toolscript(&directory, &["run", "-e", "while true do end"]).output().expect("output");
    assert_eq!(
        text(&output.stderr),
        "error: fuel: the script used up its fuel (1000000)\nnote: the fuel limit is 1,000,000; raise it with --fuel or [limits] fuel in toolscript.toml\n"
    );
    let output = toolscript(&directory, &["run", "-e", "while true do end", "--fuel", "2000000"]).output().expect("output");
    assert_eq!(
        text(&output.stderr),
        "error: fuel: the script used up its fuel (2000000)\nnote: the fuel limit is 2,000,000; raise it with --fuel or [limits] fuel in toolscript.toml\n"
    );
    let output = toolscript(&directory, &["run", "-e", "print(('x'):rep(60))"]).output().expect("output");
    let note = "note: the log is truncated at 50 bytes; raise it with [limits] logs in toolscript.toml";
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("", format!("xxxxxxxxxxxxxxxxxxxxxxxxxx\n{note}\n").as_str()));

    fs::write(directory.path().join("other.toml"), "[limits]\nresult = 3\n").expect("a file");
    let output = toolscript(&directory, &["run", "-e", "return 1234", "--config", "other.toml"]).output().expect("output");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_invalid_configuration_is_rejected_with_its_position() {
    let directory = TempDir::new().expect("a directory");
    for (config, message) in [
        (
            "[limits]\n\ntimeot = 3\n",
            "line 3: unknown field `timeot`, expected one of `timeout`, `fuel`, `memory`, `script`, `logs`, `result`, `inline`, `response`, `api_calls`, `concurrency`, `queue`, `tenant_concurrency`, `tenant_queue`, `tenant_per_minute`",
        ),
        (
            "[limit]\n",
            "line 1: unknown field `limit`, expected one of `limits`, `io`, `server`, `auth`, `check`, `apis`, `mcp_servers`, `frozen_params`",
        ),
        ("[limits]\ntimeout = \"long\"\n", "line 2: timeout = \"long\": must be a number of seconds, or a time such as 500ms, 30s or 5m"),
        ("[limits]\nmemory = 5\n", "line 2: memory = 5: must be 4 MiB to 4 GiB"),
        ("[limits]\nmemory = \"5GiB\"\n", "line 2: memory = \"5GiB\": must be 4 MiB to 4 GiB"),
        ("[limits]\nmemory = true\n", "line 2: invalid type: boolean `true`, expected a size such as \"64MiB\""),
        ("[limits]\ntimeout = -1\n", "line 2: timeout = -1: must be 1ms to 1day"),
        ("[limits]\ntimeout = nan\n", "line 2: timeout = nan: must be 1ms to 1day"),
        ("[limits]\nconcurrency = 0\n", "line 2: concurrency = 0: must be a whole number from 1 to 4,096"),
        ("[limits]\nconcurrency = 4_097\n", "line 2: concurrency = 4_097: must be a whole number from 1 to 4,096"),
        ("limits = { queue = 1, fuel = 0 }\n", "line 1: fuel = 0: must be a whole number from 1 to 9,223,372,036,854,775,807"),
        ("[limits]\nfuel = \"many\"\n", "line 2: fuel = \"many\": must be a whole number from 1 to 9,223,372,036,854,775,807"),
        (
            "[io]\ndirectory = \"x\"\n",
            "line 2: unknown field `directory`, expected one of `dir`, `max_bytes`, `max_files`, `enabled`, `errors`, `protect_names`, `tenant_bytes`",
        ),
        ("[io]\nmax_bytes = \"50 MiBs\"\n", "line 2: max_bytes = \"50 MiBs\": must be a size such as 512KiB, 64MiB or 1GB"),
        ("[io]\nmax_bytes = -1\n", "line 2: max_bytes = -1: must be 0 bytes to 1 PiB"),
        ("[io]\nerrors = \"ignore\"\n", "line 2: unknown variant `ignore`, expected `raise` or `return`"),
        ("[io]\nenabled = \"yes\"\n", "line 2: invalid type: string \"yes\", expected a boolean"),
        ("[output]\ndir = \"x\"\n", "[output] was replaced by [io], with dir, max_bytes, max_files, enabled and errors"),
        ("[server]\nlisten = 80800\n", "line 2: listen = 80800: must be a whole number from 0 to 65,535"),
        ("[server]\ntransport = \"ws\"\n", "line 2: unknown variant `ws`, expected `stdio` or `http`"),
        ("[server]\ndrain = -1\n", "line 2: drain = -1: must be 0s to 1day"),
        ("[server]\nheader_timeout = 0\n", "line 2: header_timeout = 0: must be 1ms to 1day"),
        ("[server]\nconnections = 0\n", "line 2: connections = 0: must be a whole number from 1 to 1,000,000"),
        ("[server]\npublic_url = \"tools\"\n", "line 2: public_url = \"tools\": must be a URL such as https://tools.example.com"),
        (
            "[auth]\nissuer = \"https://a\"\n",
            "line 2: unknown field `issuer`, expected one of `authority`, `audience`, `jwks_uri`, `scope`",
        ),
        ("limits = 3\n", "line 1: invalid type: integer `3`, expected a table"),
        ("[apis]\nshop = \"shop.yaml\"\n", "line 2: invalid type: string \"shop.yaml\", expected a table"),
        ("limits = \n", "line 1: string values must be quoted, expected literal string"),
    ] {
        fs::write(directory.path().join("toolscript.toml"), config).expect("a file");
        let output = toolscript(&directory, &["run", "-e", "return 1"]).output().expect("output");
        rejected(&output, &format!("configuration toolscript.toml: {message}"));
    }
    fs::write(directory.path().join("toolscript.toml"), b"\xff\xfe").expect("a file");
    rejected(
        &toolscript(&directory, &["run", "-e", ""]).output().expect("output"),
        "can't read the configuration toolscript.toml: it is not UTF-8",
    );
    for dir in ["../x", "a/../x", "/tmp/../x"] {
        fs::write(directory.path().join("toolscript.toml"), format!("[io]\ndir = \"{dir}\"\n")).expect("a file");
        // The path is rejected even if it is not used.
        for flags in [&[][..], &["--no-io"], &["--io-dir", "files"]] {
            let output = toolscript(&directory, &[&["run", "-e", "return 1"], flags].concat()).output().expect("output");
            rejected(&output, "configuration toolscript.toml: [io] dir: the path contains '..'; name the directory itself");
        }
    }
    let output = toolscript(&directory, &["run", "-e", "return 1", "--config", "nowhere.toml"]).output().expect("output");
    rejected(&output, "can't read the configuration nowhere.toml: No such file or directory (os error 2)");
}

#[test]
fn the_io_directory_comes_from_the_command_line_the_configuration_or_the_default() {
    let directory = TempDir::new().expect("a directory");
    let (script, exists) = ("io.open('x', 'w'):write('x')", |path: &str| directory.path().join(path).exists());
    run_in(&directory, &["run", "-e", script]);
    assert!(exists("toolscript-files/x"));
    fs::write(directory.path().join("toolscript.toml"), "[io]\ndir = \"configured/deep\"\nmax_bytes = 3\nmax_files = 1\n").expect("a file");
    run_in(&directory, &["run", "-e", script]);
    assert!(exists("configured/deep/x"));
    run_in(&directory, &["run", "-e", script, "--io-dir", "named"]);
    assert!(exists("named/x"));
    let over = "return (select(2, pcall(function() io.open('y', 'w'):write('1234') end))), (select(2, pcall(io.open, 'z', 'w')))";
    let expected = "[\"script:1: I/O write limit exceeded (3 bytes)\",\"too many files created (max 1)\"]\nwrite y (0 bytes)\n";
    assert_eq!(run_in(&directory, &["run", "-e", over]), expected);
    let output = toolscript(&directory, &["run", "-e", "", "--io-dir", "toolscript.toml"]).output().expect("output");
    rejected(&output, "--io-dir toolscript.toml: it can't be opened as a directory: Not a directory (os error 20)");
    let absolute = directory.path().join("absolute");
    run_in(&directory, &["run", "-e", script, "--io-dir", absolute.to_str().expect("a path")]);
    assert!(exists("absolute/x"));
}

#[test]
fn io_can_be_disabled_and_errors_can_be_returned() {
    let directory = TempDir::new().expect("a directory");
    let script = "return io == nil, file == nil, os.remove == nil";
    assert_eq!(run_in(&directory, &["run", "-e", script, "--no-io"]), "[true,true,true]\n");
    assert_eq!(run_in(&directory, &["run", "-e", script]), "[false,false,false]\n");
    fs::write(directory.path().join("toolscript.toml"), "[io]\nenabled = false\n").expect("a file");
    assert_eq!(run_in(&directory, &["run", "-e", script]), "[true,true,true]\n");
    assert_eq!(run_in(&directory, &["run", "-e", script, "--io-dir", "x"]), "[false,false,false]\n");
    fs::write(directory.path().join("other.toml"), "[io]\nerrors = \"return\"\n").expect("a file");
    let missing = "local _, message, number = io.open('x') return message, number";
    assert_eq!(run_in(&directory, &["run", "-e", missing, "--config", "other.toml"]), "[\"x: No such file or directory\",2]\n");
}

/// Returns the keys of docs/configuration.md whose values are numbers, as section and name.
fn numeric_keys() -> Vec<(String, String)> {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md")).expect("the page");
    let block = page.split("# everything.toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the block with every key");
    let table: toml::Table = block.parse().expect("TOML");
    let sections = table.iter().filter_map(|(section, keys)| Some((section, keys.as_table()?)));
    let keys = sections.flat_map(|(section, keys)| keys.iter().map(move |(key, value)| (section, key, value)));
    keys.filter(|(_, _, value)| value.is_integer() || value.is_float()).map(|(section, key, _)| (section.clone(), key.clone())).collect()
}

#[test]
fn no_value_of_a_number_panics() {
    let directory = TempDir::new().expect("a directory");
    let keys = numeric_keys();
    assert!(keys.len() >= 20, "{keys:?}");
    let values = [
        "-9223372036854775808",
        "-1",
        "0",
        "9223372036854775807",
        "99999999999999999999",
        "1e308",
        "-0.0",
        "inf",
        "nan",
        "\"\"",
        "\"99999999999EiB\"",
        "\"9999999999999years\"",
    ];
    for (section, key) in keys {
        for value in values {
            fs::write(directory.path().join("toolscript.toml"), format!("[{section}]\n{key} = {value}\n")).expect("a file");
            let output = toolscript(&directory, &["run", "-e", ""]).output().expect("output");
            let stderr = text(&output.stderr);
            match output.status.code() {
                // A result limit of 0 fails the run.
                Some(0 | 1) => {
                    assert!(["0", "-0.0"].contains(&value) || (key == "fuel" && value.starts_with("922")), "{key} = {value}: {stderr}")
                }
                code => {
                    assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{key} = {value}: {stderr}");
                    assert!(stderr.starts_with("error: configuration toolscript.toml: line 2: "), "{key} = {value}: {stderr}");
                }
            }
        }
    }
}

#[test]
fn sizes_and_durations_have_units() {
    let directory = TempDir::new().expect("a directory");
    let config =
        "[limits]\ntimeout = \"200ms\"\nmemory = \"16MiB\"\nlogs = \"1KB\"\n[io]\nmax_bytes = \"2KiB\"\n[server]\ndrain = \"1m\"\n";
    fs::write(directory.path().join("toolscript.toml"), config).expect("a file");
    let message = |arguments: &[&str]| {
        let output = toolscript(&directory, &[&["run"], arguments].concat()).output().expect("output");
        text(&output.stderr).lines().next_back().unwrap_or_default().to_owned()
    };
    let busy = "while true do end";
    assert_eq!(message(&["-e", busy]), "note: the time limit is 0.2 s; raise it with --timeout or [limits] timeout in toolscript.toml");
    assert_eq!(
        message(&["--timeout", "100ms", "-e", busy]),
        "note: the time limit is 0.1 s; raise it with --timeout or [limits] timeout in toolscript.toml"
    );
    let hungry = "local s = 'x' while true do s = s .. s end";
    let limit =
        |size: &str| format!("note: the memory limit is {size}; raise it with --memory-limit or [limits] memory in toolscript.toml");
    assert_eq!(message(&["--timeout", "30s", "-e", hungry]), limit("16 MiB"));
    assert_eq!(message(&["--timeout", "30s", "--memory-limit", "8", "-e", hungry]), limit("8 MiB"));
    assert_eq!(message(&["--timeout", "30s", "--memory-limit", "8MB", "-e", hungry]), limit("8,000,000 bytes"));
    assert_eq!(
        message(&["-e", "print(('x'):rep(2000))"]),
        "note: the log is truncated at 1,000 bytes; raise it with [limits] logs in toolscript.toml"
    );
}

#[cfg(unix)]
#[test]
fn paths_in_the_file_are_relative_to_the_file() {
    let directory = TempDir::new().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    fs::create_dir_all(path("project/settings")).expect("a directory");
    fs::create_dir_all(path("elsewhere")).expect("a directory");
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop.yaml");
    fs::copy(shop, path("project/settings/shop.yaml")).expect("a specification");
    let config = "[io]\ndir = \"files\"\n[apis.shop]\nspec = \"shop.yaml\"\n[mcp_servers.inner]\ncommand = \"sh\"\nargs = [\"start.sh\"]\n\
        [mcp_servers.direct]\ncommand = \"./direct.sh\"\n";
    fs::write(path("project/settings/my.toml"), config).expect("a configuration");
    let start = format!("#!/bin/sh\nexec '{}' serve --no-io\n", env!("CARGO_BIN_EXE_toolscript"));
    for script in ["start.sh", "direct.sh"] {
        fs::write(path("project/settings").join(script), &start).expect("a program");
    }
    fs::set_permissions(path("project/settings/direct.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    let script = "io.open('here', 'w'):close() local call = { script = 'return 1' }
        return { sdk.inner.execute_script(call).result, sdk.direct.execute_script(call).result, sdk.shop.list_pets ~= nil }";
    for (working, config) in
        [("project", "settings/my.toml"), ("elsewhere", "../project/settings/my.toml"), ("project/settings", "my.toml")]
    {
        let mut command = toolscript(&directory, &["run", "--config", config, "-e", script]);
        let output = command.current_dir(path(working)).output().expect("output");
        assert_eq!((text(&output.stdout), text(&output.stderr)), ("[1,1,true]\n", "write here (0 bytes)\n"), "{working}");
        fs::remove_file(path("project/settings/files/here")).expect("the file");
    }
}
