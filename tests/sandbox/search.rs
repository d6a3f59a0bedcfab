//! Listing, and searching by name and by line.

use super::{
    files::{message, put},
    sandbox,
};
use crate::support::IoDir;
use std::time::{Duration, SystemTime};
use toolscript::{
    Files, Limits, Sandbox,
    files::{ContextLine, FileKind, GlobQuery, GrepMatch, GrepQuery},
};

#[tokio::test]
async fn a_directory_is_listed_with_kinds_sizes_and_times() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    assert_eq!(sandbox.list(".").await.expect("listed"), []);
    for number in 0..50 {
        put(&dir, &format!("many/{number:02}.txt"), "x".repeat(number));
    }
    put(&dir, "many/.hidden", "");
    put(&dir, "many/sub/deeper", "");
    std::os::unix::fs::symlink("00.txt", dir.path().join("many/link")).expect("a symlink");
    let listed = sandbox.list("many").await.expect("listed");
    let names: Vec<&str> = listed.iter().map(|info| info.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[1], names[50], names[51], names[52]), (53, ".hidden", "00.txt", "49.txt", "link", "sub"));
    assert!(names.is_sorted());
    assert_eq!((listed[50].kind, listed[50].bytes), (FileKind::File, 49));
    assert_eq!((listed[51].kind, listed[52].kind, listed[52].bytes), (FileKind::Symlink, FileKind::Directory, 0));
    let age = SystemTime::now().duration_since(listed[0].modified.expect("a time")).expect("in the past");
    assert!(age.as_secs() < 600);
    assert_eq!(message(sandbox.list("none").await), "none: No such file or directory");
    assert_eq!(message(sandbox.list("many/00.txt").await), "many/00.txt: Not a directory");
}

pub async fn glob(sandbox: &Sandbox, pattern: &str, path: &str) -> Vec<String> {
    let found = sandbox.glob(GlobQuery::new(pattern).with_path(path)).await.expect("found");
    found.entries.into_iter().map(|entry| entry.name).collect()
}

#[tokio::test]
async fn files_are_found_by_glob_patterns() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    assert_eq!(glob(&sandbox, "**", ".").await, [""; 0], "the directory does not exist yet");
    for name in ["a.txt", "b.md", "src/a.txt", "src/deep/er/c.txt", "src/deep/d [1].txt", ".any", ".git/config", "src/.hidden/x.txt"] {
        put(&dir, name, name);
    }
    assert_eq!(glob(&sandbox, "*.txt", ".").await, ["a.txt"]);
    assert_eq!(glob(&sandbox, "**/*.txt", ".").await, ["a.txt", "src/a.txt", "src/deep/d [1].txt", "src/deep/er/c.txt"]);
    assert_eq!(glob(&sandbox, "*.{txt,md}", ".").await, ["a.txt", "b.md"]);
    assert_eq!(glob(&sandbox, "[a-b].*", ".").await, ["a.txt", "b.md"]);
    assert_eq!(glob(&sandbox, "src/*", ".").await, ["src/a.txt", "src/deep"]);
    assert_eq!(glob(&sandbox, "deep/**/*.txt", "src").await, ["src/deep/d [1].txt", "src/deep/er/c.txt"]);
    assert_eq!(glob(&sandbox, "**/d \\[1\\].txt", ".").await, ["src/deep/d [1].txt"]);
    assert_eq!(glob(&sandbox, "none/*", ".").await, [""; 0]);
    // Hidden names match only an explicit dot.
    assert_eq!(glob(&sandbox, ".*", ".").await, [".any", ".git"]);
    assert_eq!(glob(&sandbox, "**/.any", ".").await, [".any"]);
    assert_eq!(glob(&sandbox, ".git/*", ".").await, [".git/config"]);
    assert_eq!(glob(&sandbox, "**/.hidden/*", ".").await, ["src/.hidden/x.txt"]);
    let mut query = GlobQuery::new("**/*");
    query.hidden = true;
    let all = sandbox.glob(query.clone()).await.expect("found");
    assert_eq!((all.entries.len(), all.truncated, all.skipped), (13, false, 0));
    assert_eq!((all.entries[0].name.as_str(), all.entries[1].kind, all.entries[0].bytes), (".any", FileKind::Directory, 4));
    query.max_results = 5;
    let some = sandbox.glob(query).await.expect("found");
    assert_eq!((some.entries.len(), some.truncated), (5, true));
    for (pattern, path, expected) in [
        ("[", ".", "the pattern '[' can't be used: unclosed character class; missing ']'"),
        ("", ".", "the pattern '' can't be used: it is empty"),
        ("../*", ".", "path cannot contain '..' traversal"),
        ("/etc/*", ".", "path must be relative"),
        ("*", "none", "none: No such file or directory"),
        ("*", "a.txt", "a.txt: Not a directory"),
        ("*", "..", "path cannot contain '..' traversal"),
    ] {
        assert_eq!(message(sandbox.glob(GlobQuery::new(pattern).with_path(path)).await), expected);
    }
}

