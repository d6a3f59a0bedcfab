//! `toolscript completions` and `toolscript man`.

use super::{rejected, run, run_in, text};
use std::{collections::BTreeSet, fs};
use tempfile::TempDir;

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run(&["completions", shell]);
        assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));
        let script = text(&output.stdout);
        for word in ["run", "check", "serve", "files", "init", "install", "completions", "man", "io-dir"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let message = "invalid value 'tcsh' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]; did you mean 'zsh'? (see 'toolscript completions --help')";
    rejected(&run(&["completions", "tcsh"]), message);
}

/// Bash itself accepts the completions, and completes with them.
#[cfg(target_os = "linux")]
#[test]
fn bash_completes_commands_and_flags() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("completions"), run_in(&directory, &["completions", "bash"])).expect("a file");
    let complete = |words: &str, count: usize| {
        let script = format!(
            "source ./completions; COMP_WORDS=({words}); COMP_CWORD={count}; _toolscript toolscript \"${{COMP_WORDS[{count}]}}\" \
             \"${{COMP_WORDS[{count}-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(&directory).output().expect("bash");
        assert_eq!(text(&output.stderr), "");
        text(&output.stdout).trim().to_owned()
    };
    assert_eq!(complete("toolscript ins", 1), "install");
    assert_eq!(complete("toolscript run --js", 2), "--json");
    assert_eq!(complete("toolscript install cu", 2), "cursor");
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let directory = TempDir::new().expect("a directory");
    let page = run_in(&directory, &["man"]);
    assert!(page.contains(".TH toolscript 1") && page.contains("toolscript\\-run(1)"), "{page}");
    assert_eq!(run_in(&directory, &["man", "--dir", "share/man1"]), "");
    let written = fs::read_dir(directory.path().join("share/man1")).expect("a directory");
    let names: BTreeSet<String> = written.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    let commands = ["run", "check", "serve", "files", "docs", "types", "component", "wit", "init", "install", "completions", "man"];
    let files = ["cat", "glob", "grep", "ls", "rm"].map(|command| format!("toolscript-files-{command}.1"));
    let expected = commands.map(|command| format!("toolscript-{command}.1")).into_iter().chain(files).chain(["toolscript.1".into()]);
    assert_eq!(names, expected.collect());
    assert_eq!(fs::read_to_string(directory.path().join("share/man1/toolscript.1")).expect("a page"), page);
    let page = fs::read_to_string(directory.path().join("share/man1/toolscript-files-grep.1")).expect("a page");
    assert!(page.contains(".TH toolscript-files-grep 1") && page.contains("\\-\\-regex"), "{page}");
    fs::write(directory.path().join("file"), "").expect("a file");
    assert!(run_in(&directory, &["man", "--dir", "file"]).starts_with("error: can't write to file: "));
}
