//! `toolscript install`: the entry in the configuration of MCP clients, and everything else in that file.

use super::{rejected, text, toolscript};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// A home directory and a project, in which the program runs.
struct Machine {
    outer: TempDir,
}

impl Machine {
    fn new() -> Self {
        let outer = TempDir::new().expect("a directory");
        for name in ["home", "project", "empty"] {
            fs::create_dir(outer.path().join(name)).expect("a directory");
        }
        Self { outer }
    }

    fn path(&self, name: &str) -> PathBuf {
        // The program prints its working directory without symlinks.
        self.outer.path().canonicalize().expect("a path").join(name)
    }

    /// Returns a command that finds no program of this name.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = toolscript(&self.outer, arguments);
        command.current_dir(self.path("project")).env("HOME", self.path("home")).env("PATH", self.path("empty"));
        command.env_remove("XDG_CONFIG_HOME").env("APPDATA", self.path("home"));
        command
    }

    fn install(&self, arguments: &[&str]) -> Output {
        self.command(&[&["install"], arguments].concat()).output().expect("output")
    }

    /// Returns the arguments of the server, and the standard error.
    fn printed(&self, arguments: &[&str]) -> (Vec<String>, String) {
        let output = self.install(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let block: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let section = if arguments[0] == "vscode" { "servers" } else { "mcpServers" };
        let entry = &block[section]["toolscript"];
        assert_eq!(entry["command"], json!(env!("CARGO_BIN_EXE_toolscript")));
        assert_eq!(entry.get("type"), (arguments[0] == "vscode").then_some(&json!("stdio")));
        (serde_json::from_value(entry["args"].clone()).expect("strings"), text(&output.stderr).to_owned())
    }

    fn absolute(&self, name: &str) -> String {
        self.path("project").join(name).to_str().expect("UTF-8").to_owned()
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[cfg(target_os = "linux")]
#[test]
fn the_entry_and_its_file_are_printed_and_nothing_is_written() {
    let machine = Machine::new();
    let args = ["serve".to_owned(), "--io-dir".into(), machine.absolute("toolscript-files")];
    let program = env!("CARGO_BIN_EXE_toolscript");
    let claude = machine.path("home/.config/Claude/claude_desktop_config.json");
    for (arguments, file) in [
        (&["claude"][..], claude.to_str().expect("UTF-8")),
        (&["claude", "--print", "--project"], ".mcp.json"),
        (&["cursor"], machine.path("home/.cursor/mcp.json").to_str().expect("UTF-8")),
        (&["cursor", "--project"], ".cursor/mcp.json"),
        (&["vscode"], ".vscode/mcp.json"),
        (&["vscode", "--path", "other.json"], "other.json"),
    ] {
        let (printed, notes) = machine.printed(arguments);
        assert_eq!(printed, args);
        let (belongs, rest) = notes.split_once('\n').expect("a line");
        assert_eq!(belongs, format!("note: this belongs to {file}; --write adds it there"));
        let hint = format!("note: for Claude Code, run: claude mcp add toolscript -- {program} {}\n", args.join(" "));
        assert_eq!(rest, if arguments == ["claude"] { hint.as_str() } else { "" });
    }
    let config = machine.command(&["install", "claude"]).env("XDG_CONFIG_HOME", machine.path("empty")).output().expect("output");
    let file = machine.path("empty/Claude/claude_desktop_config.json");
    assert!(text(&config.stderr).starts_with(&format!("note: this belongs to {}; ", file.display())), "{}", text(&config.stderr));
    for name in ["home", "project", "empty"] {
        assert_eq!(fs::read_dir(machine.path(name)).expect("a directory").count(), 0);
    }
}

#[test]
fn the_server_gets_absolute_paths_and_the_configuration() {
    let machine = Machine::new();
    let serve = |rest: &[&str]| [&["serve"], rest].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let data = machine.absolute("data");
    assert_eq!(machine.printed(&["cursor", "--io-dir", "data"]).0, serve(&["--io-dir", &data]));
    let (other, settings) = (machine.absolute("other.toml"), machine.absolute("toolscript.toml"));
    fs::write(&other, "[server]\ntransport = \"http\"\n[io]\nenabled = false\n").expect("a configuration");
    assert_eq!(machine.printed(&["cursor", "--config", "other.toml"]).0, serve(&["--config", &other, "--transport", "stdio"]));
    fs::write(&settings, "[io]\ndir = \"data\"\n").expect("a configuration");
    assert_eq!(machine.printed(&["cursor"]).0, serve(&["--config", &settings]));
    assert_eq!(machine.printed(&["cursor", "--io-dir", "data"]).0, serve(&["--config", &settings, "--io-dir", &data]));
    fs::write(&settings, "").expect("a configuration");
    let files = machine.absolute("toolscript-files");
    assert_eq!(machine.printed(&["cursor"]).0, serve(&["--config", &settings, "--io-dir", &files]));
    // What the server would reject is rejected here.
    let fix = "use a subdirectory such as --io-dir ./files, or a configuration elsewhere with --config";
    let message = format!("--io-dir .: it contains the configuration toolscript.toml; {fix}");
    rejected(&machine.install(&["cursor", "--io-dir", "."]), &message);
    rejected(&machine.install(&["cursor", "--io-dir", "../x"]), "--io-dir ../x: the path contains '..'; name the directory itself");
    fs::write(&settings, "[limit]").expect("a configuration");
    assert_eq!(machine.install(&["cursor", "--write"]).status.code(), Some(2));
    assert!(!machine.path("home/.cursor").exists());
}

#[cfg(unix)]
#[test]
fn a_program_on_the_search_path_is_named_without_its_path() {
    let machine = Machine::new();
    let command = |path: &Path| {
        let output = machine.command(&["install", "cursor"]).env("PATH", path).output().expect("output");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["mcpServers"]["toolscript"]["command"].clone()
    };
    let program = machine.path("empty/toolscript");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_toolscript"), &program).expect("a symlink");
    assert_eq!(command(&machine.path("empty")), "toolscript");
    // Another program of the same name is not this one.
    fs::remove_file(&program).expect("removed");
    fs::write(&program, "").expect("a file");
    assert_eq!(command(&machine.path("empty")), env!("CARGO_BIN_EXE_toolscript"));
}

#[test]
fn an_entry_is_added_and_everything_else_keeps_its_order_and_its_text() {
    let machine = Machine::new();
    let file = machine.path("home/.cursor/mcp.json");
    let write = |arguments: &[&str]| machine.install(&[&["cursor", "--write"], arguments].concat());
    assert_eq!(text(&write(&[]).stdout), format!("wrote {}\n", file.display()));
    let alone: Value = serde_json::from_str(&read(&file)).expect("JSON");
    assert_eq!(alone["mcpServers"]["toolscript"]["args"][2], json!(machine.absolute("toolscript-files")));
    assert_eq!(text(&write(&[]).stdout), format!("{} is up to date\n", file.display()));

    let before =
        "{\n\t\"z\": 1.0,\n\t\"mcpServers\": {\n\t\t\"b\": {\"env\": {\"KEY\":  \"secret\"}},\n\t\t\"a\": {}\n\t},\n\t\"y\": []\n}\n";
    fs::write(&file, before).expect("a file");
    assert_eq!(write(&[]).status.code(), Some(0));
    let after = read(&file);
    let (start, end) = before.split_once("\"a\": {}").expect("two parts");
    assert!(after.starts_with(start) && after.ends_with(end), "{after}");
    assert!(after.contains("\"a\": {},\n\t\t\"toolscript\": {\n\t\t\t\"command\": "), "{after}");

    // Other settings are replaced only on request.
    let output = write(&["--io-dir", "data"]);
    let message =
        "it has an entry \"toolscript\" already; use --force to replace it; the file is unchanged, and standard output has the entry";
    assert_eq!((text(&output.stderr), output.status.code()), (format!("error: {}: {message}\n", file.display()).as_str(), Some(2)));
    assert_eq!(read(&file), after);
    assert_eq!(write(&["--io-dir", "data", "--force"]).status.code(), Some(0));
    assert_eq!(read(&file), after.replace("toolscript-files", "data"));
    assert_eq!(fs::read_dir(machine.path("home/.cursor")).expect("a directory").count(), 1, "no temporary file is left");
}

#[test]
fn a_file_that_cannot_be_merged_is_unchanged_and_the_entry_is_printed() {
    let machine = Machine::new();
    let file = machine.path("project").join(".vscode").join("mcp.json");
    fs::create_dir(file.parent().expect("a directory")).expect("a directory");
    let name = Path::new(".vscode").join("mcp.json");
    for (contents, reason) in [
        ("{\n  // my servers\n  \"servers\": {}\n}\n", "it has comments or trailing commas, which would be lost"),
        ("{\"servers\": {},}", "it has comments or trailing commas, which would be lost"),
        ("{\"servers\": ", "it is not valid JSON: EOF while parsing a value at line 1 column 12"),
        ("{\"servers\": 1}", "\"servers\" is not an object"),
    ] {
        fs::write(&file, contents).expect("a file");
        let output = machine.install(&["vscode", "--write"]);
        let message = format!("error: {}: {reason}; the file is unchanged, and standard output has the entry\n", name.display());
        assert_eq!((text(&output.stderr), output.status.code()), (message.as_str(), Some(2)));
        let block: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(block["servers"]["toolscript"]["type"], "stdio");
        assert_eq!(read(&file), contents);
    }
    fs::write(&file, b"\xff").expect("a file");
    rejected(&machine.install(&["vscode", "--write"]), &format!("can't read {}: it is not UTF-8", name.display()));
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions_and_a_symlink_to_it() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let machine = Machine::new();
    let (link, target) = (machine.path("project/mcp.json"), machine.path("home/real.json"));
    fs::write(&target, "{}").expect("a file");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).expect("permissions");
    symlink(&target, &link).expect("a symlink");
    assert_eq!(machine.install(&["cursor", "--write", "--path", "mcp.json"]).status.code(), Some(0));
    assert!(fs::symlink_metadata(&link).expect("metadata").is_symlink());
    assert!(read(&target).contains("\"toolscript\""));
    assert_eq!(fs::metadata(&target).expect("metadata").permissions().mode() & 0o777, 0o600);
}

#[test]
fn flags_that_contradict_each_other_are_rejected() {
    let machine = Machine::new();
    let see = "(see 'toolscript install --help')";
    for (arguments, message) in [
        (&["cursor", "--write", "--print"][..], "the argument '--write' cannot be used with '--print'"),
        (&["cursor", "--project", "--path", "x"], "the argument '--project' cannot be used with '--path <FILE>'"),
        (&["cursor", "--force"], "the following required arguments were not provided: --write"),
        (&["emacs"], "invalid value 'emacs' for '<CLIENT>' [possible values: claude, cursor, vscode]"),
    ] {
        rejected(&machine.install(arguments), &format!("{message} {see}"));
    }
}