pub async fn grep(sandbox: &Sandbox, query: GrepQuery) -> Vec<String> {
    let found = sandbox.grep(query).await.expect("found");
    found.matches.into_iter().map(|found| format!("{}:{}:{}", found.name, found.line, found.text)).collect()
}

#[tokio::test]
async fn lines_are_found_by_text_and_by_regular_expression() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    assert_eq!(grep(&sandbox, GrepQuery::new("x")).await, [""; 0], "the directory does not exist yet");
    put(&dir, "a.txt", "first needle\r\nn.edle\nlast needle");
    put(&dir, "src/b.lua", "-- needle (1+1)\n");
    put(&dir, "src/c.txt", "\n\nneedle");
    put(&dir, "binary", "needle\n\0needle\n");
    put(&dir, ".hidden", "needle");
    let found = sandbox.grep(GrepQuery::new("needle")).await.expect("found");
    assert_eq!((found.matches.len(), found.files, found.binary, found.skipped, found.truncated), (4, 3, 1, 0, false));
    let all = ["a.txt:1:first needle", "a.txt:3:last needle", "src/b.lua:1:-- needle (1+1)", "src/c.txt:3:needle"];
    assert_eq!(grep(&sandbox, GrepQuery::new("needle")).await, all);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_path("src")).await, all[2..]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_path("a.txt")).await, all[..2]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_path(".hidden")).await, [".hidden:1:needle"]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob("*.txt")).await, [all[0], all[1], all[3]]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob("src/*.txt")).await, all[3..]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob(".*")).await, [".hidden:1:needle"]);
    put(&dir, ".github/ci.yml", "needle");
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob(".github/**/*.yml")).await, [".github/ci.yml:1:needle"]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob("none/*")).await, [""; 0]);
    put(&dir, "src/deep/er.txt", "needle");
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob("src/*.txt")).await, all[3..]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob("src/**/e*.txt")).await, ["src/deep/er.txt:1:needle"]);
    std::fs::remove_file(dir.path().join("src/deep/er.txt")).expect("removed");
    // The pattern is literal text by default.
    assert_eq!(grep(&sandbox, GrepQuery::new("n.edle")).await, ["a.txt:2:n.edle"]);
    assert_eq!(grep(&sandbox, GrepQuery::new("(1+1)")).await, all[2..3]);
    assert_eq!(grep(&sandbox, GrepQuery::new("$&")).await, [""; 0]);
    assert_eq!(grep(&sandbox, GrepQuery::new("^n.e+dle$").with_regex(true)).await, ["a.txt:2:n.edle", all[3]]);
    assert_eq!(grep(&sandbox, GrepQuery::new("t needle$").with_regex(true)).await, all[..2], "both kinds of line endings are supported");
    assert_eq!(grep(&sandbox, GrepQuery::new(r"\w{5,20}").with_regex(true).with_path("src/c.txt")).await, all[3..]);
    for (query, expected) in [
        (GrepQuery::new("(").with_regex(true), "the pattern can't be used: unclosed group"),
        (GrepQuery::new(""), "the pattern can't be used: it is empty"),
        (GrepQuery::new("a\nb"), "the pattern can't be used: it contains a newline, but each line is matched on its own"),
        (GrepQuery::new("x".repeat(4097)), "the pattern can't be used: at most 4096 bytes are allowed"),
        (GrepQuery::new("x").with_path("none"), "none: No such file or directory"),
        (GrepQuery::new("x").with_path("../x"), "path cannot contain '..' traversal"),
        (GrepQuery::new("x").with_glob("[z-a]"), "the pattern '[z-a]' can't be used: invalid range; 'z' > 'a'"),
    ] {
        assert_eq!(message(sandbox.grep(query).await), expected);
    }
    // A regular expression that would be huge is rejected before it is compiled.
    for bomb in ["(\\w{100}){100}", "(?-u)(?:[ab]{1,300}a){100}c"] {
        assert!(message(sandbox.grep(GrepQuery::new(bomb).with_regex(true)).await).starts_with("the pattern can't be used: "));
    }
}

