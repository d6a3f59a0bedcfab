//! The table "Files" of hostile inputs, against every operation on files that is not a script's.

use crate::{
    support::links::{LINKS, Swapper, THROUGH, plant_links},
    support::{IoDir, engine, picture},
};
use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{FileTypeExt as _, symlink},
        net::UnixListener,
    },
    process::Command,
};
use toolscript::{
    Files, Sandbox,
    files::{FileContents, FileError, GlobQuery, GrepQuery, WriteBudget, WriteMode},
    sandbox::Backend,
};

const SECRET: &str = "the secret of the host";

/// What an operation said, and whether it is one that makes a file where there is none.
struct Answer {
    operation: &'static str,
    said: Result<String, FileError>,
}

impl Answer {
    fn message(&self) -> String {
        self.said.as_ref().expect_err(self.operation).to_string()
    }
}

/// Every operation that takes a path, on one path.
async fn every_operation(sandbox: &Sandbox, path: &str) -> Vec<Answer> {
    let files = sandbox.files();
    let backend: &dyn Backend = sandbox;
    let read = |contents: FileContents| match contents {
        FileContents::Text(part) => part.text,
        other => format!("{other:?}"),
    };
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let mut answers = vec![
        ("read", sandbox.read(path, 1, None).await.map(read)),
        ("read_raw", sandbox.read_raw(path).await.map(lossy)),
        ("reader", files.reader(path).map(|mut reader| std::io::read_to_string(&mut reader).unwrap_or_default())),
        ("download", sandbox.download(vec![path.into()]).await.remove(0).map(lossy)),
        ("edit", sandbox.edit(path, "secret", "public", true).await.map(|edited| edited.name)),
        ("write create", sandbox.write(path, "attack", WriteMode::Create).await.map(|written| written.name)),
        ("write overwrite", sandbox.write(path, "attack", WriteMode::Overwrite).await.map(|written| written.name)),
        ("write append", sandbox.write(path, "attack", WriteMode::Append).await.map(|written| written.name)),
        ("upload", sandbox.upload(vec![(path.into(), b"attack".to_vec())]).await.remove(0).map(|written| written.name)),
        ("grep", sandbox.grep(GrepQuery::new("secret").with_path(path)).await.map(|found| format!("{:?}", found.matches))),
        ("list", sandbox.list(path).await.map(|infos| format!("{infos:?}"))),
        ("glob", sandbox.glob(GlobQuery::new("*").with_path(path)).await.map(|found| format!("{:?}", found.entries))),
        ("working folder", sandbox.clone().with_working_directory(path).map(|_| String::new())),
        ("remove", sandbox.remove(path).await),
    ];
    // A slash in front is home there, which the other paths are from already.
    if !path.starts_with('/') {
        answers.push(("backend read", backend.read(path, 0, 10).await));
        answers.push(("backend write", backend.write(path, "attack").await.map(|written| written.name)));
        answers.push(("backend ls", backend.ls(path).await.map(|infos| format!("{infos:?}"))));
    }
    answers.into_iter().map(|(operation, said)| Answer { operation, said }).collect()
}

/// Those that need a folder.
fn is_for_folders(answer: &Answer) -> bool {
    matches!(answer.operation, "list" | "glob" | "backend ls" | "working folder")
}

fn sandbox(dir: &IoDir) -> Sandbox {
    Sandbox::new(engine().clone(), dir.io.clone())
}

