//! Files beside scripts, as a program that embeds the library uses them: each operation, and what each refuses.

use crate::support::{IoDir, engine};
use std::{fs, time::SystemTime};
use toolscript::{Contents, CutBy, FileError, FileKind, Files, GlobQuery, GrepQuery, Sandbox, TextPart, WriteMode};

fn sandbox(dir: &IoDir) -> Sandbox {
    Sandbox::new(engine().clone(), dir.io.clone())
}

/// A file made from outside.
fn put(dir: &IoDir, name: &str, contents: impl AsRef<[u8]>) {
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, contents).expect("a file");
}

fn get(dir: &IoDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).expect("a file")
}

fn message<T: std::fmt::Debug>(result: Result<T, FileError>) -> String {
    result.expect_err("refused").to_string()
}

async fn text(sandbox: &Sandbox, path: &str, offset: u64, limit: Option<u64>) -> TextPart {
    match sandbox.read(path, offset, limit).await {
        Ok(Contents::Text(part)) => part,
        other => panic!("no text: {other:?}"),
    }
}

#[tokio::test]
async fn lines_are_read_from_an_offset_and_up_to_a_limit() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "five", "one\ntwo\nthree\nfour\nfive");
    let all = text(&sandbox, "five", 1, None).await;
    assert_eq!((all.text.as_str(), all.first, all.lines, all.total_lines, all.bytes), ("one\ntwo\nthree\nfour\nfive", 1, 5, 5, 23));
    assert_eq!((all.cut_by, all.line_cut, all.next), (None, false, None));
    assert_eq!(all.numbered(), "     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n     5\tfive");

    let middle = text(&sandbox, "five", 2, Some(2)).await;
    assert_eq!((middle.text.as_str(), middle.first, middle.lines, middle.total_lines), ("two\nthree\n", 2, 2, 5));
    assert_eq!((middle.cut_by, middle.next), (Some(CutBy::Lines), Some(4)));
    assert_eq!(middle.numbered(), "     2\ttwo\n     3\tthree\n");

    let last = text(&sandbox, "five", 5, Some(1)).await;
    assert_eq!((last.text.as_str(), last.cut_by, last.next), ("five", None, None));
    let none = text(&sandbox, "five", 3, Some(0)).await;
    assert_eq!((none.text.as_str(), none.lines, none.total_lines, none.cut_by, none.next), ("", 0, 5, Some(CutBy::Lines), Some(3)));

    assert_eq!(message(sandbox.read("five", 6, None).await), "five: the offset is past the end; the file has 5 lines");
    assert_eq!(message(sandbox.read("five", u64::MAX, Some(u64::MAX)).await), "five: the offset is past the end; the file has 5 lines");
    assert_eq!(message(sandbox.read("five", 0, None).await), "five: the offset counts from 1");
}

#[tokio::test]
async fn empty_files_newlines_and_windows_lines_are_counted_as_editors_do() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    for (contents, lines) in [("", 0), ("\n", 1), ("\n\n\n", 3), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\nb\r\n", 2), ("\r", 1)] {
        put(&dir, "f", contents);
        let part = text(&sandbox, "f", 1, None).await;
        assert_eq!((part.text.as_str(), part.lines, part.total_lines), (contents, lines, lines), "{contents:?}");
        let past = message(sandbox.read("f", lines.max(1) + 1, None).await);
        let noun = if lines == 1 { "line" } else { "lines" };
        assert_eq!(past, format!("f: the offset is past the end; the file has {lines} {noun}"));
    }
}

