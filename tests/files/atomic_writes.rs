//! Atomic writes: a reader sees either the old or the new file, even after a writer was killed.

use super::test_name;
use crate::support::{IoDir, engine};
use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
};
use toolscript::{
    Files, Sandbox,
    files::{DirectoryError, GlobQuery, GrepQuery, WriteBudget, WriteMode},
};

const MAX_BYTES: u64 = 50 << 20;

/// The environment variable that names the io directory of [`writer_that_is_killed`].
const DIRECTORY_VARIABLE: &str = "TOOLSCRIPT_TEST_DIRECTORY";

/// Returns the contents of a file: a number, repeated. A mix of two versions, or a part of one, is detected by [`check_version`].
fn version(number: usize, repetitions: usize) -> String {
    format!("{number:08} ").repeat(repetitions)
}

/// Checks that a file is complete, and returns its number.
fn check_version(contents: &[u8], repetitions: usize) -> usize {
    let text = std::str::from_utf8(contents).expect("text");
    let number = text[..8].parse().expect("a number");
    assert!(text == version(number, repetitions), "a mixed file of {} bytes that begins with {number}", text.len());
    number
}

#[test]
fn a_reader_never_sees_a_mixed_file() {
    const REPETITIONS: usize = 5000;
    let dir = IoDir::new();
    let files = dir.io.files.clone();
    files.write("f", version(0, REPETITIONS).as_bytes(), WriteMode::Create, &mut WriteBudget::default()).expect("written");
    let (done, started) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = Vec::new();
            while !done.load(Ordering::Relaxed) {
                seen.push(check_version(&files.read_raw("f", MAX_BYTES).expect("read"), REPETITIONS));
                seen.push(check_version(&fs::read(dir.path().join("f")).expect("read from outside"), REPETITIONS));
                started.store(true, Ordering::Relaxed);
            }
            seen
        });
        while !started.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        for number in 1..=1000 {
            if number % 10 == 0 {
                let old = format!("{:08} ", number - 1);
                files.edit("f", &old, &format!("{number:08} "), true, &mut WriteBudget::default()).expect("edited");
            } else {
                files
                    .write("f", version(number, REPETITIONS).as_bytes(), WriteMode::Overwrite, &mut WriteBudget::default())
                    .expect("written");
            }
        }
        done.store(true, Ordering::Relaxed);
        let mut seen = reader.join().expect("no mixed file");
        assert!(seen.is_sorted(), "an older version was read after a newer one");
        seen.dedup();
        assert!(seen.len() > 10, "the reader saw only {} versions", seen.len());
    });
    assert_eq!(check_version(&fs::read(dir.path().join("f")).expect("read"), REPETITIONS), 1000);
}

#[test]
fn concurrent_edits_and_appends_lose_nothing() {
    let dir = IoDir::new();
    let files = dir.io.files.clone();
    files.write("f", b"", WriteMode::Create, &mut WriteBudget::default()).expect("written");
    let names: Vec<String> = (0..8).map(|thread| format!("<{thread}>")).collect();
    files.write("f", names.concat().as_bytes(), WriteMode::Overwrite, &mut WriteBudget::default()).expect("written");
    std::thread::scope(|scope| {
        for name in &names {
            let files = &files;
            scope.spawn(move || {
                for _ in 0..50 {
                    files.edit("f", name, &format!("{name}x"), false, &mut WriteBudget::default()).expect("edited");
                    files.write("f", b"+", WriteMode::Append, &mut WriteBudget::default()).expect("appended");
                }
            });
        }
    });
    let text = fs::read_to_string(dir.path().join("f")).expect("read");
    assert_eq!((text.matches('x').count(), text.matches('+').count()), (400, 400), "{text}");
}

/// The number of repetitions in the file of [`writer_that_is_killed`]. It is so large that a kill often interrupts a write.
const KILLED_REPETITIONS: usize = 400_000;

/// Writes files until it is killed. Other tests start it as a process.
#[test]
#[ignore = "started by another test"]
fn writer_that_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY_VARIABLE) else { return };
    let files = Files::new(directory).expect("an io directory");
    for number in 1.. {
        files
            .write("f", version(number, KILLED_REPETITIONS).as_bytes(), WriteMode::Overwrite, &mut WriteBudget::default())
            .expect("written");
        files
            .write(&format!("made/{number}"), version(number, 1000).as_bytes(), WriteMode::Create, &mut WriteBudget::default())
            .expect("written");
    }
}