#[tokio::test]
async fn bad_paths_end_in_the_documented_error() {
    let dir = IoDir::new().made();
    let sandbox = sandbox(&dir);
    fs::write(dir.outside().join("x"), SECRET).expect("a file");
    let before = picture(dir.outside());
    let (long_name, long_path, deep_path) = ("n".repeat(256), "n/".repeat(2500), "n/".repeat(10_000) + "n");
    for (paths, message) in [
        (&["../x", "a/../../x", "..", "./../x", "a/..", "~/../x"][..], "path cannot contain '..' traversal"),
        (&["/etc/passwd", "//etc", "/proc/self/mem", "/", "~//etc/passwd"], "path must be relative"),
        (&[""], "path cannot be empty"),
        (&["\0", "x\0", "\0x", "../\0x", "~/\0"], "path cannot contain null bytes"),
        (&[&long_name, &long_path, &deep_path], "path is too long"),
        (
            &[".toolscript-tmp", ".toolscript-tmp/x", "a/.toolscript-tmp", "~/.TOOLSCRIPT-TMP"],
            "path cannot contain '.toolscript-tmp', a reserved name",
        ),
        (
            &["toolscript.toml", "ToolScript.toml", "a/toolscript.toml", "~/toolscript.toml/x"],
            "path cannot contain 'toolscript.toml', a reserved name",
        ),
    ] {
        for path in paths {
            for answer in every_operation(&sandbox, path).await {
                assert_eq!(answer.message(), message, "{path:?} {}", answer.operation);
            }
        }
    }
    for path in [".", "./", "folder/", "folder/.", "~", "~/"] {
        for answer in every_operation(&sandbox, path).await {
            // A search in a folder is what it is for; what is not there is not there.
            if !is_for_folders(&answer) && answer.operation != "grep" {
                assert!(answer.message().ends_with(": Is a directory"), "{path:?} {}: {}", answer.operation, answer.message());
            }
        }
    }
    for pattern in ["../*", "a/../../*", "/etc/*", "/*"] {
        assert!(sandbox.glob(GlobQuery::new(pattern)).await.is_err());
        assert!(sandbox.grep(GrepQuery::new("x").with_glob(pattern)).await.is_err());
    }
    assert_eq!(picture(dir.outside()), before);
}

#[tokio::test]
async fn links_are_refused_by_every_operation() {
    let dir = IoDir::new().made();
    let sandbox = sandbox(&dir);
    plant_links(&dir);
    let before = picture(dir.outside());
    for path in [&LINKS[..], &THROUGH].concat() {
        for answer in every_operation(&sandbox, path).await {
            if answer.operation != "working folder" {
                assert_eq!(answer.message(), format!("{path}: symbolic links are not followed"), "{}", answer.operation);
            }
        }
        // A working folder is a way to write paths: it is looked at when it is used.
        let there = sandbox.clone().with_working_directory(path).expect("a path");
        for answer in every_operation(&there, "x").await {
            if answer.operation != "working folder" {
                let message = answer.message();
                assert!(
                    message.ends_with(": symbolic links are not followed") || message.ends_with(": Not a directory"),
                    "{path} {message}"
                );
            }
        }
    }
    let searched = sandbox.grep(GrepQuery::new("secret")).await.expect("searched");
    assert_eq!((searched.files, searched.matches.len()), (1, 0), "only the regular file");
    let found = sandbox.glob(GlobQuery::new("**/*")).await.expect("found");
    assert_eq!(found.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["folder", "inside"]);
    for pattern in ["to_folder/*", "to_itself/*", "to_folder/secret"] {
        let refused = sandbox.glob(GlobQuery::new(pattern)).await.expect_err("refused").to_string();
        assert!(refused.ends_with(": symbolic links are not followed"), "{pattern}: {refused}");
    }
    assert_eq!(picture(dir.outside()), before);
    let listed = sandbox.list(".").await.expect("listed");
    assert!(LINKS.iter().all(|link| listed.iter().any(|info| info.name == *link && info.kind.name() == "link")));
}