#[tokio::test]
async fn what_is_too_much_is_cut_between_lines_and_says_where_to_go_on() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "many", "x\n".repeat(2500));
    let first = text(&sandbox, "many", 1, None).await;
    assert_eq!((first.lines, first.total_lines, first.cut_by, first.next), (2000, 2500, Some(CutBy::Lines), Some(2001)));
    assert_eq!(text(&sandbox, "many", 1, Some(9999)).await, first);
    let rest = text(&sandbox, "many", 2001, None).await;
    assert_eq!((rest.lines, rest.cut_by, rest.next), (500, None, None));

    // 3,000 characters a line: 17 of them are 51,017 bytes.
    put(&dir, "wide", format!("{}\n", "é".repeat(1500)).repeat(100));
    let part = text(&sandbox, "wide", 1, None).await;
    assert_eq!((part.lines, part.text.len(), part.cut_by, part.next), (17, 17 * 3001, Some(CutBy::Bytes), Some(18)));
    assert!(!part.line_cut);

    // Reading on from where it says comes by each line once.
    let (mut offset, mut read) = (Some(1), String::new());
    while let Some(from) = offset {
        let part = text(&sandbox, "wide", from, None).await;
        read.push_str(&part.text);
        offset = part.next;
    }
    assert_eq!(read, get(&dir, "wide"));
}

#[tokio::test]
async fn a_line_that_is_too_long_is_cut_inside_and_flagged() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "long", format!("short\n{}\nlast\n", "日".repeat(400_000)));
    let before = text(&sandbox, "long", 1, None).await;
    assert_eq!((before.text.as_str(), before.cut_by, before.line_cut, before.next), ("short\n", Some(CutBy::Bytes), false, Some(2)));
    let cut = text(&sandbox, "long", 2, None).await;
    // 51,200 is not a multiple of three.
    assert_eq!((cut.text.len(), cut.lines, cut.total_lines), (51_198, 1, 3));
    assert_eq!((cut.cut_by, cut.line_cut, cut.next), (Some(CutBy::Bytes), true, Some(3)));
    assert!(cut.text.chars().all(|letter| letter == '日'));
    assert_eq!(text(&sandbox, "long", 3, None).await.text, "last\n");
    put(&dir, "long", "x".repeat(51_201));
    let only = text(&sandbox, "long", 1, None).await;
    assert_eq!((only.text.len(), only.lines, only.total_lines, only.line_cut, only.next), (51_200, 1, 1, true, None));
    put(&dir, "long", "x".repeat(51_200));
    let whole = text(&sandbox, "long", 1, None).await;
    assert_eq!((whole.text.len(), whole.line_cut, whole.cut_by), (51_200, false, None));
}

#[tokio::test]
async fn images_are_told_by_their_first_bytes_and_other_bytes_are_bytes() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    for (start, expected) in [
        (&b"\x89PNG\r\n\x1a\n"[..], "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
    ] {
        let contents = [start, b"\0and more"].concat();
        put(&dir, "misnamed.txt", &contents);
        match sandbox.read("misnamed.txt", 1, None).await {
            Ok(Contents::Image { mime_type, bytes }) => assert_eq!((mime_type, bytes), (expected, contents)),
            other => panic!("{expected}: {other:?}"),
        }
    }
    for contents in [&b"\x7fELF\0\0"[..], b"RIFF\x10\0\0\0WAVE", b"caf\xe9\n", b"\x89PN", "caf\u{e9}".as_bytes()[..4].as_ref()] {
        put(&dir, "other", contents);
        assert_eq!(sandbox.read("other", 1, None).await, Ok(Contents::Binary { bytes: contents.to_vec() }));
    }
    // What a text is does not depend on which of its lines are asked for.
    let late = [&b"line\n".repeat(3000)[..], b"caf\xe9\n"].concat();
    put(&dir, "late", &late);
    assert!(!text(&sandbox, "late", 1, None).await.lossy);
    let end = text(&sandbox, "late", 3000, None).await;
    assert_eq!((end.text.as_str(), end.lossy, end.total_lines), ("line\ncaf\u{fffd}\n", true, 3001));
    let mut small = dir.io.clone();
    small.max_bytes = 3;
    let small = Sandbox::new(engine().clone(), small);
    put(&dir, "other", b"\0\0\0\0");
    assert_eq!(message(small.read("other", 1, None).await), "other: it is larger than the 3 bytes that can be read at once");
    assert_eq!(message(small.read_raw("other").await), "other: it is larger than the 3 bytes that can be read at once");
    put(&dir, "text", "four");
    assert_eq!(text(&small, "text", 1, None).await.text, "four");
}

