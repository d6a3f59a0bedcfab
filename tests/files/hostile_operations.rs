//! Hostile paths, symlinks and names in file operations outside of scripts: the same attacks as in [`super::hostile_scripts`].

use crate::{
    sandbox::sandbox,
    support::links::{LINKS, SECRET, Swapper, THROUGH, plant_irregular_files, plant_links},
    support::{IoDir, snapshot},
};
use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{FileTypeExt as _, symlink},
    },
};
use toolscript::{
    Files, Sandbox,
    files::{FileContents, FileError, GlobQuery, GrepQuery, WriteBudget, WriteMode},
    sandbox::Backend,
};

/// The result of one operation.
pub struct Answer {
    pub operation: &'static str,
    pub result: Result<String, FileError>,
}

impl Answer {
    pub fn message(&self) -> String {
        self.result.as_ref().expect_err(self.operation).to_string()
    }
}

/// Performs every operation that takes a path, on one path.
pub async fn every_operation(sandbox: &Sandbox, path: &str) -> Vec<Answer> {
    let files = sandbox.files();
    let backend: &dyn Backend = sandbox;
    let read = |contents: FileContents| match contents {
        FileContents::Text(page) => page.text,
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
        ("working directory", sandbox.clone().with_working_directory(path).map(|_| String::new())),
        ("remove", sandbox.remove(path).await),
        ("delete", sandbox.delete(path).await.map(|deleted| deleted.name)),
    ];
    // A backend interprets a leading slash as the io directory, so absolute paths are no attack there.
    if !path.starts_with('/') {
        answers.push(("backend read", backend.read(path, 0, 10).await.map(read)));
        answers.push(("backend write", backend.write(path, "attack".into(), WriteMode::Create).await.map(|written| written.name)));
        answers.push(("backend ls", backend.ls(path).await.map(|infos| format!("{infos:?}"))));
    }
    answers.into_iter().map(|(operation, result)| Answer { operation, result }).collect()
}

/// Returns `true` if the operation takes a directory.
fn takes_directory(answer: &Answer) -> bool {
    matches!(answer.operation, "list" | "glob" | "backend ls" | "working directory")
}

#[tokio::test]
async fn invalid_paths_return_the_documented_error() {
    let dir = IoDir::new().created();
    let sandbox = sandbox(&dir);
    fs::write(dir.outside().join("x"), SECRET).expect("a file");
    let before = snapshot(dir.outside());
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
            // A search and a deletion accept a directory.
            if !takes_directory(&answer) && !matches!(answer.operation, "grep" | "delete") {
                assert!(answer.message().ends_with(": Is a directory"), "{path:?} {}: {}", answer.operation, answer.message());
            }
        }
    }
    for pattern in ["../*", "a/../../*", "/etc/*", "/*"] {
        assert!(sandbox.glob(GlobQuery::new(pattern)).await.is_err());
        assert!(sandbox.grep(GrepQuery::new("x").with_glob(pattern)).await.is_err());
    }
    assert_eq!(snapshot(dir.outside()), before);
}

#[tokio::test]
async fn symlinks_are_rejected_by_every_operation() {
    let dir = IoDir::new().created();
    let sandbox = sandbox(&dir);
    plant_links(&dir);
    let before = snapshot(dir.outside());
    for path in [&LINKS[..], &THROUGH].concat() {
        for answer in every_operation(&sandbox, path).await {
            if answer.operation != "working directory" {
                assert_eq!(answer.message(), format!("{path}: symbolic links are not followed"), "{}", answer.operation);
            }
        }
        // A working directory is only resolved when a path is used.
        let there = sandbox.clone().with_working_directory(path).expect("a path");
        for answer in every_operation(&there, "x").await {
            if answer.operation != "working directory" {
                let message = answer.message();
                assert!(
                    message.ends_with(": symbolic links are not followed") || message.ends_with(": Not a directory"),
                    "{path} {message}"
                );
            }
        }
    }
    let searched = sandbox.grep(GrepQuery::new("secret")).await.expect("searched");
    assert_eq!((searched.files, searched.matches.len()), (1, 0), "only the regular file is searched");
    let found = sandbox.glob(GlobQuery::new("**/*")).await.expect("found");
    assert_eq!(found.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["folder", "inside"]);
    for pattern in ["to_folder/*", "to_itself/*", "to_folder/secret"] {
        let message = sandbox.glob(GlobQuery::new(pattern)).await.expect_err("rejected").to_string();
        assert!(message.ends_with(": symbolic links are not followed"), "{pattern}: {message}");
    }
    assert_eq!(snapshot(dir.outside()), before);
    let listed = sandbox.list(".").await.expect("listed");
    assert!(LINKS.iter().all(|link| listed.iter().any(|info| info.name == *link && info.kind.name() == "link")));
}