#[tokio::test]
async fn a_directory_that_was_replaced_by_a_link_is_still_the_one_in_use() {
    let dir = IoDir::new().made();
    let sandbox = sandbox(&dir);
    let (elsewhere, moved) = (dir.outside().join("elsewhere"), dir.outside().join("moved"));
    fs::create_dir(&elsewhere).expect("a folder");
    fs::write(elsewhere.join("secret"), SECRET).expect("a file");
    sandbox.write("first", "1", WriteMode::Create).await.expect("written");
    fs::rename(dir.path(), &moved).expect("moved");
    symlink(&elsewhere, dir.path()).expect("a link");
    sandbox.write("second", "2", WriteMode::Create).await.expect("written");
    sandbox.edit("second", "2", "two", false).await.expect("edited");
    assert!(sandbox.read_raw("secret").await.is_err());
    let names = sandbox.list(".").await.expect("listed");
    assert_eq!(names.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    assert_eq!(sandbox.grep(GrepQuery::new("secret")).await.expect("searched").files, 2);
    assert_eq!(fs::read_to_string(moved.join("second")).expect("the file"), "two");
    assert_eq!(picture(&elsewhere).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swapping_a_file_for_a_link_leaks_nothing() {
    let dir = IoDir::new().made();
    let secret = dir.outside().join("secret");
    fs::write(&secret, SECRET).expect("a file");
    let swapper = Swapper::start(dir.path(), secret.clone());
    let sandbox = sandbox(&dir);
    let (mut done, mut refused) = (0, 0);
    for _ in 0..100 {
        for path in ["x", "folder/x", "folder/secret", "folder"] {
            for answer in every_operation(&sandbox, path).await {
                match answer.said {
                    Ok(text) => {
                        assert!(!text.contains("the host"), "{path} {}: {text}", answer.operation);
                        done += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        let searched = sandbox.grep(GrepQuery::new("the host")).await.map_or(0, |found| found.matches.len());
        assert_eq!(searched, 0);
    }
    let swaps = swapper.stop();
    assert_eq!(fs::read_to_string(&secret).expect("the secret"), SECRET);
    assert!(done > 100 && refused > 100, "{done} done, {refused} refused");
    assert!(swaps > 10, "too few swaps: {swaps}");
}

#[tokio::test]
async fn what_is_not_a_regular_file_is_refused_and_does_not_block() {
    let dir = IoDir::new().made();
    let sandbox = sandbox(&dir);
    assert!(Command::new("mkfifo").arg(dir.path().join("fifo")).status().expect("mkfifo").success());
    let _socket = UnixListener::bind(dir.path().join("socket")).expect("a socket");
    let mut paths = vec!["fifo", "socket"];
    // Only root can make one.
    if Command::new("mknod").arg(dir.path().join("device")).args(["c", "1", "3"]).output().expect("mknod").status.success() {
        paths.push("device");
    }
    for path in paths {
        for answer in every_operation(&sandbox, path).await {
            match answer.operation {
                "working folder" => {}
                _ if is_for_folders(&answer) => assert_eq!(answer.message(), format!("{path}: Not a directory")),
                _ => assert_eq!(answer.message(), format!("{path}: not a regular file"), "{}", answer.operation),
            }
        }
    }
    assert_eq!(sandbox.grep(GrepQuery::new("x")).await.expect("searched").files, 0);
    assert_eq!(sandbox.glob(GlobQuery::new("*")).await.expect("found").entries, []);
    assert!(sandbox.list(".").await.expect("listed").iter().all(|info| info.kind.name() == "other"));
    assert!(fs::symlink_metadata(dir.path().join("fifo")).expect("it is there").file_type().is_fifo());
}

#[tokio::test]
async fn a_name_that_is_not_utf8_is_marked_and_never_matched() {
    let dir = IoDir::new().made();
    let sandbox = sandbox(&dir);
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(dir.path().join(name), SECRET).expect("a file");
    assert_eq!(sandbox.list(".").await.expect("listed")[0].name, "caf\u{fffd}.txt (not UTF-8)");
    for answer in every_operation(&sandbox, "caf\u{fffd}.txt").await {
        assert!(!answer.said.is_ok_and(|text| text.contains(SECRET)), "{}", answer.operation);
    }
    fs::remove_file(dir.path().join("caf\u{fffd}.txt")).expect("the last operation wrote it");
    let found = sandbox.glob(GlobQuery::new("caf*")).await.expect("found");
    assert_eq!((found.entries.len(), found.skipped), (0, 1));
    let found = sandbox.grep(GrepQuery::new("secret")).await.expect("searched");
    assert_eq!((found.matches.len(), found.files, found.skipped), (0, 0, 1));
    assert_eq!(fs::read_to_string(dir.path().join(name)).expect("the file"), SECRET);
}

#[tokio::test]
async fn a_directory_that_is_deleted_while_in_use_is_an_error() {
    let dir = IoDir::new().made();
    let sandbox = sandbox(&dir);
    sandbox.write("f", "x", WriteMode::Create).await.expect("written");
    fs::remove_dir_all(dir.path()).expect("removed");
    for answer in every_operation(&sandbox, "f").await {
        if answer.operation != "working folder" {
            assert_eq!(answer.message(), "f: No such file or directory", "{}", answer.operation);
        }
    }
    assert_eq!(sandbox.list(".").await.expect("nothing is left"), []);
}

#[test]
fn nothing_is_made_by_looking() {
    let dir = IoDir::new();
    let files: &Files = &dir.io.files;
    assert!(files.read_raw("a/b", 10).is_err() && files.remove("a").is_err() && files.list("a").is_err());
    assert!(files.edit("a", "x", "y", true, &mut WriteBudget::default()).is_err() && files.read("a", 1, None, 10, &|| true).is_err());
    assert!(files.glob(&GlobQuery::new("**"), &|| true).is_ok() && files.grep(&GrepQuery::new("x"), &|| true).is_ok());
    assert!(!dir.path().exists());
}

/// Runs another test of this program in a place with mounts and limits of its own, where the machine allows that.
fn in_a_place(prepare: &str, test: &str) {
    let folder = tempfile::TempDir::new().expect("a folder");
    let line = format!("set -e; mkdir io; {prepare}; echo prepared; exec \"$0\" --exact hostile_operations::{test} --ignored --nocapture");
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &line])
        .arg(program)
        .current_dir(folder.path())
        .output()
        .expect("unshare of util-linux");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if said.contains("prepared") {
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    } else {
        let _ = writeln!(std::io::stderr(), "not run, as this machine allows no mounts: {said}");
    }
}

/// The sandbox in such a place.
fn in_place() -> Sandbox {
    Sandbox::new(engine().clone(), Files::new("io").expect("an io dir"))
}

#[test]
fn a_full_disk_is_an_error_and_leaves_what_was_there() {
    in_a_place("mount -t tmpfs -o size=64k none io", "on_a_full_disk");
}

#[tokio::test]
#[ignore = "started by another test, in a place with a small disk"]
async fn on_a_full_disk() {
    let sandbox = in_place();
    sandbox.write("f", "old", WriteMode::Create).await.expect("written");
    let large = "x".repeat(100_000);
    for (name, mode) in [("f", WriteMode::Overwrite), ("new", WriteMode::Create), ("f", WriteMode::Append)] {
        let error = sandbox.write(name, large.as_str(), mode).await.expect_err("full").to_string();
        assert_eq!(error, format!("{name}: No space left on device"));
    }
    let contents = sandbox.read_raw("f").await.expect("read");
    assert!(contents.starts_with(b"old"), "an overwrite that failed left the old file");
    assert!(sandbox.list(".").await.expect("listed").iter().all(|info| info.name == "f"), "and no new one");
    sandbox.remove("f").await.expect("removed");
    sandbox.write("f", "x".repeat(40_000), WriteMode::Create).await.expect("all that failed is free again");
}

#[test]
fn a_read_only_disk_is_an_error() {
    let prepare = "echo old secret > io/old; mount --bind io io; mount -o remount,ro,bind io";
    in_a_place(prepare, "on_a_read_only_disk");
}

#[tokio::test]
#[ignore = "started by another test, in a place with a read-only disk"]
async fn on_a_read_only_disk() {
    let sandbox = in_place();
    for answer in every_operation(&sandbox, "old").await {
        match answer.operation {
            "edit" | "write overwrite" | "write append" | "upload" | "remove" => {
                assert_eq!(answer.message(), "old: Read-only file system", "{}", answer.operation);
            }
            "write create" | "backend write" => assert_eq!(answer.message(), "old: File exists"),
            "list" | "glob" | "backend ls" => assert_eq!(answer.message(), "old: Not a directory"),
            _ => assert!(answer.said.is_ok(), "{}", answer.operation),
        }
    }
    let error = sandbox.write("new/x", "x", WriteMode::Create).await.expect_err("refused").to_string();
    assert_eq!(error, "new/x: Read-only file system");
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_not_the_end() {
    in_a_place("ulimit -f 8", "with_a_limit_on_file_sizes");
}

#[test]
#[ignore = "started by another test, in a place with small files"]
fn with_a_limit_on_file_sizes() {
    let files = Files::new("io").expect("an io dir");
    files.write("f", b"small", WriteMode::Create, &mut WriteBudget::default()).expect("written");
    let large = "x".repeat(100_000);
    for mode in [WriteMode::Overwrite, WriteMode::Append] {
        let error = files.write("f", large.as_bytes(), mode, &mut WriteBudget::default()).expect_err("too large").to_string();
        assert_eq!(error, "f: File too large");
    }
    assert_eq!(files.edit("f", "s", &large, false, &mut WriteBudget::default()).expect_err("too large").to_string(), "f: File too large");
    assert_eq!(files.read_raw("f", 10).expect("read"), b"small");
}