fn start_writer(directory: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", &test_name(module_path!(), "writer_that_is_killed"), "--ignored"])
        .env(DIRECTORY_VARIABLE, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

#[test]
fn a_killed_writer_leaves_the_old_or_the_new_file() {
    let dir = IoDir::new();
    let mut last = 0;
    for round in 0..8 {
        let mut child = start_writer(&dir.path());
        // The writer is killed at a random point of a write, after it has completed at least `round` writes.
        let made = dir.path().join("made");
        while fs::read_dir(&made).map_or(0, |entries| entries.count()) < round {
            assert!(child.try_wait().expect("its state").is_none(), "the writer ended by itself");
            std::thread::yield_now();
        }
        for _ in 0..round * 20_000 {
            std::hint::spin_loop();
        }
        child.kill().expect("killed");
        child.wait().expect("it ended");
        if let Ok(contents) = fs::read(dir.path().join("f")) {
            last = check_version(&contents, KILLED_REPETITIONS);
        }
        for entry in fs::read_dir(&made).into_iter().flatten() {
            check_version(&fs::read(entry.expect("an entry").path()).expect("a file"), 1000);
        }
        // Opening the directory again removes what the killed writer left behind.
        let files = Files::new(dir.path()).expect("an io directory");
        assert_eq!(temporary_files(&dir), [""; 0]);
        assert!(files.list(".").expect("listed").iter().all(|info| ["f", "made"].contains(&info.name.as_str())));
        let _ = fs::remove_dir_all(&made);
    }
    assert!(last > 0, "no write was completed");
}

/// Returns the names in the hidden directory of temporary files.
fn temporary_files(dir: &IoDir) -> Vec<String> {
    let entries = fs::read_dir(dir.path().join(".toolscript-tmp")).into_iter().flatten();
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
}

#[tokio::test]
async fn temporary_files_are_hidden_from_every_operation_and_removed_at_the_next_start() {
    let dir = IoDir::new();
    let sandbox = Sandbox::new(engine().clone(), dir.io.clone());
    sandbox.write("f", "x", WriteMode::Create).await.expect("written");
    sandbox.write("f", "y", WriteMode::Overwrite).await.expect("written");
    assert_eq!(temporary_files(&dir), [""; 0], "a completed write leaves no temporary file");
    let left = dir.path().join(".toolscript-tmp/left-behind");
    fs::write(&left, "needle").expect("a file as a killed writer leaves it");

    let names = |infos: Vec<toolscript::files::FileInfo>| infos.into_iter().map(|info| info.name).collect::<Vec<_>>();
    assert_eq!(names(sandbox.list(".").await.expect("listed")), ["f"]);
    let mut query = GlobQuery::new("**/*");
    query.hidden = true;
    assert_eq!(names(sandbox.glob(query).await.expect("found").entries), ["f"]);
    assert_eq!(names(sandbox.glob(GlobQuery::new(".toolscript-tmp*/**")).await.expect("found").entries), [""; 0]);
    assert!(sandbox.glob(GlobQuery::new(".toolscript-tmp/*")).await.is_err());
    let mut query = GrepQuery::new("needle");
    query.hidden = true;
    assert_eq!(sandbox.grep(query).await.expect("searched").matches, []);
    assert_eq!(dir.io.files.page(None, 10, &|| true).expect("a page").entries.len(), 1);
    assert_eq!(dir.result::<Vec<String>>("return io.list()").await, ["f"]);
    let message: String = dir.result("return (select(2, pcall(io.open, '.toolscript-tmp/left-behind')))").await;
    assert_eq!(message, "path cannot contain '.toolscript-tmp', a reserved name");
    assert!(matches!(dir.io.files.subdirectory(".toolscript-tmp"), Err(DirectoryError::Reserved)));
    let limited = dir.io.files.clone().with_disk_quota(1100).expect("counted");
    limited.write("f", b"z", WriteMode::Append, &mut WriteBudget::default()).expect("temporary files do not count against the quota");

    assert!(left.exists());
    Files::new(dir.path()).expect("an io directory");
    assert!(!left.exists(), "opening the directory removes leftover files");
}

#[test]
fn temporary_files_of_an_active_writer_are_kept() {
    let dir = IoDir::new();
    dir.io.files.write("f", b"x", WriteMode::Create, &mut WriteBudget::default()).expect("written");
    let left = dir.path().join(".toolscript-tmp/being-written");
    fs::write(&left, "x").expect("a file");
    let directory = fs::File::open(dir.path().join(".toolscript-tmp")).expect("the directory");
    directory.lock_shared().expect("the lock of a writer");
    Files::new(dir.path()).expect("an io directory");
    assert!(left.exists());
    drop(directory);
    Files::new(dir.path()).expect("an io directory");
    assert!(!left.exists());
}

#[test]
fn processes_and_threads_can_open_and_write_at_the_same_time() {
    let dir = IoDir::new();
    let mut child = start_writer(&dir.path());
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let path = dir.path();
            scope.spawn(move || {
                for number in 0..100 {
                    let files = Files::new(&path).expect("an io directory");
                    files.write(&format!("{thread}/{number}"), b"whole", WriteMode::Create, &mut WriteBudget::default()).expect("written");
                }
            });
        }
    });
    assert!(child.try_wait().expect("its state").is_none(), "opening the directory removed a file that the writer was using");
    child.kill().expect("killed");
    child.wait().expect("it ended");
}