#[tokio::test]
async fn a_search_with_too_many_results_is_truncated_and_flagged() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "many", "x\n".repeat(5000));
    let found = sandbox.grep(GrepQuery::new("x")).await.expect("found");
    assert_eq!((found.matches.len(), found.truncated), (1000, true));
    put(&dir, "many", format!("{}\n", "é".repeat(1500)).repeat(100));
    let found = sandbox.grep(GrepQuery::new("é")).await.expect("found");
    assert!(found.truncated);
    assert!(
        found.matches.iter().all(|found| found.truncated && found.text.len() == 1024 && found.text.chars().all(|letter| letter == 'é'))
    );
    let bytes: usize = found.matches.iter().map(|found| found.text.len()).sum();
    assert!((40 << 10..=50 << 10).contains(&bytes), "{bytes} bytes");
    // A line that does not fit into the buffer is skipped. The buffer is smaller for a regular expression, and smallest for a large one.
    put(&dir, "many", "x".repeat(9 << 20));
    let found = sandbox.grep(GrepQuery::new("x")).await.expect("found");
    assert_eq!((found.matches.len(), found.skipped), (0, 1));
    put(&dir, "many", "x".repeat(100_000));
    for (pattern, skipped) in [("x$", 0), (r"\w{5,20}", 1)] {
        let found = sandbox.grep(GrepQuery::new(pattern).with_regex(true)).await.expect("found");
        assert_eq!((found.matches.len(), found.skipped), (1 - skipped, skipped as u64), "{pattern}");
    }
}

#[tokio::test]
async fn a_search_and_a_read_agree_on_which_files_are_text() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "late", [&b"needle\n".repeat(2000)[..], b"\0needle\rx\n"].concat());
    put(&dir, "utf16", b"\xff\xfen\0e\0e\0d\0l\0e\0");
    let found = sandbox.grep(GrepQuery::new("needle\rx")).await.expect("found");
    assert_eq!((found.matches.len(), found.matches[0].line, found.files, found.binary), (1, 2001, 1, 1));
    assert!(matches!(sandbox.read("late", 1, None).await, Ok(toolscript::files::FileContents::Text(_))));
    assert!(matches!(sandbox.read("utf16", 1, None).await, Ok(toolscript::files::FileContents::Binary { .. })));
}

#[tokio::test]
async fn a_search_stops_at_its_timeout_or_when_it_is_cancelled() {
    let dir = IoDir::new();
    put(&dir, "f", "x");
    let mut limits = Limits::default();
    limits.timeout = Duration::from_nanos(1);
    let sandbox = sandbox(&dir).with_limits(limits);
    let interrupted = "the operation timed out or was cancelled";
    assert_eq!(message(sandbox.grep(GrepQuery::new("x")).await), interrupted);
    assert_eq!(message(sandbox.glob(GlobQuery::new("**")).await), interrupted);
    assert_eq!(message(sandbox.read("f", 1, None).await), interrupted);
    let files: &Files = sandbox.files();
    assert_eq!(message(files.grep(&GrepQuery::new("x").with_path("f"), &|| false)), interrupted);
}

