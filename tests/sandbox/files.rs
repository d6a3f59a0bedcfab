//! File operations of a sandbox, as an embedding program uses them: their results and their errors.

use super::{
    sandbox,
    search::{glob, grep},
};
use crate::support::{IoDir, engine};
use std::fs;
use toolscript::{
    Sandbox,
    files::{FileContents, FileError, GrepQuery, TextPage, TruncatedBy, WriteMode},
};

/// Creates a file from outside.
pub fn put(dir: &IoDir, name: &str, contents: impl AsRef<[u8]>) {
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, contents).expect("a file");
}

fn get(dir: &IoDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).expect("a file")
}

pub fn message<T: std::fmt::Debug>(result: Result<T, FileError>) -> String {
    result.expect_err("an error").to_string()
}

async fn text(sandbox: &Sandbox, path: &str, offset: u64, limit: Option<u64>) -> TextPage {
    match sandbox.read(path, offset, limit).await {
        Ok(FileContents::Text(page)) => page,
        other => panic!("not text: {other:?}"),
    }
}

#[tokio::test]
async fn lines_are_read_from_an_offset_and_up_to_a_limit() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "five", "one\ntwo\nthree\nfour\nfive");
    let all = text(&sandbox, "five", 1, None).await;
    assert_eq!((all.text.as_str(), all.first_line, all.lines, all.total_lines, all.bytes), ("one\ntwo\nthree\nfour\nfive", 1, 5, 5, 23));
    assert_eq!((all.truncated_by, all.line_truncated, all.next_line), (None, false, None));
    assert_eq!(all.numbered(), "     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n     5\tfive");

    let middle = text(&sandbox, "five", 2, Some(2)).await;
    assert_eq!((middle.text.as_str(), middle.first_line, middle.lines, middle.total_lines), ("two\nthree\n", 2, 2, 5));
    assert_eq!((middle.truncated_by, middle.next_line), (Some(TruncatedBy::Lines), Some(4)));
    assert_eq!(middle.numbered(), "     2\ttwo\n     3\tthree\n");

    let last = text(&sandbox, "five", 5, Some(1)).await;
    assert_eq!((last.text.as_str(), last.truncated_by, last.next_line), ("five", None, None));
    let none = text(&sandbox, "five", 3, Some(0)).await;
    assert_eq!(
        (none.text.as_str(), none.lines, none.total_lines, none.truncated_by, none.next_line),
        ("", 0, 5, Some(TruncatedBy::Lines), Some(3))
    );

    assert_eq!(message(sandbox.read("five", 6, None).await), "five: the offset is past the end; the file has 5 lines");
    assert_eq!(message(sandbox.read("five", u64::MAX, Some(u64::MAX)).await), "five: the offset is past the end; the file has 5 lines");
    assert_eq!(message(sandbox.read("five", 0, None).await), "five: the offset counts from 1");
}

#[tokio::test]
async fn lines_are_counted_as_editors_count_them() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    for (contents, lines) in [("", 0), ("\n", 1), ("\n\n\n", 3), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\nb\r\n", 2), ("\r", 1)] {
        put(&dir, "f", contents);
        let page = text(&sandbox, "f", 1, None).await;
        assert_eq!((page.text.as_str(), page.lines, page.total_lines), (contents, lines, lines), "{contents:?}");
        let past = message(sandbox.read("f", lines.max(1) + 1, None).await);
        let noun = if lines == 1 { "line" } else { "lines" };
        assert_eq!(past, format!("f: the offset is past the end; the file has {lines} {noun}"));
    }
}

#[tokio::test]
async fn a_page_ends_between_lines_and_names_the_next_line() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "many", "x\n".repeat(2500));
    let first = text(&sandbox, "many", 1, None).await;
    assert_eq!((first.lines, first.total_lines, first.truncated_by, first.next_line), (2000, 2500, Some(TruncatedBy::Lines), Some(2001)));
    assert_eq!(text(&sandbox, "many", 1, Some(9999)).await, first);
    let rest = text(&sandbox, "many", 2001, None).await;
    assert_eq!((rest.lines, rest.truncated_by, rest.next_line), (500, None, None));

    // Each line has 3,000 characters; 8 lines are 48,008 bytes.
    put(&dir, "wide", format!("{}\n", "é".repeat(3000)).repeat(100));
    let page = text(&sandbox, "wide", 1, None).await;
    assert_eq!((page.lines, page.text.len(), page.truncated_by, page.next_line), (8, 8 * 6001, Some(TruncatedBy::Bytes), Some(9)));
    assert!(!page.line_truncated);

    // Reading page by page returns each line once.
    let (mut offset, mut read) = (Some(1), String::new());
    while let Some(from) = offset {
        let page = text(&sandbox, "wide", from, None).await;
        read.push_str(&page.text);
        offset = page.next_line;
    }
    assert_eq!(read, get(&dir, "wide"));
}

