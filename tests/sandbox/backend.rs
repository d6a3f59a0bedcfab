//! The interface for agent frameworks.

use super::sandbox;
use crate::support::IoDir;
use std::{fs, time::Duration};
use toolscript::{
    files::{FileContents, FileError, FileErrorCode, FileKind, GlobQuery, GrepQuery, TextPage, WriteMode},
    sandbox::Backend,
};

/// Returns a sandbox as a framework uses it, through the trait.
fn backend(dir: &IoDir) -> Box<dyn Backend> {
    Box::new(sandbox(dir))
}

fn text(contents: Result<FileContents, FileError>) -> TextPage {
    match contents {
        Ok(FileContents::Text(page)) => page,
        other => panic!("not text: {other:?}"),
    }
}

async fn glob(backend: &dyn Backend, query: GlobQuery) -> Vec<String> {
    backend.glob(query).await.expect("found").entries.into_iter().map(|entry| entry.name).collect()
}

#[tokio::test]
async fn a_backend_executes_commands_and_returns_the_exit_code() {
    let dir = IoDir::new();
    let backend = backend(&dir);
    let hello = backend.execute("luau -e 'print(\"hello\")'", None).await;
    assert_eq!((hello.output.trim(), hello.exit_code, hello.truncated), ("hello", 0, false));
    let error = backend.execute("luau -e 'error(\"error\", 0)'", None).await;
    assert!(error.stderr().starts_with("error: runtime: error\n"), "errors are reported in the output: {}", error.output);
    assert_eq!(error.exit_code, 1);
    assert_eq!(backend.execute("exit 42", None).await.exit_code, 2, "there is no shell");
}

#[tokio::test]
async fn a_timeout_of_a_command_only_lowers_the_limit() {
    let dir = IoDir::new();
    let limits = toolscript::Limits::default().with_timeout(Duration::from_millis(200));
    let backend: Box<dyn Backend> = Box::new(sandbox(&dir).with_limits(limits));
    for (timeout, seconds) in [(None, "0.2"), (Some(100), "0.1"), (Some(60_000), "0.2")] {
        let stopped = backend.execute("luau -e 'while true do end'", timeout.map(Duration::from_millis)).await;
        assert_eq!(
            (stopped.stderr(), stopped.exit_code),
            (format!("error: timeout: the script ran longer than {seconds} s\n").as_str(), 3)
        );
    }
    let rejected = backend.execute("luau -e 'return 1'", Some(Duration::ZERO)).await;
    assert_eq!((rejected.stderr(), rejected.exit_code), ("error: timeout must be more than 0 and at most 86400 seconds\n", 2));
}

#[tokio::test]
async fn the_id_of_a_backend_is_unique_and_never_changes() {
    let dir = IoDir::new();
    let (one, other) = (sandbox(&dir), sandbox(&dir));
    assert_ne!(one.id(), other.id());
    assert_eq!(one.clone().id(), one.id());
    assert_eq!(one.clone().with_working_directory("x").expect("a directory").id(), one.id());
    let (word, number) = one.id().split_once('-').expect("two parts");
    assert!(word == "toolscript" && number.len() == 16 && number.bytes().all(|digit| digit.is_ascii_hexdigit()), "{}", one.id());
    assert_eq!(one.with_id("agent-7").id(), "agent-7");
}

#[tokio::test]
async fn a_backend_writes_as_the_mode_says_edits_and_deletes() {
    let dir = IoDir::new();
    let backend = backend(&dir);
    let write = |text: &'static str, mode| backend.write("/test.txt", text.into(), mode);
    assert_eq!(write("hello", WriteMode::Create).await.expect("written").name, "/test.txt");
    let exists = write("again", WriteMode::Create).await.expect_err("exists");
    assert_eq!((exists.to_string().as_str(), exists.code().name()), ("test.txt: File exists", "file_exists"));
    write(" world", WriteMode::Append).await.expect("appended");
    assert_eq!(backend.read_raw("/test.txt").await.as_deref(), Ok(&b"hello world"[..]));
    write("foo bar baz", WriteMode::Overwrite).await.expect("replaced");

    let edited = backend.edit("/test.txt", "bar", "qux", false).await.expect("edited");
    assert_eq!((edited.name.as_str(), edited.count), ("/test.txt", 1));
    let missing = backend.edit("/test.txt", "none", "x", false).await.expect_err("no such text");
    assert_eq!(missing.code(), FileErrorCode::InvalidArgument);
    backend.edit("/test.txt", "o", "0", true).await.expect("edited");
    assert_eq!(backend.read_raw("/test.txt").await.as_deref(), Ok(&b"f00 qux baz"[..]));

    backend.write("/bin/hello.luau", "print('hello', ...)".into(), WriteMode::Create).await.expect("written");
    assert_eq!(backend.execute("luau /bin/hello.luau you", None).await.output, "hello\tyou\n");
    assert_eq!(backend.execute("luau bin/hello.luau", None).await.output, "hello\n");
    let deleted = backend.delete("/bin").await.expect("deleted");
    assert_eq!((deleted.name.as_str(), deleted.files, deleted.directories), ("/bin", 1, 1));
    assert_eq!(backend.delete("/bin").await.expect_err("missing").code(), FileErrorCode::FileNotFound);
    assert_eq!(backend.delete("/").await.expect_err("rejected").to_string(), "the io directory can't be deleted");
}