/// Returns each match as its line, with the lines before and after it.
fn with_context(matches: &[GrepMatch]) -> Vec<(u64, Vec<u64>, Vec<u64>)> {
    let lines = |lines: &[ContextLine]| lines.iter().map(|line| line.line).collect();
    matches.iter().map(|found| (found.line, lines(&found.before), lines(&found.after))).collect()
}

#[tokio::test]
async fn lines_near_a_match_are_its_context() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    // The matches are lines 3, 4 and 7.
    put(&dir, "a", "1\n2\n3 x\n4 x\n5\r\n6\n7 x\n8");
    put(&dir, "b", "x\nlast\n");
    let grep = async |context| sandbox.grep(GrepQuery::new("x").with_context(context)).await.expect("found");
    let found = grep(0).await;
    assert!(found.matches.iter().all(|found| found.before.is_empty() && found.after.is_empty()));
    let found = grep(1).await;
    let expected = [(3, vec![2], vec![]), (4, vec![], vec![5]), (7, vec![6], vec![8]), (1, vec![], vec![2])];
    assert_eq!(with_context(&found.matches), expected);
    assert_eq!((found.matches[1].after[0].text.as_str(), found.matches[3].after[0].text.as_str()), ("5", "last"));
    let found = grep(2).await;
    let expected = [(3, vec![1, 2], vec![5]), (4, vec![2], vec![5, 6]), (7, vec![5, 6], vec![8]), (1, vec![], vec![2])];
    assert_eq!(with_context(&found.matches), expected);
    assert_eq!(with_context(&grep(100).await.matches)[2], (7, vec![1, 2, 5, 6], vec![8]));
    let regex = sandbox.grep(GrepQuery::new("^7").with_regex(true).with_context(1)).await.expect("found");
    assert_eq!(with_context(&regex.matches), [(7, vec![6], vec![8])]);
    assert_eq!(message(sandbox.grep(GrepQuery::new("x").with_context(101)).await), "at most 100 lines of context are allowed");
}

#[tokio::test]
async fn context_counts_towards_the_size_of_a_result() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    // Every line is near a match, and each match repeats the lines of the one before it.
    put(&dir, "many", format!("{}\nx\n", "y".repeat(2000)).repeat(5000));
    let found = sandbox.grep(GrepQuery::new("x").with_context(100)).await.expect("found");
    assert!(found.truncated && !found.matches.is_empty());
    let lines = found.matches.iter().flat_map(|found| found.before.iter().chain(&found.after));
    assert!(lines.clone().all(|line| line.truncated && line.text.len() == 1024));
    let bytes: usize = lines.map(|line| line.text.len()).sum();
    assert!((40 << 10..=50 << 10).contains(&bytes), "{bytes} bytes");
    // With lines that do not fit into the buffer together, the file is skipped.
    put(&dir, "many", format!("{}\n", "y".repeat(1 << 20)).repeat(10) + "x\n");
    let found = sandbox.grep(GrepQuery::new("x").with_context(100)).await.expect("found");
    assert_eq!((found.matches.len(), found.skipped), (0, 1));
    assert_eq!(sandbox.grep(GrepQuery::new("x")).await.expect("found").matches.len(), 1);
}

#[tokio::test]
async fn directories_are_found_unless_only_files_are_requested() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "a/b/c", "");
    assert_eq!(glob(&sandbox, "**", ".").await, ["a", "a/b", "a/b/c"]);
    let found = sandbox.glob(GlobQuery::new("**").with_files_only(true)).await.expect("found");
    assert_eq!(found.entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect::<Vec<_>>(), [("a/b/c", FileKind::File)]);
}