#[tokio::test]
async fn a_file_is_created_overwritten_and_appended_to() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    let written = sandbox.write("notes/deep/a b ü 日.txt", "one", WriteMode::Create).await.expect("written");
    assert_eq!((written.name.as_str(), written.bytes), ("notes/deep/a b ü 日.txt", 3));
    let again = sandbox.write("notes/./deep//a b ü 日.txt", "two", WriteMode::Create).await;
    assert_eq!(message(again), "notes/deep/a b ü 日.txt: File exists");
    assert_eq!(get(&dir, "notes/deep/a b ü 日.txt"), "one");
    sandbox.write("notes/deep/a b ü 日.txt", "second", WriteMode::Overwrite).await.expect("written");
    sandbox.write("notes/deep/a b ü 日.txt", " third", WriteMode::Append).await.expect("written");
    assert_eq!(get(&dir, "notes/deep/a b ü 日.txt"), "second third");
    for (mode, name) in [(WriteMode::Overwrite, "new1"), (WriteMode::Append, "sub/new2")] {
        assert_eq!(sandbox.write(name, "", mode).await.expect("written").bytes, 0);
        assert_eq!(get(&dir, name), "");
    }
    for mode in [WriteMode::Create, WriteMode::Overwrite, WriteMode::Append] {
        assert_eq!(message(sandbox.write("notes", "x", mode).await), "notes: Is a directory");
        assert_eq!(message(sandbox.write("new/", "x", mode).await), "new: Is a directory");
        assert_eq!(message(sandbox.write("new1/x", "x", mode).await), "new1/x: Not a directory");
    }
}

#[tokio::test]
async fn ten_mebibytes_come_back_as_they_were() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    let contents: Vec<u8> = (0..10_u32 << 20).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    sandbox.write("large", contents.clone(), WriteMode::Create).await.expect("written");
    assert!(sandbox.read_raw("large").await.expect("read") == contents);
    sandbox.write("large", contents.clone(), WriteMode::Append).await.expect("written");
    assert_eq!(sandbox.read_raw("large").await.expect("read").len(), 20 << 20);
}

#[tokio::test]
async fn permissions_of_a_file_stay_when_it_is_replaced() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "f", "one");
    fs::set_permissions(dir.path().join("f"), fs::Permissions::from_mode(0o640)).expect("set");
    sandbox.write("f", "two", WriteMode::Overwrite).await.expect("written");
    sandbox.edit("f", "two", "three", false).await.expect("edited");
    assert_eq!(fs::metadata(dir.path().join("f")).expect("metadata").permissions().mode() & 0o777, 0o640);
}

#[tokio::test]
async fn an_edit_replaces_exact_text_and_counts() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "f", "a.b a+b $& a.b\n");
    assert_eq!(message(sandbox.edit("f", "a.b", "x", false).await), EDIT_TWICE);
    assert_eq!(message(sandbox.edit("f", "A.B", "x", false).await), "f: the text to replace is not in the file");
    assert_eq!(message(sandbox.edit("f", "a?b", "x", true).await), "f: the text to replace is not in the file");
    assert_eq!(message(sandbox.edit("f", "", "x", true).await), "f: the text to replace is empty");
    assert_eq!(message(sandbox.edit("f", "a", "a", true).await), "f: the new text is the same as the old one");
    assert_eq!(message(sandbox.edit("none", "a", "b", true).await), "none: No such file or directory");
    assert_eq!(get(&dir, "f"), "a.b a+b $& a.b\n");

    // What other tools take for a reference to what they found.
    let edited = sandbox.edit("f", "a.b", "$&$1\\1", true).await.expect("edited");
    assert_eq!((edited.name.as_str(), edited.count, edited.bytes), ("f", 2, 21));
    assert_eq!(get(&dir, "f"), "$&$1\\1 a+b $& $&$1\\1\n");
    assert_eq!(sandbox.edit("f", "a+b $& ", "", false).await.expect("edited").count, 1);
    assert_eq!(get(&dir, "f"), "$&$1\\1 $&$1\\1\n");
    put(&dir, "f", "aaaa");
    assert_eq!(sandbox.edit("f", "aa", "b", true).await.expect("edited").count, 2, "matches do not overlap");
    assert_eq!(get(&dir, "f"), "bb");
}

