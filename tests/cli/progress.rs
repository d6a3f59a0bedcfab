//! `progress()` in `toolscript run`: a bar on a terminal, lines with `--progress`.

use super::{run, text, toolscript};
use crate::support::terminal::run_on_terminal;
use tempfile::TempDir;

const SCRIPT: &str = "progress(1, 4, 'first') print('said') progress(2) progress(3.5, 4, 'two\\nlines \\27[31m') return 7";

#[test]
fn a_pipe_gets_one_line_per_report_if_wanted() {
    let output = run(&["run", "--progress", "-e", SCRIPT]);
    let lines = "progress: 1/4 first\nsaid\nprogress: 2\nprogress: 3.5/4 two\\nlines \\u{1b}[31m\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("7\n", lines));
    let output = run(&["run", "-e", SCRIPT]);
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("7\n", "said\n"));
    let output = run(&["run", "--json", "-e", "progress(1, 2) return 7"]);
    assert_eq!(text(&output.stdout), "{\"result\":7,\"logs\":[],\"files_touched\":[]}\n");
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn odd_numbers_are_shown_as_they_are() {
    let output = run(&["run", "--progress", "-e", "progress(-1, 0) progress(0/0, 1) progress(1, math.huge)"]);
    assert_eq!(text(&output.stderr), "progress: -1/0\nprogress: NaN/1\nprogress: 1/inf\n");
}

/// Returns the visible lines after everything that was written: a carriage return and an escape sequence erase a line.
fn screen(written: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in written.split('\n') {
        let kept = line.rsplit("\u{1b}[2K").next().unwrap_or(line);
        lines.push(kept.rsplit('\r').next().unwrap_or(kept).to_owned());
    }
    lines
}

#[test]
fn a_terminal_shows_a_bar_that_is_removed_at_the_end() {
    let directory = TempDir::new().expect("a directory");
    for (script, end, expected) in [
        ("progress(1, 4, 'first') sleep(0.3) print('said') progress(2, 4, 'second') sleep(0.3) return 7", Some(0), &["said", "7", ""][..]),
        (
            "progress(1, 4, 'first') sleep(0.3) error('no', 0)",
            Some(1),
            &["error: runtime: no", "  at [C] function error", "  at script:1", ""],
        ),
    ] {
        let mut command = toolscript(&directory, &["run", "-e", script]);
        let (written, status) = run_on_terminal(command.env("NO_COLOR", "1").env("TERM", "xterm"));
        assert!(written.contains("] 1/4 first"), "{written:?}");
        assert!(written.contains("[=======>  "), "{written:?}");
        assert_eq!((screen(&written), status.code()), (expected.iter().map(|line| (*line).to_owned()).collect(), end), "{written:?}");
    }
}
