//! `toolscript files`, as a person uses it.

use std::{
    fs,
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (name, contents) in [("a.txt", "one\nneedle two\n"), ("sub/b.csv", "needle\n"), ("sub/.hidden", "needle\n"), ("bell\u{7}", "")] {
        let path = folder.path().join("toolscript-files").join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, contents).expect("a file");
    }
    folder
}

fn files(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.current_dir(folder).arg("files").args(arguments).env_remove("TOOLSCRIPT_LOG").stdin(Stdio::null());
    command.output().expect("it runs")
}

fn printed(output: &Output) -> (&str, &str, Option<i32>) {
    let text = |bytes| std::str::from_utf8(bytes).expect("UTF-8");
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn a_folder_is_listed() {
    let folder = folder();
    let output = files(&folder, &["ls"]);
    let (text, errors, code) = printed(&output);
    assert_eq!((errors, code), ("", Some(0)));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let columns: Vec<(&str, &str)> = lines.iter().map(|line| (line[0], line[2])).collect();
    assert_eq!(columns, [("15", "a.txt"), ("0", "bell\\u{7}"), ("-", "sub/")]);
    let time = lines[0][1];
    assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
    assert_eq!(printed(&files(&folder, &["ls", "none"])), ("", "error: none: No such file or directory\n", Some(1)));
    assert_eq!(printed(&files(&TempDir::new().expect("a folder"), &["ls"])), ("", "", Some(0)));
}

#[test]
fn a_file_is_printed_as_it_is() {
    let folder = folder();
    assert_eq!(printed(&files(&folder, &["cat", "a.txt"])), ("one\nneedle two\n", "", Some(0)));
    let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    fs::write(folder.path().join("toolscript-files/bytes"), &bytes).expect("a file");
    assert!(files(&folder, &["cat", "bytes"]).stdout == bytes);
    assert_eq!(printed(&files(&folder, &["cat", "sub"])), ("", "error: sub: Is a directory\n", Some(1)));
    assert_eq!(printed(&files(&folder, &["cat", "../x"])), ("", "error: path cannot contain '..' traversal\n", Some(1)));
}

#[test]
fn lines_and_names_are_found() {
    let folder = folder();
    assert_eq!(printed(&files(&folder, &["grep", "needle"])), ("a.txt:2:needle two\nsub/b.csv:1:needle\n", "", Some(0)));
    assert_eq!(printed(&files(&folder, &["grep", "needle", "sub", "--hidden"])).0, "sub/.hidden:1:needle\nsub/b.csv:1:needle\n");
    assert_eq!(printed(&files(&folder, &["grep", "-r", "^n.*o$", "--glob", "*.txt"])).0, "a.txt:2:needle two\n");
    assert_eq!(printed(&files(&folder, &["grep", "^n.*o$"])), ("", "", Some(1)));
    assert_eq!(printed(&files(&folder, &["grep", "-r", "("])), ("", "error: the pattern can't be used: unclosed group\n", Some(1)));
    assert_eq!(printed(&files(&folder, &["glob", "**/*.{txt,csv}"])), ("a.txt\nsub/b.csv\n", "", Some(0)));
    assert_eq!(printed(&files(&folder, &["glob", "*", "sub", "--hidden"])).0, "sub/.hidden\nsub/b.csv\n");
    assert_eq!(printed(&files(&folder, &["glob", "*.none"])), ("", "", Some(1)));
}

#[test]
fn files_are_removed() {
    let folder = folder();
    let output = files(&folder, &["rm", "a.txt", "none", "sub/b.csv", "sub"]);
    let errors = "error: none: No such file or directory\nerror: sub: Is a directory\n";
    assert_eq!(printed(&output), ("", errors, Some(1)));
    assert_eq!(printed(&files(&folder, &["glob", "**/*.*"])), ("", "", Some(1)));
}

#[test]
fn the_folder_is_the_one_of_the_configuration() {
    let folder = folder();
    fs::rename(folder.path().join("toolscript-files"), folder.path().join("elsewhere")).expect("moved");
    assert_eq!(printed(&files(&folder, &["glob", "*.txt", "--io-dir", "elsewhere"])).0, "a.txt\n");
    fs::write(folder.path().join("toolscript.toml"), "[io]\ndir = \"elsewhere\"\n").expect("a file");
    assert_eq!(printed(&files(&folder, &["glob", "*.txt"])).0, "a.txt\n");
    fs::write(folder.path().join("toolscript.toml"), "[io]\nenabled = false\n").expect("a file");
    let off = "error: files are switched off by [io] enabled; name a folder with --io-dir\n";
    assert_eq!(printed(&files(&folder, &["ls"])), ("", off, Some(2)));
    let usage = files(&folder, &["grep"]);
    assert_eq!(usage.status.code(), Some(2));
}

/// A terminal, which `script` of util-linux has.
#[cfg(target_os = "linux")]
#[test]
fn colours_are_for_terminals() {
    let folder = folder();
    fs::write(folder.path().join("toolscript-files/sub/escape"), "needle \u{1b}[31m red\u{1b}[0m").expect("a file");
    let on_terminal = |no_color: &str| {
        let line = format!("'{}' files grep needle sub", env!("CARGO_BIN_EXE_toolscript"));
        let output = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(&folder)
            .env("NO_COLOR", no_color)
            .stdin(Stdio::null())
            .output()
            .expect("script of util-linux");
        String::from_utf8(output.stdout).expect("UTF-8").replace("\r\n", "\n")
    };
    let shown = on_terminal("");
    assert!(shown.contains("\u{1b}[35msub/b.csv\u{1b}[0m:\u{1b}[32m1\u{1b}[0m:needle"), "{shown:?}");
    assert!(shown.contains("needle \\u{1b}[31m red\\u{1b}[0m"), "what a file says does no harm: {shown:?}");
    assert_eq!(on_terminal("1"), "sub/b.csv:1:needle\nsub/escape:1:needle \\u{1b}[31m red\\u{1b}[0m\n");
}