const EDIT_TWICE: &str = "f: the text to replace is there 2 times; give more of what is around it, or replace all";

#[tokio::test]
async fn an_edit_keeps_line_endings() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "f", "one\r\ntwo\r\nthree\r\n");
    sandbox.edit("f", "one\ntwo", "1\n1.5\n2", false).await.expect("edited");
    assert_eq!(get(&dir, "f"), "1\r\n1.5\r\n2\r\nthree\r\n");
    sandbox.edit("f", "2\r\nthree", "2\r\n3", false).await.expect("edited");
    assert_eq!(get(&dir, "f"), "1\r\n1.5\r\n2\r\n3\r\n");
    // Where both are in use, a text is what it is.
    put(&dir, "f", "one\r\ntwo\nthree\r\n");
    assert_eq!(message(sandbox.edit("f", "one\ntwo", "x", false).await), "f: the text to replace is not in the file");
    sandbox.edit("f", "two\nthree", "2\n3", false).await.expect("edited");
    assert_eq!(get(&dir, "f"), "one\r\n2\n3\r\n");
}

#[tokio::test]
async fn a_call_has_a_limit_of_its_own() {
    let mut dir = IoDir::new();
    dir.io.max_bytes = 10;
    let sandbox = sandbox(&dir);
    let limit = "I/O write limit exceeded (10 bytes)";
    for mode in [WriteMode::Create, WriteMode::Overwrite, WriteMode::Append] {
        assert_eq!(message(sandbox.write("folder/f", "12345678901", mode).await), limit);
    }
    assert!(!dir.path().exists(), "nothing was made");
    for _ in 0..3 {
        sandbox.write("f", "1234567890", WriteMode::Overwrite).await.expect("each call begins anew");
    }
    assert_eq!(message(sandbox.edit("f", "0", "xy", false).await), limit);
    put(&dir, "g", "12345678901");
    assert_eq!(message(sandbox.edit("g", "1", "", true).await), "g: it is larger than the 10 bytes that can be read at once");
    let mut no_files = dir.io.clone();
    no_files.max_files = 0;
    let no_files = Sandbox::new(engine().clone(), no_files);
    for mode in [WriteMode::Create, WriteMode::Overwrite, WriteMode::Append] {
        assert_eq!(message(no_files.write("new", "x", mode).await), "too many files created (max 0)");
    }
    no_files.write("f", "0987654321", WriteMode::Overwrite).await.expect("nothing is made");
    let results = sandbox.upload(vec![("a".into(), vec![0; 6]), ("b".into(), vec![0; 6]), ("c".into(), vec![0; 4])]).await;
    assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true], "the call as a whole has it");
    let downloads = sandbox.download(["a", "f", "c", "none"].map(str::to_owned).into()).await;
    assert_eq!(downloads.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, false]);
}

#[tokio::test]
async fn the_limit_of_the_disk_holds_for_every_call() {
    let dir = IoDir::new();
    let files = dir.io.files.clone().with_disk_limit(5000).expect("counted");
    let sandbox = Sandbox::new(engine().clone(), files);
    let limit = "disk limit exceeded (5000 bytes for all files)";
    sandbox.write("f", vec![0; 1500], WriteMode::Create).await.expect("written");
    assert_eq!(message(sandbox.write("folder/g", vec![0; 2000], WriteMode::Create).await), limit);
    assert_eq!(message(sandbox.write("g", vec![0; 2000], WriteMode::Append).await), limit);
    assert_eq!(sandbox.list(".").await.expect("listed").len(), 1, "nothing was made");
    // Old and new are there together for a moment.
    assert_eq!(message(sandbox.write("f", vec![0; 2500], WriteMode::Overwrite).await), limit);
    for _ in 0..10 {
        sandbox.write("f", vec![0; 1900], WriteMode::Overwrite).await.expect("what was replaced is free again");
    }
    sandbox.remove("f").await.expect("removed");
    sandbox.write("f", vec![b'x'; 3900], WriteMode::Create).await.expect("written");
    assert_eq!(message(sandbox.edit("f", "x", "y", true).await), limit);
    let run = sandbox.exec("io.open('h', 'w')", Default::default()).await;
    assert_eq!(
        (run.output.lines().next(), run.exit_code),
        (Some("error: runtime: script:1: disk limit exceeded (5000 bytes for all files)"), 1)
    );
}

