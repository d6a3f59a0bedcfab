//! Scripts in a directory with many files, whose disk usage is counted for the first time.
#![expect(clippy::disallowed_methods, reason = "the tests create files from outside")]

use crate::{
    Engine, ErrorKind, Files, Limits, Run, RunOptions, Script,
    engine::IoOptions,
    files::{FileError, WriteBudget, WriteMode, uncounted},
};
use std::{fs, time::Duration};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// The number of files of the first test.
const FILES: u64 = 100_000;

/// Returns the bytes that this many empty files in ten directories count.
const fn used(files: u64) -> u64 {
    (files + 10) * 1024
}

/// Creates empty files in ten directories. Links to one file are created faster than files.
fn many_files(count: u64) -> TempDir {
    let directory = TempDir::new().unwrap();
    for subdirectory in 0..10 {
        let path = directory.path().join(subdirectory.to_string());
        fs::create_dir(&path).unwrap();
        fs::write(path.join("0"), "").unwrap();
        for number in 1..count / 10 {
            fs::hard_link(path.join("0"), path.join(number.to_string())).unwrap();
        }
    }
    directory
}

async fn run(engine: &Engine, files: &Files, script: &str, timeout: Duration, cancellation: CancellationToken) -> Run {
    let limits = Limits::default().with_timeout(timeout);
    let options = RunOptions::default().with_limits(limits).with_io(IoOptions::new(files.clone())).with_cancellation(cancellation);
    engine.run(&Script::new(script), options).await.unwrap()
}

/// Long enough to reach the first change of a file on a busy machine.
const SHORT: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(600);

#[tokio::test]
async fn only_scripts_that_change_files_wait_for_the_first_count_until_their_deadline() {
    let (directory, other) = (many_files(FILES), TempDir::new().unwrap());
    let (files, mut count) = uncounted(Files::new(directory.path()).unwrap(), used(FILES) + 1024);
    let other = Files::new(other.path()).unwrap().with_background_disk_quota(1 << 20).unwrap();
    let engine = Engine::builder().concurrency(4).build().unwrap();
    assert!(count.step(), "the count has begun and not ended");

    // The count makes no progress during these runs. Reading does not wait.
    let listed = run(&engine, &files, "return #io.list('0')", LONG, CancellationToken::new()).await;
    assert_eq!(listed.outcome.decode::<u64>().unwrap(), FILES / 10);
    let timed_out = ["io.open('new', 'w')", "io.open('0/0', 'a')", "os.remove('0/0')", "os.rename('0/0', 'moved')"].map(|change| {
        let (engine, files) = (engine.clone(), files.clone());
        let script = format!("print(#io.open('0/0'):read('a')) {change} print('not reached')");
        tokio::spawn(async move { run(&engine, &files, &script, SHORT, CancellationToken::new()).await.outcome })
    });
    for outcome in timed_out {
        let outcome = outcome.await.unwrap();
        let error = outcome.result.unwrap_err();
        let message = "the script ran longer than 2 s, because its many files are still being counted; try again later";
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Timeout, message));
        assert_eq!(outcome.logs, ["0"]);
        assert!(outcome.files_touched.is_empty());
    }
    let endless = run(&engine, &files, "while true do end", SHORT, CancellationToken::new()).await;
    assert_eq!(endless.outcome.result.unwrap_err().message, "the script ran longer than 2 s");
    let cancellation = CancellationToken::new();
    let waiting = run(&engine, &files, "io.open('new', 'w')", LONG, cancellation.clone());
    let (cancelled, ()) = tokio::join!(waiting, async { cancellation.cancel() });
    assert_eq!(cancelled.outcome.result.unwrap_err().kind, ErrorKind::Cancelled);
    let error = files.write("new", b"", WriteMode::Create, &mut WriteBudget::default()).unwrap_err();
    assert_eq!(error, FileError::Limit("the files are still being counted; try again later".into()));
    // Another tenant does not wait.
    let write = "io.open('new', 'w'):write('x'):close() return 1";
    assert!(run(&engine, &other, write, LONG, CancellationToken::new()).await.outcome.result.is_ok());

    // The count goes on for the next run, which ends when the count does.
    let waiting = tokio::spawn({
        let (engine, files) = (engine.clone(), files.clone());
        async move { run(&engine, &files, "io.open('one', 'w'):close() io.open('two', 'w')", LONG, CancellationToken::new()).await }
    });
    let mut steps = 1;
    while count.step() {
        steps += 1;
        assert!(!waiting.is_finished());
        tokio::task::yield_now().await;
    }
    assert!(steps >= 100, "{steps} steps");
    let error = waiting.await.unwrap().outcome.result.unwrap_err();
    let full = format!("disk quota exceeded ({} bytes for all files)", used(FILES) + 1024);
    assert!(error.kind == ErrorKind::Runtime && error.message.ends_with(&full), "{}", error.message);
}

#[tokio::test]
async fn directories_are_counted_in_turn_in_the_background() {
    const FILES: u64 = 5000;
    let large = many_files(FILES);
    let small = TempDir::new().unwrap();
    fs::write(small.path().join("file"), "contents").unwrap();
    let engine = Engine::builder().concurrency(2).build().unwrap();
    let open = |directory: &TempDir| Files::new(directory.path()).unwrap().with_background_disk_quota(used(FILES)).unwrap();
    let large = open(&large);
    // A small directory is counted when it is opened, whatever the thread does.
    assert!(!open(&small).is_being_counted());
    let full = run(&engine, &large, "io.open('new', 'w')", LONG, CancellationToken::new()).await.outcome.result.unwrap_err();
    assert!(full.message.ends_with(&format!("disk quota exceeded ({} bytes for all files)", used(FILES))), "{}", full.message);
    assert!(!large.is_being_counted());
}

#[tokio::test]
async fn after_a_failed_first_count_changes_are_rejected() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("io");
    // The directory is a file when it is counted.
    let (files, mut count) = uncounted(Files::new(&path).unwrap(), 1 << 20);
    fs::write(&path, "").unwrap();
    assert!(!count.step());
    assert!(!files.is_being_counted());
    fs::remove_file(&path).unwrap();
    let engine = Engine::builder().concurrency(1).build().unwrap();
    let error = run(&engine, &files, "io.open('new', 'w')", LONG, CancellationToken::new()).await.outcome.result.unwrap_err();
    let message = "the files could not be counted; the cause is in the host's log; try again later";
    assert!(error.message.ends_with(message), "{}", error.message);
}