#[tokio::test]
async fn a_backend_lists_names_that_are_paths() {
    let dir = IoDir::new();
    let backend: Box<dyn Backend> = Box::new(sandbox(&dir).with_working_directory("desk").expect("a directory"));
    for path in ["/top", "/desk/a/one", "/desk/two"] {
        backend.write(path, "x".into(), WriteMode::Create).await.expect("written");
    }
    for (path, expected) in [
        ("/", &[("/desk", FileKind::Directory), ("/top", FileKind::File)][..]),
        (".", &[("/desk/a", FileKind::Directory), ("/desk/two", FileKind::File)]),
        ("/desk/./a/", &[("/desk/a/one", FileKind::File)]),
        ("a", &[("/desk/a/one", FileKind::File)]),
    ] {
        let infos = backend.ls(path).await.expect("listed");
        assert_eq!(infos.iter().map(|info| (info.name.as_str(), info.kind)).collect::<Vec<_>>(), expected, "{path}");
    }
}

#[tokio::test]
async fn a_backend_reads_pages_of_text_and_binary_files_as_bytes() {
    let dir = IoDir::new();
    let backend = backend(&dir);
    backend.write("/lines", "one\ntwo\r\nthree".into(), WriteMode::Create).await.expect("written");
    for (offset, limit, expected) in [
        (0, 2000, ("one\ntwo\r\nthree", 1, Some(3), 3, None)),
        (1, 1, ("two\r\n", 2, Some(2), 3, Some(2))),
        (2, 1, ("three", 3, Some(3), 3, None)),
        (1, 0, ("", 2, None, 3, Some(1))),
    ] {
        let page = text(backend.read("/lines", offset, limit).await);
        assert_eq!((page.text.as_str(), page.first_line, page.last_line(), page.total_lines, page.next_offset()), expected);
    }
    let past = backend.read("/lines", 3, 1).await.expect_err("past the end");
    assert_eq!(past.to_string(), "lines: the offset is past the end; the file has 3 lines");
    assert_eq!((past.code(), past.code().name()), (FileErrorCode::InvalidArgument, "invalid_argument"));
    assert!(backend.read("/lines", u64::MAX, u64::MAX).await.is_err());
    backend.write("/empty", Vec::new(), WriteMode::Create).await.expect("written");
    let empty = text(backend.read("/empty", 0, 10).await);
    assert_eq!((empty.text.as_str(), empty.last_line(), empty.total_lines, empty.next_offset()), ("", None, 0, None));

    fs::write(dir.path().join("binary"), b"\0\xff\n").expect("a file");
    fs::write(dir.path().join("image"), b"\x89PNG\r\n\x1a\n").expect("a file");
    assert_eq!(backend.read("/binary", 0, 10).await, Ok(FileContents::Binary { bytes: b"\0\xff\n".to_vec() }));
    let image = FileContents::Image { mime_type: "image/png", bytes: b"\x89PNG\r\n\x1a\n".to_vec() };
    assert_eq!(backend.read("/image", 5, 10).await, Ok(image));
}

