//! What `toolscript serve` is told, and what it refuses to be told.

use crate::support::http_server::{folder, with_config};

#[test]
fn a_public_address_needs_authentication_or_plain_words() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolscript"));
        let output = command.arg("serve").args(arguments).current_dir(folder.path()).output().expect("it runs");
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
            "error: authentication needs --public-url: clients must know what to get a token for\n",
        ),
        (
            &["--transport", "http", "--auth-audience", "x"],
            Some(2),
            "error: authentication needs --auth-authority, the issuer of the tokens\n",
        ),
        (
            &["--transport", "http", "--public-url", "https://a.example", "--auth-authority", "http://issuer.example"],
            Some(2),
            "error: --auth-authority: http://issuer.example/ must begin with https://\n",
        ),
        (
            &["--transport", "http", "--public-url", "https://a.example/?x=1"],
            Some(2),
            "error: --public-url https://a.example/?x=1: it must be an address such as https://tools.example.com\n",
        ),
        (
            &["--transport", "http", "--public-url", "https://a.example/path"],
            Some(2),
            "error: --public-url https://a.example/path: it must be an address such as https://tools.example.com\n",
        ),
        (&["--listen", "127.0.0.1:0"], Some(2), "error: --listen is for servers over HTTP; add --transport http\n"),
        (&["--transport", "http", "--listen", "nowhere"], Some(2), "error: can't listen on nowhere: invalid socket address\n"),
    ] {
        let (status, stderr) = run(arguments);
        assert!(stderr.ends_with(message), "{arguments:?}: {stderr}");
        assert_eq!(status, code, "{arguments:?}");
    }
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let folder = with_config("[server]\ntransport = 'http'\nlisten = 'of the file'\n");
    let listens = |environment: Option<&str>, flags: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolscript"));
        command.arg("serve").args(flags).current_dir(folder.path()).env_remove("TOOLSCRIPT_LISTEN");
        if let Some(listen) = environment {
            command.env("TOOLSCRIPT_LISTEN", listen);
        }
        let said = String::from_utf8(command.output().expect("it runs").stderr).expect("a text");
        said.strip_prefix("error: can't listen on ").and_then(|rest| rest.split_once(':')).expect(&said).0.to_owned()
    };
    assert_eq!(listens(None, &[]), "of the file");
    assert_eq!(listens(Some("of the environment"), &[]), "of the environment");
    assert_eq!(listens(Some("of the environment"), &["--listen", "of the flag"]), "of the flag");
}