#[tokio::test]
async fn a_directory_that_was_replaced_by_a_symlink_stays_in_use() {
    let dir = IoDir::new().created();
    let sandbox = sandbox(&dir);
    let (elsewhere, moved) = (dir.outside().join("elsewhere"), dir.outside().join("moved"));
    fs::create_dir(&elsewhere).expect("a directory");
    fs::write(elsewhere.join("secret"), SECRET).expect("a file");
    sandbox.write("first", "1", WriteMode::Create).await.expect("written");
    fs::rename(dir.path(), &moved).expect("moved");
    symlink(&elsewhere, dir.path()).expect("a symlink");
    sandbox.write("second", "2", WriteMode::Create).await.expect("written");
    sandbox.edit("second", "2", "two", false).await.expect("edited");
    assert!(sandbox.read_raw("secret").await.is_err());
    let names = sandbox.list(".").await.expect("listed");
    assert_eq!(names.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    assert_eq!(sandbox.grep(GrepQuery::new("secret")).await.expect("searched").files, 2);
    assert_eq!(fs::read_to_string(moved.join("second")).expect("the file"), "two");
    assert_eq!(snapshot(&elsewhere).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replacing_a_file_by_a_symlink_leaks_nothing() {
    let dir = IoDir::new().created();
    let swapper = Swapper::start(&dir);
    let sandbox = sandbox(&dir);
    let (mut succeeded, mut rejected) = (0, 0);
    for _ in 0..100 {
        for path in ["x", "folder/x", "folder/secret", "folder"] {
            for answer in every_operation(&sandbox, path).await {
                match answer.result {
                    Ok(text) => {
                        assert!(!text.contains("the host"), "{path} {}: {text}", answer.operation);
                        succeeded += 1;
                    }
                    Err(_) => rejected += 1,
                }
            }
        }
        let searched = sandbox.grep(GrepQuery::new("the host")).await.map_or(0, |found| found.matches.len());
        assert_eq!(searched, 0);
    }
    swapper.stop();
    assert!(succeeded > 100 && rejected > 100, "{succeeded} succeeded, {rejected} rejected");
}

#[tokio::test]
async fn irregular_files_are_rejected_without_blocking() {
    let dir = IoDir::new().created();
    let sandbox = sandbox(&dir);
    let irregular = plant_irregular_files(&dir);
    for path in &irregular.names {
        for answer in every_operation(&sandbox, path).await {
            match answer.operation {
                "working directory" => {}
                _ if takes_directory(&answer) => assert_eq!(answer.message(), format!("{path}: Not a directory")),
                _ => assert_eq!(answer.message(), format!("{path}: not a regular file"), "{}", answer.operation),
            }
        }
    }
    assert_eq!(sandbox.grep(GrepQuery::new("x")).await.expect("searched").files, 0);
    assert_eq!(sandbox.glob(GlobQuery::new("*")).await.expect("found").entries, []);
    assert!(sandbox.list(".").await.expect("listed").iter().all(|info| info.kind.name() == "other"));
    assert!(fs::symlink_metadata(dir.path().join("fifo")).expect("it exists").file_type().is_fifo());
}

#[tokio::test]
async fn a_name_that_is_not_utf8_is_marked_and_never_matched() {
    let dir = IoDir::new().created();
    let sandbox = sandbox(&dir);
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(dir.path().join(name), SECRET).expect("a file");
    assert_eq!(sandbox.list(".").await.expect("listed")[0].name, "caf\u{fffd}.txt (not UTF-8)");
    for answer in every_operation(&sandbox, "caf\u{fffd}.txt").await {
        assert!(!answer.result.is_ok_and(|text| text.contains(SECRET)), "{}", answer.operation);
    }
    fs::remove_file(dir.path().join("caf\u{fffd}.txt")).expect("the backend write created it");
    let found = sandbox.glob(GlobQuery::new("caf*")).await.expect("found");
    assert_eq!((found.entries.len(), found.skipped), (0, 1));
    let found = sandbox.grep(GrepQuery::new("secret")).await.expect("searched");
    assert_eq!((found.matches.len(), found.files, found.skipped), (0, 0, 1));
    assert_eq!(fs::read_to_string(dir.path().join(name)).expect("the file"), SECRET);
}

#[tokio::test]
async fn a_directory_that_is_deleted_while_in_use_returns_errors() {
    let dir = IoDir::new().created();
    let sandbox = sandbox(&dir);
    sandbox.write("f", "x", WriteMode::Create).await.expect("written");
    fs::remove_dir_all(dir.path()).expect("removed");
    for answer in every_operation(&sandbox, "f").await {
        if answer.operation != "working directory" {
            assert_eq!(answer.message(), "f: No such file or directory", "{}", answer.operation);
        }
    }
    assert_eq!(sandbox.list(".").await.expect("nothing is left"), []);
}

#[test]
fn reading_creates_nothing() {
    let dir = IoDir::new();
    let files: &Files = &dir.io.files;
    assert!(
        files.read_raw("a/b", 10).is_err()
            && files.remove("a").is_err()
            && files.delete("a", &|| true).is_err()
            && files.list("a").is_err()
    );
    assert!(files.edit("a", "x", "y", true, &mut WriteBudget::default()).is_err() && files.read("a", 1, None, 10, &|| true).is_err());
    assert!(files.glob(&GlobQuery::new("**"), &|| true).is_ok() && files.grep(&GrepQuery::new("x"), &|| true).is_ok());
    assert!(!dir.path().exists());
}