#[tokio::test]
async fn a_backend_finds_lines_with_context_and_counts_matches_in_all_files() {
    let dir = IoDir::new();
    let backend: Box<dyn Backend> = Box::new(sandbox(&dir).with_working_directory("desk").expect("a directory"));
    backend.write("/a/lines", "one\ntwo\nthree\n".into(), WriteMode::Create).await.expect("written");
    backend.write("here", "three".into(), WriteMode::Create).await.expect("written");
    let query = || GrepQuery::new("three").with_path("/");
    let found = backend.grep(query()).await.expect("found");
    let lines: Vec<(&str, u64)> = found.matches.iter().map(|found| (found.name.as_str(), found.line)).collect();
    assert_eq!((lines, found.truncated), (vec![("/a/lines", 3), ("/desk/here", 1)], false));
    let found = backend.grep(query().with_context(1).with_max_matches(1)).await.expect("found");
    let before: Vec<(u64, &str)> = found.matches[0].before.iter().map(|line| (line.line, line.text.as_str())).collect();
    assert_eq!((found.matches.len(), found.truncated, before), (1, true, vec![(2, "two")]));
    assert!(!backend.grep(query().with_max_matches(2)).await.expect("found").truncated, "no match was dropped");
    // Without a path, the search starts at the working directory.
    assert_eq!(backend.grep(GrepQuery::new("three")).await.expect("found").matches[0].name, "/desk/here");
    assert_eq!(backend.grep(query().with_glob("*.txt")).await.expect("found").matches, []);
    assert_eq!(backend.grep(query().with_glob("/*")).await.expect("found").matches, [], "only files at the top are searched");
}

#[tokio::test]
async fn a_backend_finds_names_at_any_depth_and_patterns_relative_to_the_path() {
    let dir = IoDir::new();
    let backend = backend(&dir);
    for path in ["/top.txt", "/a/deep/one.txt", "/a/two.txt"] {
        backend.write(path, "x".into(), WriteMode::Create).await.expect("written");
    }
    let query = |pattern: &str, path: &str| GlobQuery::new(pattern).with_path(path);
    assert_eq!(glob(&*backend, query("*.txt", "/")).await, ["/a/deep/one.txt", "/a/two.txt", "/top.txt"]);
    assert_eq!(glob(&*backend, query("/*.txt", "/")).await, ["/top.txt"]);
    assert_eq!(glob(&*backend, query("/*.txt", "/a")).await, ["/a/two.txt"]);
    assert_eq!(glob(&*backend, query("deep/*", "/a")).await, ["/a/deep/one.txt"]);
    assert_eq!(glob(&*backend, query("*", "a")).await, ["/a/deep", "/a/deep/one.txt", "/a/two.txt"]);
    assert_eq!(glob(&*backend, query("*", "a").with_files_only(true)).await, ["/a/deep/one.txt", "/a/two.txt"]);
    assert_eq!(glob(&*backend, query("**/*", "/").with_files_only(true).with_max_results(3)).await.len(), 3, "directories are not counted");
    assert_eq!(backend.glob(query("/../*", "/")).await.expect_err("rejected").code(), FileErrorCode::InvalidPath);
    // Names in results can be used as paths.
    assert!(backend.read("/a/deep/one.txt", 0, 10).await.is_ok());
}

#[tokio::test]
async fn uploads_and_downloads_of_a_backend_have_a_result_with_a_code_for_each_file() {
    let dir = IoDir::new();
    let backend = backend(&dir);
    let uploads = [("/a/1", &b"\0\xff"[..]), ("/../x", b"x"), ("/.git/hooks/pre-commit", b"x"), ("/a", b"x"), ("/a/1/x", b"x")];
    let results = backend.upload(uploads.map(|(path, contents)| (path.to_owned(), contents.to_vec())).into()).await;
    assert_eq!(results[0].as_ref().map(|written| (written.name.as_str(), written.bytes)), Ok(("/a/1", 2)));
    let codes: Vec<&str> = results[1..].iter().map(|result| result.as_ref().expect_err("rejected").code().name()).collect();
    assert_eq!(codes, ["invalid_path", "permission_denied", "is_directory", "invalid_path"]);
    let downloads = backend.download(["/a/1", "a/1", "/none", "/a", "//a/1", "/.env"].map(str::to_owned).into()).await;
    assert!(downloads[..2].iter().all(|contents| contents.as_deref() == Ok(&b"\0\xff"[..])));
    let codes: Vec<&str> = downloads[2..].iter().map(|result| result.as_ref().expect_err("rejected").code().name()).collect();
    assert_eq!(codes, ["file_not_found", "is_directory", "invalid_path", "permission_denied"]);
}

#[tokio::test]
async fn paths_of_a_backend_stay_in_the_io_directory() {
    let dir = IoDir::new().created();
    let backend = backend(&dir);
    fs::create_dir(dir.path().join("a")).expect("a directory");
    for path in ["//a", "/../x", "/a/../../x"] {
        let results = [
            backend.read(path, 0, 1).await.err(),
            backend.write(path, "x".into(), WriteMode::Overwrite).await.err(),
            backend.delete(path).await.err(),
            backend.ls(path).await.err(),
        ];
        assert!(results.into_iter().all(|error| error.is_some_and(|error| error.code() == FileErrorCode::InvalidPath)), "{path}");
    }
    assert!(!dir.outside().join("x").exists() && dir.path().join("a").exists());
}
