//! Deletion of files and of directories with everything in them.

use super::{
    files::{message, put},
    sandbox,
};
use crate::support::{
    IoDir, engine,
    links::{SECRET, plant_irregular_files},
    snapshot,
};
use std::{fs, os::unix::ffi::OsStrExt as _, os::unix::fs::symlink};
use toolscript::{
    Sandbox,
    files::{FileErrorCode, WriteMode},
};

const SWITCH: &str = "; the operator can turn this protection off";

#[tokio::test]
async fn a_file_or_a_whole_directory_is_deleted() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    for name in ["a/1", "a/.hidden", "a/b/2", "a/b/c/3", "a/b/c/4", "f", "g"] {
        put(&dir, name, name);
    }
    fs::create_dir_all(dir.path().join("a/empty/empty")).expect("a directory");
    let deleted = sandbox.delete("./f").await.expect("deleted");
    assert_eq!((deleted.name.as_str(), deleted.files, deleted.directories), ("f", 1, 0));
    let deleted = sandbox.delete("a/b/").await.expect("deleted");
    assert_eq!((deleted.name.as_str(), deleted.files, deleted.directories), ("a/b", 3, 2));
    let deleted = sandbox.delete("a").await.expect("deleted");
    assert_eq!((deleted.name.as_str(), deleted.files, deleted.directories), ("a", 2, 3));
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);

    let error = sandbox.delete("a").await.expect_err("missing");
    assert_eq!((error.to_string().as_str(), error.code()), ("a: No such file or directory", FileErrorCode::FileNotFound));
    assert_eq!(message(sandbox.delete("none/x").await), "none/x: No such file or directory");
    assert_eq!(message(sandbox.delete("g/").await), "g: Not a directory");
    assert_eq!(message(sandbox.delete("g/x").await), "g/x: Not a directory");
    for path in [".", "~", "./", "~/."] {
        assert_eq!(message(sandbox.delete(path).await), "the io directory can't be deleted", "{path}");
    }
    assert!(dir.path().join("g").exists());
}

#[tokio::test]
async fn a_directory_with_something_that_cannot_be_deleted_is_left_as_it_is() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    let outside = dir.outside().join("outside");
    fs::create_dir(&outside).expect("a directory");
    fs::write(outside.join("secret"), SECRET).expect("a file");
    for name in ["link/a/b/0", "git/0", "git/x/.git/config", "env/0", "env/.env", "config/0", "config/a/toolscript.toml", "bytes/0"] {
        put(&dir, name, name);
    }
    symlink(&outside, dir.path().join("link/a/b/to_outside")).expect("a symlink");
    fs::write(dir.path().join("bytes").join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "").expect("a file");
    let before = snapshot(dir.outside());
    for (path, expected) in [
        ("link", "link/a/b/to_outside: symbolic links are not followed".to_owned()),
        ("link/a", "link/a/b/to_outside: symbolic links are not followed".to_owned()),
        ("git", format!("git/x/.git: cannot be changed, because other programs execute or trust '.git'{SWITCH}")),
        ("env", format!("env/.env: cannot be read or changed, because '.env' usually contains credentials{SWITCH}")),
        ("config", "path cannot contain 'toolscript.toml', a reserved name".to_owned()),
        ("bytes", "bytes: it contains a name that is not UTF-8".to_owned()),
    ] {
        assert_eq!(message(sandbox.delete(path).await), expected);
    }
    assert_eq!(snapshot(dir.outside()), before);
    // Without the protection, these names are like any other.
    let unprotected = Sandbox::new(engine().clone(), dir.io.clone().with_protected_names(false));
    assert_eq!(unprotected.delete("git").await.expect("deleted").files, 2);
}

#[tokio::test]
async fn a_directory_with_a_fifo_or_a_socket_is_left_as_it_is() {
    let dir = IoDir::new().created();
    let irregular = plant_irregular_files(&dir);
    fs::create_dir(dir.path().join("a")).expect("a directory");
    for name in &irregular.names {
        fs::rename(dir.path().join(name), dir.path().join("a").join(name)).expect("moved");
        assert_eq!(message(sandbox(&dir).delete("a").await), format!("a/{name}: not a regular file"));
        fs::rename(dir.path().join("a").join(name), dir.path().join(name)).expect("moved");
    }
    sandbox(&dir).delete("a").await.expect("deleted");
}

#[tokio::test]
async fn a_deletion_releases_the_disk_quota() {
    let dir = IoDir::new();
    let sandbox = Sandbox::new(engine().clone(), dir.io.files.clone().with_disk_quota(10_000).expect("counted"));
    for _ in 0..3 {
        sandbox.write("a/b/f", vec![0; 5000], WriteMode::Create).await.expect("the space of the last round is free again");
        assert_eq!(message(sandbox.write("g", vec![0; 2000], WriteMode::Create).await), "disk quota exceeded (10000 bytes for all files)");
        sandbox.delete("a").await.expect("deleted");
    }
    sandbox.write("g", vec![0; 8976], WriteMode::Create).await.expect("only the file itself counts");
}

#[tokio::test]
async fn a_deletion_can_be_stopped_and_repeated() {
    let dir = IoDir::new();
    for number in 0..20 {
        put(&dir, &format!("a/{number}"), "x");
    }
    // The first 20 calls are those of the check.
    let calls = std::cell::Cell::new(0);
    let stop_after = |count| {
        move || {
            calls.set(calls.get() + 1);
            calls.get() <= count
        }
    };
    let error = dir.io.files.delete("a", &stop_after(25)).expect_err("stopped");
    assert_eq!((error.to_string().as_str(), error.code().name()), ("the operation timed out or was cancelled", "interrupted"));
    assert_eq!(fs::read_dir(dir.path().join("a")).expect("a directory").count(), 15);
    assert_eq!(dir.io.files.delete("a", &|| true).expect("deleted").files, 15);
}