#[tokio::test]
async fn a_folder_is_listed_with_kinds_sizes_and_times() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    assert_eq!(sandbox.list(".").await.expect("listed"), []);
    for number in 0..50 {
        put(&dir, &format!("many/{number:02}.txt"), "x".repeat(number));
    }
    put(&dir, "many/.hidden", "");
    put(&dir, "many/sub/deeper", "");
    std::os::unix::fs::symlink("00.txt", dir.path().join("many/link")).expect("a link");
    let listed = sandbox.list("many").await.expect("listed");
    let names: Vec<&str> = listed.iter().map(|info| info.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[1], names[50], names[51], names[52]), (53, ".hidden", "00.txt", "49.txt", "link", "sub"));
    assert!(names.is_sorted());
    assert_eq!((listed[50].kind, listed[50].bytes), (FileKind::File, 49));
    assert_eq!((listed[51].kind, listed[52].kind, listed[52].bytes), (FileKind::Link, FileKind::Folder, 0));
    let age = SystemTime::now().duration_since(listed[0].modified.expect("a time")).expect("in the past");
    assert!(age.as_secs() < 600);
    assert_eq!(message(sandbox.list("none").await), "none: No such file or directory");
    assert_eq!(message(sandbox.list("many/00.txt").await), "many/00.txt: Not a directory");
}

async fn glob(sandbox: &Sandbox, pattern: &str, path: &str) -> Vec<String> {
    let found = sandbox.glob(GlobQuery::new(pattern).in_folder(path)).await.expect("found");
    found.entries.into_iter().map(|entry| entry.name).collect()
}

#[tokio::test]
async fn names_are_found_by_patterns() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    assert_eq!(glob(&sandbox, "**", ".").await, [""; 0], "nothing is there yet");
    for name in ["a.txt", "b.md", "src/a.txt", "src/deep/er/c.txt", "src/deep/d [1].txt", ".env", ".git/config", "src/.hidden/x.txt"] {
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
    // Hidden names only by a dot of their own.
    assert_eq!(glob(&sandbox, ".*", ".").await, [".env", ".git"]);
    assert_eq!(glob(&sandbox, "**/.env", ".").await, [".env"]);
    assert_eq!(glob(&sandbox, ".git/*", ".").await, [".git/config"]);
    assert_eq!(glob(&sandbox, "**/.hidden/*", ".").await, ["src/.hidden/x.txt"]);
    let mut query = GlobQuery::new("**/*");
    query.hidden = true;
    let all = sandbox.glob(query.clone()).await.expect("found");
    assert_eq!((all.entries.len(), all.truncated, all.skipped), (13, false, 0));
    assert_eq!((all.entries[0].name.as_str(), all.entries[1].kind, all.entries[0].bytes), (".env", FileKind::Folder, 4));
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
        assert_eq!(message(sandbox.glob(GlobQuery::new(pattern).in_folder(path)).await), expected);
    }
}

async fn grep(sandbox: &Sandbox, query: GrepQuery) -> Vec<String> {
    let found = sandbox.grep(query).await.expect("found");
    found.matches.into_iter().map(|found| format!("{}:{}:{}", found.name, found.line, found.text)).collect()
}

