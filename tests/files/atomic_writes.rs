//! Files that are replaced as a whole: whoever reads sees the old one or the new one, also after a kill.

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

/// Where a test's own program, started again, is told to write.
const FOLDER: &str = "TOOLSCRIPT_TEST_FOLDER";

/// A number, over and over: a mix of two of them, or a part of one, is not such a file.
fn version(number: usize, times: usize) -> String {
    format!("{number:08} ").repeat(times)
}

/// The number of a whole file.
fn whole(contents: &[u8], times: usize) -> usize {
    let text = std::str::from_utf8(contents).expect("text");
    let number = text[..8].parse().expect("a number");
    assert!(text == version(number, times), "a mixed file of {} bytes, that begins with {number}", text.len());
    number
}

#[test]
fn a_reader_never_sees_a_mixed_file() {
    const TIMES: usize = 5000;
    let dir = IoDir::new();
    let files = dir.io.files.clone();
    files.write("f", version(0, TIMES).as_bytes(), WriteMode::Create, &mut WriteBudget::default()).expect("written");
    let (done, begun) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = Vec::new();
            while !done.load(Ordering::Relaxed) {
                seen.push(whole(&files.read_raw("f", MAX_BYTES).expect("read"), TIMES));
                seen.push(whole(&fs::read(dir.path().join("f")).expect("read from outside"), TIMES));
                begun.store(true, Ordering::Relaxed);
            }
            seen
        });
        while !begun.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        for number in 1..=1000 {
            if number % 10 == 0 {
                let old = format!("{:08} ", number - 1);
                files.edit("f", &old, &format!("{number:08} "), true, &mut WriteBudget::default()).expect("edited");
            } else {
                files.write("f", version(number, TIMES).as_bytes(), WriteMode::Overwrite, &mut WriteBudget::default()).expect("written");
            }
        }
        done.store(true, Ordering::Relaxed);
        let mut seen = reader.join().expect("no mixed file");
        assert!(seen.is_sorted(), "an older file came after a newer one");
        seen.dedup();
        assert!(seen.len() > 10, "the reader saw only {} of the files", seen.len());
    });
    assert_eq!(whole(&fs::read(dir.path().join("f")).expect("read"), TIMES), 1000);
}

#[test]
fn edits_at_once_lose_nothing() {
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

const KILLED_TIMES: usize = 400_000;

/// Not a test: the program that the next one kills.
#[test]
#[ignore = "started by another test"]
fn writer_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let files = Files::new(folder).expect("an io dir");
    for number in 1.. {
        files.write("f", version(number, KILLED_TIMES).as_bytes(), WriteMode::Overwrite, &mut WriteBudget::default()).expect("written");
        files
            .write(&format!("made/{number}"), version(number, 1000).as_bytes(), WriteMode::Create, &mut WriteBudget::default())
            .expect("written");
    }
}

fn start_writer(folder: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "atomic_writes::writer_that_is_killed", "--ignored"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

#[test]
fn a_kill_in_the_middle_of_writes_leaves_old_or_new() {
    let dir = IoDir::new();
    let mut last = 0;
    for round in 0..8 {
        let mut child = start_writer(&dir.path());
        // It is killed at some moment of a write, after one that was seen to end.
        let made = dir.path().join("made");
        while fs::read_dir(&made).map_or(0, |entries| entries.count()) < round {
            assert!(child.try_wait().expect("its state").is_none(), "it ended by itself");
            std::thread::yield_now();
        }
        for _ in 0..round * 20_000 {
            std::hint::spin_loop();
        }
        child.kill().expect("killed");
        child.wait().expect("it ended");
        if let Ok(contents) = fs::read(dir.path().join("f")) {
            last = whole(&contents, KILLED_TIMES);
        }
        for entry in fs::read_dir(&made).into_iter().flatten() {
            whole(&fs::read(entry.expect("an entry").path()).expect("a file"), 1000);
        }
        // The next one who opens it goes on, and nothing is left behind.
        let files = Files::new(dir.path()).expect("an io dir");
        assert_eq!(temporary(&dir), [""; 0]);
        assert!(files.list(".").expect("listed").iter().all(|info| ["f", "made"].contains(&info.name.as_str())));
        let _ = fs::remove_dir_all(&made);
    }
    assert!(last > 0, "no write ended");
}

/// What is in the folder that nobody sees.
fn temporary(dir: &IoDir) -> Vec<String> {
    let entries = fs::read_dir(dir.path().join(".toolscript-tmp")).into_iter().flatten();
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
}

#[tokio::test]
async fn temporary_files_are_hidden_from_every_call_and_swept() {
    let dir = IoDir::new();
    let sandbox = Sandbox::new(engine().clone(), dir.io.clone());
    sandbox.write("f", "x", WriteMode::Create).await.expect("written");
    sandbox.write("f", "y", WriteMode::Overwrite).await.expect("written");
    assert_eq!(temporary(&dir), [""; 0], "nothing is left of a write that ended");
    let left = dir.path().join(".toolscript-tmp/left-behind");
    fs::write(&left, "needle").expect("as after a kill");

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
    limited.write("f", b"z", WriteMode::Append, &mut WriteBudget::default()).expect("what is left behind does not count");

    assert!(left.exists());
    Files::new(dir.path()).expect("an io dir");
    assert!(!left.exists(), "the next one who opens it sweeps");
}

#[test]
fn what_somebody_is_writing_is_not_swept() {
    let dir = IoDir::new();
    dir.io.files.write("f", b"x", WriteMode::Create, &mut WriteBudget::default()).expect("written");
    let left = dir.path().join(".toolscript-tmp/being-written");
    fs::write(&left, "x").expect("a file");
    let folder = fs::File::open(dir.path().join(".toolscript-tmp")).expect("the folder");
    folder.lock_shared().expect("as one who writes does");
    Files::new(dir.path()).expect("an io dir");
    assert!(left.exists());
    drop(folder);
    Files::new(dir.path()).expect("an io dir");
    assert!(!left.exists());
}

#[test]
fn many_processes_and_threads_write_and_open_at_once() {
    let dir = IoDir::new();
    let mut child = start_writer(&dir.path());
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let path = dir.path();
            scope.spawn(move || {
                for number in 0..100 {
                    let files = Files::new(&path).expect("an io dir");
                    files.write(&format!("{thread}/{number}"), b"whole", WriteMode::Create, &mut WriteBudget::default()).expect("written");
                }
            });
        }
    });
    assert!(child.try_wait().expect("its state").is_none(), "a sweep took what it was writing");
    child.kill().expect("killed");
    child.wait().expect("it ended");
}
