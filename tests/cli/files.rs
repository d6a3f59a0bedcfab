//! `toolscript files`.

use std::{
    fs,
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

fn directory() -> TempDir {
    let directory = TempDir::new().expect("a directory");
    for (name, contents) in [("a.txt", "one\nneedle two\n"), ("sub/b.csv", "needle\n"), ("sub/.hidden", "needle\n"), ("bell\u{7}", "")] {
        let path = directory.path().join("toolscript-files").join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, contents).expect("a file");
    }
    directory
}

fn files(directory: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.current_dir(directory).arg("files").args(arguments).env_remove("TOOLSCRIPT_LOG").stdin(Stdio::null());
    command.output().expect("output")
}

fn printed(output: &Output) -> (&str, &str, Option<i32>) {
    let text = |bytes| std::str::from_utf8(bytes).expect("UTF-8");
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn a_directory_is_listed() {
    let directory = directory();
    let output = files(&directory, &["ls"]);
    let (text, errors, code) = printed(&output);
    assert_eq!((errors, code), ("", Some(0)));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let columns: Vec<(&str, &str)> = lines.iter().map(|line| (line[0], line[2])).collect();
    assert_eq!(columns, [("15", "a.txt"), ("0", "bell\\u{7}"), ("-", "sub/")]);
    let time = lines[0][1];
    assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
    assert_eq!(printed(&files(&directory, &["ls", "none"])), ("", "error: none: No such file or directory\n", Some(1)));
    assert_eq!(printed(&files(&TempDir::new().expect("a directory"), &["ls"])), ("", "", Some(0)));
}

#[test]
fn a_file_is_printed_unchanged() {
    let directory = directory();
    assert_eq!(printed(&files(&directory, &["cat", "a.txt"])), ("one\nneedle two\n", "", Some(0)));
    let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    fs::write(directory.path().join("toolscript-files/bytes"), &bytes).expect("a file");
    assert!(files(&directory, &["cat", "bytes"]).stdout == bytes);
    assert_eq!(printed(&files(&directory, &["cat", "sub"])), ("", "error: sub: Is a directory\n", Some(1)));
    assert_eq!(printed(&files(&directory, &["cat", "../x"])), ("", "error: path cannot contain '..' traversal\n", Some(1)));
}

#[test]
fn lines_and_names_are_found() {
    let directory = directory();
    assert_eq!(printed(&files(&directory, &["grep", "needle"])), ("a.txt:2:needle two\nsub/b.csv:1:needle\n", "", Some(0)));
    assert_eq!(printed(&files(&directory, &["grep", "needle", "sub", "--hidden"])).0, "sub/.hidden:1:needle\nsub/b.csv:1:needle\n");
    assert_eq!(printed(&files(&directory, &["grep", "-r", "^n.*o$", "--glob", "*.txt"])).0, "a.txt:2:needle two\n");
    assert_eq!(printed(&files(&directory, &["grep", "^n.*o$"])), ("", "", Some(1)));
    assert_eq!(printed(&files(&directory, &["grep", "-r", "("])), ("", "error: the pattern can't be used: unclosed group\n", Some(1)));
    assert_eq!(printed(&files(&directory, &["glob", "**/*.{txt,csv}"])), ("a.txt\nsub/b.csv\n", "", Some(0)));
    assert_eq!(printed(&files(&directory, &["glob", "*", "sub", "--hidden"])).0, "sub/.hidden\nsub/b.csv\n");
    assert_eq!(printed(&files(&directory, &["glob", "*.none"])), ("", "", Some(1)));
}

#[test]
fn files_are_removed() {
    let directory = directory();
    let output = files(&directory, &["rm", "a.txt", "none", "sub/b.csv", "sub"]);
    let errors = "error: none: No such file or directory\nerror: sub: Is a directory\n";
    assert_eq!(printed(&output), ("", errors, Some(1)));
    assert_eq!(printed(&files(&directory, &["glob", "**/*.*"])), ("", "", Some(1)));
}

#[test]
fn the_io_directory_comes_from_the_configuration() {
    let directory = directory();
    fs::rename(directory.path().join("toolscript-files"), directory.path().join("elsewhere")).expect("moved");
    assert_eq!(printed(&files(&directory, &["glob", "*.txt", "--io-dir", "elsewhere"])).0, "a.txt\n");
    fs::write(directory.path().join("toolscript.toml"), "[io]\ndir = \"elsewhere\"\n").expect("a file");
    assert_eq!(printed(&files(&directory, &["glob", "*.txt"])).0, "a.txt\n");
    fs::write(directory.path().join("toolscript.toml"), "[io]\nenabled = false\n").expect("a file");
    let off = "error: io is disabled by [io] enabled = false; name a directory with --io-dir\n";
    assert_eq!(printed(&files(&directory, &["ls"])), ("", off, Some(2)));
    let usage = files(&directory, &["grep"]);
    assert_eq!(usage.status.code(), Some(2));
}

/// Runs the program on a pseudo-terminal, which `script` of util-linux provides.
#[cfg(target_os = "linux")]
#[test]
fn colours_are_used_only_on_terminals() {
    let directory = directory();
    fs::write(directory.path().join("toolscript-files/sub/escape"), "needle \u{1b}[31m red\u{1b}[0m").expect("a file");
    let on_terminal = |no_color: &str| {
        let line = format!("'{}' files grep needle sub", env!("CARGO_BIN_EXE_toolscript"));
        let output = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(&directory)
            .env("NO_COLOR", no_color)
            .stdin(Stdio::null())
            .output()
            .expect("script of util-linux");
        String::from_utf8(output.stdout).expect("UTF-8").replace("\r\n", "\n")
    };
    let shown = on_terminal("");
    assert!(shown.contains("\u{1b}[35msub/b.csv\u{1b}[0m:\u{1b}[32m1\u{1b}[0m:needle"), "{shown:?}");
    assert!(shown.contains("needle \\u{1b}[31m red\\u{1b}[0m"), "control characters of a file are escaped: {shown:?}");
    assert_eq!(on_terminal("1"), "sub/b.csv:1:needle\nsub/escape:1:needle \\u{1b}[31m red\\u{1b}[0m\n");
}