#[tokio::test]
async fn lines_are_found_by_what_is_in_them() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    assert_eq!(grep(&sandbox, GrepQuery::new("x")).await, [""; 0], "nothing is there yet");
    put(&dir, "a.txt", "first needle\r\nn.edle\nlast needle");
    put(&dir, "src/b.lua", "-- needle (1+1)\n");
    put(&dir, "src/c.txt", "\n\nneedle");
    put(&dir, "binary", "needle\n\0needle\n");
    put(&dir, ".hidden", "needle");
    let found = sandbox.grep(GrepQuery::new("needle")).await.expect("found");
    assert_eq!((found.matches.len(), found.files, found.binary, found.skipped, found.truncated), (4, 3, 1, 0, false));
    let all = ["a.txt:1:first needle", "a.txt:3:last needle", "src/b.lua:1:-- needle (1+1)", "src/c.txt:3:needle"];
    assert_eq!(grep(&sandbox, GrepQuery::new("needle")).await, all);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").in_path("src")).await, all[2..]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").in_path("a.txt")).await, all[..2]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").in_path(".hidden")).await, [".hidden:1:needle"]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob("*.txt")).await, [all[0], all[1], all[3]]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob("src/*.txt")).await, all[3..]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob(".*")).await, [".hidden:1:needle"]);
    put(&dir, ".github/ci.yml", "needle");
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob(".github/**/*.yml")).await, [".github/ci.yml:1:needle"]);
    assert_eq!(grep(&sandbox, GrepQuery::new("needle").with_glob("none/*")).await, [""; 0]);
    // Literally, unless asked otherwise.
    assert_eq!(grep(&sandbox, GrepQuery::new("n.edle")).await, ["a.txt:2:n.edle"]);
    assert_eq!(grep(&sandbox, GrepQuery::new("(1+1)")).await, all[2..3]);
    assert_eq!(grep(&sandbox, GrepQuery::new("$&")).await, [""; 0]);
    assert_eq!(grep(&sandbox, GrepQuery::new("^n.e+dle$").as_regex()).await, ["a.txt:2:n.edle", all[3]]);
    assert_eq!(grep(&sandbox, GrepQuery::new("t needle$").as_regex()).await, all[..2], "lines may end in two ways");
    assert_eq!(grep(&sandbox, GrepQuery::new(r"\w{5,20}").as_regex().in_path("src/c.txt")).await, all[3..]);
    for (query, expected) in [
        (GrepQuery::new("(").as_regex(), "the pattern can't be used: unclosed group"),
        (GrepQuery::new(""), "the pattern can't be used: it is empty"),
        (GrepQuery::new("a\nb"), "the pattern can't be used: it has a newline, and is compared with one line at a time"),
        (GrepQuery::new("x".repeat(4097)), "the pattern can't be used: at most 4096 bytes are allowed"),
        (GrepQuery::new("x").in_path("none"), "none: No such file or directory"),
        (GrepQuery::new("x").in_path("../x"), "path cannot contain '..' traversal"),
        (GrepQuery::new("x").with_glob("[z-a]"), "the pattern '[z-a]' can't be used: invalid range; 'z' > 'a'"),
    ] {
        assert_eq!(message(sandbox.grep(query).await), expected);
    }
    // A machine that would be huge is refused before it is built.
    for bomb in ["(\\w{100}){100}", "(?-u)(?:[ab]{1,300}a){100}c"] {
        assert!(message(sandbox.grep(GrepQuery::new(bomb).as_regex()).await).starts_with("the pattern can't be used: "));
    }
}

#[tokio::test]
async fn a_search_that_finds_too_much_is_cut_and_flagged() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "many", "x\n".repeat(5000));
    let found = sandbox.grep(GrepQuery::new("x")).await.expect("found");
    assert_eq!((found.matches.len(), found.truncated), (1000, true));
    put(&dir, "many", format!("{}\n", "é".repeat(1500)).repeat(100));
    let found = sandbox.grep(GrepQuery::new("é")).await.expect("found");
    assert!(found.truncated);
    assert!(found.matches.iter().all(|found| found.cut && found.text.len() == 1024 && found.text.chars().all(|letter| letter == 'é')));
    let bytes: usize = found.matches.iter().map(|found| found.text.len()).sum();
    assert!((40 << 10..=50 << 10).contains(&bytes), "{bytes} bytes");
    // A line that does not fit into what a search may hold.
    put(&dir, "many", "x".repeat(9 << 20));
    let found = sandbox.grep(GrepQuery::new("x")).await.expect("found");
    assert_eq!((found.matches.len(), found.skipped), (0, 1));
}

