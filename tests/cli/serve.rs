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
        (&["--transport", "http", "--listen", "nowhere"], Some(2), "error: can't listen on nowhere: invalid socket address\n"),
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
