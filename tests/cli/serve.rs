//! The options of `toolscript serve`: invalid combinations, and precedence of flags, environment and configuration.

use crate::support::{
    kill_on_drop::KillOnDrop,
    server_process::{temp_directory, temp_directory_with_config},
};
use std::io::{BufRead as _, BufReader};

#[test]
fn invalid_server_options_are_rejected() {
    let directory = temp_directory();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolscript"));
        let output = command.arg("serve").args(arguments).current_dir(directory.path()).output().expect("the program runs");
        (output.status.code(), String::from_utf8(output.stderr).expect("a text"))
    };
    for (arguments, code, message) in [
        (
            &["--transport", "http", "--listen", "0.0.0.0:0"][..],
            Some(2),
            "can be reached from other machines, and there is no authentication: set --auth-authority, or --allow-anyone if everyone who reaches it may run scripts\n",
        ),
        (
            &["--transport", "http", "--auth-authority", "https://issuer.example"],
            Some(2),
            "error: authentication requires --public-url, the URL that clients request a token for\n",
        ),
        (
            &["--transport", "http", "--auth-audience", "x"],
            Some(2),
            "error: authentication requires --auth-authority, the issuer of the tokens\n",
        ),
        (
            &["--transport", "http", "--public-url", "https://a.example", "--auth-authority", "http://issuer.example"],
            Some(2),
            "error: --auth-authority: http://issuer.example/ must begin with https://\n",
        ),
        (
            &["--transport", "http", "--public-url", "https://a.example/?x=1"],
            Some(2),
            "error: --public-url https://a.example/?x=1: it must have the form https://tools.example.com\n",
        ),
        (
            &["--transport", "http", "--public-url", "https://a.example/path"],
            Some(2),
            "error: --public-url https://a.example/path: it must have the form https://tools.example.com\n",
        ),
        (&["--listen", "127.0.0.1:0"], Some(2), "error: --listen requires an HTTP server; add --transport http\n"),
        (&["--port", "0", "--listen", "127.0.0.1:0"], Some(2), "error: --port and --listen can't be combined\n"),
        (&["--port", "0", "--transport", "stdio"], Some(2), "error: --port requires an HTTP server; add --transport http\n"),
        (&["--port", "0", "--auth-audience", "x"], Some(2), "error: authentication requires --auth-authority, the issuer of the tokens\n"),
        (&["--auth-scope", "files"], Some(2), "error: --auth-scope requires an HTTP server; add --transport http\n"),
        (&["--transport", "http", "--listen", "nowhere"], Some(2), "error: can't listen on nowhere: write ADDRESS:PORT, or a port\n"),
        (&["--transport", "http", "--listen", "99999"], Some(2), "error: can't listen on 127.0.0.1:99999: write ADDRESS:PORT, or a port\n"),
    ] {
        let (status, stderr) = run(arguments);
        assert!(stderr.ends_with(message), "{arguments:?}: {stderr}");
        assert_eq!(status, code, "{arguments:?}");
    }
}

#[test]
fn environment_variables_for_http_are_ignored_over_stdio() {
    let directory = temp_directory();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.arg("serve").current_dir(directory.path()).env("TOOLSCRIPT_LISTEN", "127.0.0.1:0").env("MCP_AUTH_SCOPE", "files");
    let output = command.output().expect("the program runs");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn flags_override_the_environment_and_the_environment_overrides_the_configuration() {
    let directory = temp_directory_with_config("[server]\ntransport = 'http'\nlisten = 'from-config'\n");
    let listen_address = |environment: Option<&str>, flags: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolscript"));
        command.arg("serve").args(flags).current_dir(directory.path()).env_remove("TOOLSCRIPT_LISTEN");
        if let Some(listen) = environment {
            command.env("TOOLSCRIPT_LISTEN", listen);
        }
        let stderr = String::from_utf8(command.output().expect("the program runs").stderr).expect("a text");
        stderr.strip_prefix("error: can't listen on ").and_then(|rest| rest.split_once(':')).expect(&stderr).0.to_owned()
    };
    assert_eq!(listen_address(None, &[]), "from-config");
    assert_eq!(listen_address(Some("from-environment"), &[]), "from-environment");
    assert_eq!(listen_address(Some("from-environment"), &["--listen", "from-flag"]), "from-flag");
}

#[test]
fn a_port_starts_an_http_server_on_the_loopback_address() {
    let directory = temp_directory();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolscript"));
    // The flag overrides the variable.
    command.args(["serve", "--port", "0"]).current_dir(directory.path()).env("TOOLSCRIPT_LISTEN", "nowhere");
    let mut child = KillOnDrop(command.stderr(std::process::Stdio::piped()).spawn().expect("the program starts"));
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("serving MCP on http://127.0.0.1:") && line.ends_with("/mcp\n"), "{line}");
}

/// Starts a server and returns its first line.
fn first_line(directory: &std::path::Path, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.arg("serve").args(arguments).current_dir(directory).env_remove("TOOLSCRIPT_LISTEN");
    let mut child = KillOnDrop(command.stderr(std::process::Stdio::piped()).spawn().expect("the program starts"));
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
    line
}

#[test]
fn a_bare_port_listens_on_the_loopback_address() {
    let line = first_line(temp_directory().path(), &["--transport", "http", "--listen", "0"]);
    assert!(line.starts_with("serving MCP on http://127.0.0.1:"), "{line}");
    for listen in ["0", "\"0\""] {
        let directory = temp_directory_with_config(&format!("[server]\ntransport = 'http'\nlisten = {listen}\n"));
        let line = first_line(directory.path(), &[]);
        assert!(line.starts_with("serving MCP on http://127.0.0.1:"), "{line}");
    }
}

#[test]
fn a_server_starts_with_every_number_at_the_ends_of_its_range() {
    let smallest = "[limits]\ntimeout = 0.001\nfuel = 1\nmemory = 4194304\nscript = 1\nlogs = 0\nresult = 0\ninline = 0\nresponse = 524288\napi_calls = 0\nconcurrency = 1
queue = 0\ntenant_concurrency = 1\ntenant_queue = 0\ntenant_per_minute = 1\n[io]\nmax_bytes = 0\nmax_files = 0\ntenant_bytes = 0
[server]\nconnections = 1\nheader_timeout = 0.001\nbody_timeout = 0.001\ndrain = 0\n";
    let largest = "[limits]\ntimeout = 86400\nfuel = 9223372036854775807\nmemory = 4294967296\nscript = 1073741824\nlogs = 1073741824\nresult = 1073741824
inline = 1073741824\nresponse = 1073741824\napi_calls = 1000000000\nconcurrency = 4096\nqueue = 1000000\ntenant_concurrency = 4096\ntenant_queue = 1000000
tenant_per_minute = 1000000\n[io]\nmax_bytes = 1125899906842624\nmax_files = 1000000000\ntenant_bytes = 1125899906842624
[server]\nconnections = 1000000\nheader_timeout = 86400\nbody_timeout = 86400\ndrain = 86400\n";
    for config in [smallest, largest] {
        let directory = temp_directory_with_config(config);
        let line = first_line(directory.path(), &["--transport", "http", "--listen", "0"]);
        assert!(line.starts_with("serving MCP on http://127.0.0.1:"), "{line}");
    }
}
