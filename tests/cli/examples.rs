//! The examples and the README's commands do what they say.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};
use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A command line in a folder, with the program on the path.
fn command(folder: &Path, line: &str) -> Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_toolscript")).parent().expect("a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a PATH"));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", path);
    command
}

/// Runs it; its standard output.
fn shell(folder: &Path, line: &str) -> String {
    let output = command(folder, line).output().expect("a shell");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Starts a server on a port of its own, and ends it when it has said where it listens.
fn serve(folder: &Path, line: &str) -> String {
    let mut command = command(folder, &format!("exec {line}"));
    let mut child = command.env("TOOLSCRIPT_LISTEN", "127.0.0.1:0").stderr(Stdio::piped()).spawn().expect("a shell");
    let mut said = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut said).expect("a line");
    child.kill().and_then(|()| child.wait()).expect("it ends");
    said
}

#[test]
fn each_example_prints_what_stands_beside_it() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("examples")).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "luau") {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let folder = TempDir::new().expect("a folder");
            let actual = shell(folder.path(), &format!("toolscript run '{}'", path.display()));
            let expected = root().join("tests/cli/examples").join(format!("{name}.txt"));
            if std::env::var_os("UPDATE_FIXTURES").is_some() {
                fs::create_dir_all(expected.parent().expect("a folder")).expect("made");
                fs::write(&expected, &actual).expect("written");
            }
            assert_eq!(actual, fs::read_to_string(&expected).unwrap_or_default(), "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 6);
}

/// The fenced blocks of a document, in order: language and text.
fn blocks(document: &str) -> Vec<(&str, &str)> {
    document.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect()
}

#[test]
fn the_commands_of_the_readme_print_what_it_shows() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    let folder = TempDir::new().expect("a folder");
    fs::copy(root().join("examples/shop.yaml"), folder.path().join("shop.yaml")).expect("a specification");
    let blocks = blocks(&readme);
    let mut checked = 0;
    for (index, (language, text)) in blocks.iter().enumerate() {
        if let Some(name) = text.lines().next().and_then(|line| line.strip_prefix("-- ")).filter(|_| *language == "luau") {
            fs::write(folder.path().join(name), text).expect("the script");
        }
        if *language == "sh" && text.starts_with("toolscript serve ") {
            let said = serve(folder.path(), text);
            assert!(said.starts_with("serving MCP on http://127.0.0.1:"), "{said}");
        } else if *language == "sh" && text.starts_with("toolscript ") {
            assert_eq!(shell(folder.path(), text), blocks[index + 1].1, "{text}");
            checked += 1;
        }
    }
    assert_eq!(checked, 6);
    let first = blocks.iter().position(|(_, text)| text.starts_with("cargo run --release -- run ")).expect("the first command");
    let command = blocks[first].1.replace("cargo run --release --", "toolscript");
    assert_eq!(shell(root(), &command), blocks[first + 1].1);
}