#[tokio::test]
async fn a_line_that_is_too_long_is_truncated_and_flagged() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "long", format!("short\n{}\nlast\n", "日".repeat(400_000)));
    let before = text(&sandbox, "long", 1, None).await;
    assert_eq!(
        (before.text.as_str(), before.truncated_by, before.line_truncated, before.next_line),
        ("short\n", Some(TruncatedBy::Bytes), false, Some(2))
    );
    let truncated = text(&sandbox, "long", 2, None).await;
    // 51,200 is not a multiple of three.
    assert_eq!((truncated.text.len(), truncated.lines, truncated.total_lines), (51_198, 1, 3));
    assert_eq!((truncated.truncated_by, truncated.line_truncated, truncated.next_line), (Some(TruncatedBy::Bytes), true, Some(3)));
    assert!(truncated.text.chars().all(|letter| letter == '日'));
    assert_eq!(text(&sandbox, "long", 3, None).await.text, "last\n");
    put(&dir, "long", "x".repeat(51_201));
    let only = text(&sandbox, "long", 1, None).await;
    assert_eq!((only.text.len(), only.lines, only.total_lines, only.line_truncated, only.next_line), (51_200, 1, 1, true, None));
    put(&dir, "long", "x".repeat(51_200));
    let whole = text(&sandbox, "long", 1, None).await;
    assert_eq!((whole.text.len(), whole.line_truncated, whole.truncated_by), (51_200, false, None));
}

#[tokio::test]
async fn images_are_detected_by_their_first_bytes_and_other_files_are_binary() {
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
            Ok(FileContents::Image { mime_type, bytes }) => assert_eq!((mime_type, bytes), (expected, contents)),
            other => panic!("{expected}: {other:?}"),
        }
    }
    for contents in [&b"\x7fELF\0\0"[..], b"RIFF\x10\0\0\0WAVE", b"caf\xe9\n", b"\x89PN", "caf\u{e9}".as_bytes()[..4].as_ref()] {
        put(&dir, "other", contents);
        assert_eq!(sandbox.read("other", 1, None).await, Ok(FileContents::Binary { bytes: contents.to_vec() }));
    }
    // Whether a file is text does not depend on the lines that are read.
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
async fn a_file_can_be_created_overwritten_and_appended_to() {
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
async fn ten_mebibytes_are_read_back_unchanged() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    let contents: Vec<u8> = (0..10_u32 << 20).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    sandbox.write("large", contents.clone(), WriteMode::Create).await.expect("written");
    assert!(sandbox.read_raw("large").await.expect("read") == contents);
    sandbox.write("large", contents.clone(), WriteMode::Append).await.expect("written");
    assert_eq!(sandbox.read_raw("large").await.expect("read").len(), 20 << 20);
}

#[tokio::test]
async fn the_permissions_of_a_file_are_kept_when_it_is_replaced() {
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
async fn an_edit_replaces_literal_text_and_counts_replacements() {
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

    // The replacement is literal text, even if it looks like a reference to a match.
    let edited = sandbox.edit("f", "a.b", "$&$1\\1", true).await.expect("edited");
    assert_eq!((edited.name.as_str(), edited.count, edited.bytes), ("f", 2, 21));
    assert_eq!(get(&dir, "f"), "$&$1\\1 a+b $& $&$1\\1\n");
    assert_eq!(sandbox.edit("f", "a+b $& ", "", false).await.expect("edited").count, 1);
    assert_eq!(get(&dir, "f"), "$&$1\\1 $&$1\\1\n");
    put(&dir, "f", "aaaa");
    assert_eq!(sandbox.edit("f", "aa", "b", true).await.expect("edited").count, 2, "matches do not overlap");
    assert_eq!(get(&dir, "f"), "bb");
}

const EDIT_TWICE: &str = "f: the text to replace occurs 2 times; include more of the surrounding text, or replace all";

#[tokio::test]
async fn an_edit_keeps_line_endings() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    put(&dir, "f", "one\r\ntwo\r\nthree\r\n");
    sandbox.edit("f", "one\ntwo", "1\n1.5\n2", false).await.expect("edited");
    assert_eq!(get(&dir, "f"), "1\r\n1.5\r\n2\r\nthree\r\n");
    sandbox.edit("f", "2\r\nthree", "2\r\n3", false).await.expect("edited");
    assert_eq!(get(&dir, "f"), "1\r\n1.5\r\n2\r\n3\r\n");
    assert_eq!(message(sandbox.edit("f", "3\r\n", "3\n", false).await), "f: the new text is the same as the old one");
    // In a file with mixed line endings, nothing is converted.
    put(&dir, "f", "one\r\ntwo\nthree\r\n");
    assert_eq!(message(sandbox.edit("f", "one\ntwo", "x", false).await), "f: the text to replace is not in the file");
    sandbox.edit("f", "two\nthree", "2\n3", false).await.expect("edited");
    assert_eq!(get(&dir, "f"), "one\r\n2\n3\r\n");
}