#[tokio::test]
async fn many_files_go_up_and_down_with_a_result_each() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "b", "old");
    let uploads = [("a/1", &b"one"[..]), ("../x", b"x"), ("b", b"\0\xff"), ("b/c", b"x")];
    let results = sandbox.upload(uploads.map(|(path, contents)| (path.to_owned(), contents.to_vec())).into()).await;
    assert_eq!(results[0].as_ref().map(|written| (written.name.as_str(), written.bytes)), Ok(("a/1", 3)));
    assert_eq!(results[1].clone().map(|_| ()), Err(FileError::Invalid("path cannot contain '..' traversal")));
    assert_eq!(results[2].as_ref().map(|written| written.bytes), Ok(2));
    assert_eq!(message(results[3].clone()), "b/c: Not a directory");
    let downloads = sandbox.download(["a/1", "none", "b", "a"].map(str::to_owned).into()).await;
    assert_eq!(downloads[0].as_deref(), Ok(&b"one"[..]));
    assert_eq!(message(downloads[1].clone()), "none: No such file or directory");
    assert_eq!(downloads[2].as_deref(), Ok(&b"\0\xff"[..]));
    assert_eq!(message(downloads[3].clone()), "a: Is a directory");
    assert_eq!(sandbox.remove("./a//1").await.as_deref(), Ok("a/1"));
    assert_eq!(message(sandbox.remove("a/1").await), "a/1: No such file or directory");
    assert_eq!(message(sandbox.remove("a").await), "a: Is a directory");
}

#[tokio::test]
async fn paths_start_at_the_working_folder_and_names_count_from_home() {
    let dir = IoDir::new();
    let home = sandbox(&dir);
    let desk = home.clone().with_working("desk").expect("a folder");
    assert_eq!((home.working(), desk.working()), (".", "desk"));
    assert_eq!(desk.list(".").await.expect("empty before the first write"), []);
    assert_eq!(desk.write("a.txt", "on the desk", WriteMode::Create).await.expect("written").name, "desk/a.txt");
    assert_eq!(desk.write("~/b.txt", "at home", WriteMode::Create).await.expect("written").name, "b.txt");
    assert_eq!(home.read_raw("~/desk/a.txt").await.expect("read"), b"on the desk");
    assert_eq!(desk.read_raw("~/b.txt").await.expect("read"), b"at home");
    assert_eq!(message(desk.read_raw("b.txt").await), "desk/b.txt: No such file or directory");
    assert_eq!(glob(&desk, "*", ".").await, ["desk/a.txt"]);
    assert_eq!(grep(&desk, GrepQuery::new("at").in_path("~")).await, ["b.txt:1:at home"]);
    assert_eq!(message(desk.read_raw("../b.txt").await), "path cannot contain '..' traversal");
    assert_eq!(message(desk.read_raw("/b.txt").await), "path must be relative");
    assert_eq!(message(desk.read_raw("~//b.txt").await), "path must be relative");
    assert_eq!(desk.clone().with_working("drawer").expect("a folder").working(), "desk/drawer");
    assert_eq!(desk.clone().with_working("~").expect("home").working(), ".");
    assert!(desk.with_working("../..").is_err());
    let names = home.files().list("~").expect("listed");
    assert_eq!(names.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["b.txt", "desk"]);
}

#[tokio::test]
async fn a_search_ends_with_the_time_that_it_has_or_with_its_caller() {
    let dir = IoDir::new();
    put(&dir, "f", "x");
    let mut limits = toolscript::Limits::default();
    limits.timeout = std::time::Duration::from_nanos(1);
    let sandbox = sandbox(&dir).with_limits(limits);
    let late = "it took too long, or is not wanted any more";
    assert_eq!(message(sandbox.grep(GrepQuery::new("x")).await), late);
    assert_eq!(message(sandbox.glob(GlobQuery::new("**")).await), late);
    let files: &Files = sandbox.files();
    assert_eq!(message(files.grep(&GrepQuery::new("x").in_path("f"), &|| false)), late);
}