#[tokio::test]
async fn each_operation_has_its_own_write_limit() {
    let mut dir = IoDir::new();
    dir.io.max_bytes = 10;
    let sandbox = sandbox(&dir);
    let limit = "I/O write limit exceeded (10 bytes)";
    for mode in [WriteMode::Create, WriteMode::Overwrite, WriteMode::Append] {
        assert_eq!(message(sandbox.write("folder/f", "12345678901", mode).await), limit);
    }
    assert!(!dir.path().exists(), "nothing was created");
    for _ in 0..3 {
        sandbox.write("f", "1234567890", WriteMode::Overwrite).await.expect("each operation starts with a new limit");
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
    no_files.write("f", "0987654321", WriteMode::Overwrite).await.expect("no file is created");
    let results = sandbox.upload(vec![("a".into(), vec![0; 6]), ("b".into(), vec![0; 6]), ("c".into(), vec![0; 4])]).await;
    assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true], "all uploads share one limit");
    let downloads = sandbox.download(["a", "f", "c", "none"].map(str::to_owned).into()).await;
    assert_eq!(downloads.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, false]);
}

#[tokio::test]
async fn the_disk_quota_applies_to_every_operation() {
    let dir = IoDir::new();
    let files = dir.io.files.clone().with_disk_quota(5000).expect("counted");
    let sandbox = Sandbox::new(engine().clone(), files);
    let limit = "disk quota exceeded (5000 bytes for all files)";
    sandbox.write("f", vec![0; 1500], WriteMode::Create).await.expect("written");
    assert_eq!(message(sandbox.write("folder/g", vec![0; 2000], WriteMode::Create).await), limit);
    assert_eq!(message(sandbox.write("g", vec![0; 2000], WriteMode::Append).await), limit);
    assert_eq!(message(sandbox.write("1/2/3/4/5/f", "x", WriteMode::Create).await), limit);
    assert_eq!(message(sandbox.write("1/2/3/4/5/f", "x", WriteMode::Append).await), limit);
    assert_eq!(sandbox.list(".").await.expect("listed").len(), 1, "nothing was created");
    // The old and the new contents exist at the same time for a moment.
    assert_eq!(message(sandbox.write("f", vec![0; 2500], WriteMode::Overwrite).await), limit);
    for _ in 0..10 {
        sandbox.write("f", vec![0; 1900], WriteMode::Overwrite).await.expect("the space of the replaced file is free again");
    }
    sandbox.remove("f").await.expect("removed");
    sandbox.write("f", vec![b'x'; 3900], WriteMode::Create).await.expect("written");
    assert_eq!(message(sandbox.edit("f", "x", "y", true).await), limit);
    let run = sandbox.exec("io.open('h', 'w')", Default::default()).await;
    assert_eq!(
        (run.output.lines().next(), run.exit_code),
        (Some("error: runtime: script:1: disk quota exceeded (5000 bytes for all files)"), 1)
    );
}

#[tokio::test]
async fn uploads_and_downloads_return_a_result_for_each_file() {
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
async fn paths_start_at_the_working_directory_and_names_are_relative_to_the_io_directory() {
    let dir = IoDir::new();
    let home = sandbox(&dir);
    let desk = home.clone().with_working_directory("desk").expect("a directory");
    assert_eq!((home.working_directory(), desk.working_directory()), (".", "desk"));
    assert_eq!(desk.list(".").await.expect("empty before the first write"), []);
    assert_eq!(desk.write("a.txt", "on the desk", WriteMode::Create).await.expect("written").name, "desk/a.txt");
    assert_eq!(desk.write("~/b.txt", "at home", WriteMode::Create).await.expect("written").name, "b.txt");
    assert_eq!(home.read_raw("~/desk/a.txt").await.expect("read"), b"on the desk");
    assert_eq!(desk.read_raw("~/b.txt").await.expect("read"), b"at home");
    assert_eq!(message(desk.read_raw("b.txt").await), "desk/b.txt: No such file or directory");
    assert_eq!(glob(&desk, "*", ".").await, ["desk/a.txt"]);
    assert_eq!(grep(&desk, GrepQuery::new("at").with_path("~")).await, ["b.txt:1:at home"]);
    assert_eq!(message(desk.read_raw("../b.txt").await), "path cannot contain '..' traversal");
    assert_eq!(message(desk.read_raw("/b.txt").await), "path must be relative");
    assert_eq!(message(desk.read_raw("~//b.txt").await), "path must be relative");
    assert_eq!(desk.clone().with_working_directory("drawer").expect("a directory").working_directory(), "desk/drawer");
    assert_eq!(desk.clone().with_working_directory("~").expect("home").working_directory(), ".");
    assert!(desk.with_working_directory("../..").is_err());
    let names = home.files().list("~").expect("listed");
    assert_eq!(names.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["b.txt", "desk"]);
}
