//! The attributes of replaced files: privileges are dropped, and owner, group, mode and extended attributes are kept.

use super::test_name;
use crate::{
    sandbox::{files::put, sandbox},
    support::IoDir,
};
use rustix::{
    fs::{XattrFlags, getxattr, setxattr},
    process::{geteuid, getgid, getgroups},
};
use std::{
    fs,
    io::Write as _,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
    process::Command,
};
use toolscript::{
    Files,
    files::{WriteBudget, WriteMode},
};

/// A user and a group that own nothing else on the machine.
const OTHER: u32 = 54_321;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("metadata").mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    assert_eq!(self::mode(path), mode);
}

fn report_skipped(reason: &str) {
    let _ = writeln!(std::io::stderr(), "not run: {reason}");
}

fn is_root() -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        report_skipped("it needs to change the owner of files, which only root may do");
    }
    is_root
}

/// Replaces the contents of `file` in each way.
async fn for_each_replacement(dir: &IoDir, prepare: impl Fn(&Path), check: impl Fn(&Path, &str)) {
    let (sandbox, path) = (sandbox(dir), dir.path().join("file"));
    for way in ["overwrite", "edit", "append", "script w", "script a", "script r+"] {
        put(dir, "file", "old");
        prepare(&path);
        let script = |mode: &str| format!("io.open('file', '{mode}'):write('new'):close() return 1");
        match way {
            "overwrite" => drop(sandbox.write("file", "new", WriteMode::Overwrite).await.expect(way)),
            "edit" => drop(sandbox.edit("file", "old", "new", false).await.expect(way)),
            "append" => drop(sandbox.write("file", "new", WriteMode::Append).await.expect(way)),
            script_mode => drop(dir.result::<u8>(&script(script_mode.split_once(' ').expect("a mode").1)).await),
        }
        assert!(fs::read_to_string(&path).expect("a file").ends_with("new"), "{way}");
        check(&path, way);
        fs::remove_file(&path).expect("removed");
    }
}

#[tokio::test]
async fn privileges_are_dropped_and_the_mode_is_kept() {
    let dir = IoDir::new().created();
    for (before, after) in [(0o6755, 0o755), (0o4700, 0o700), (0o2750, 0o750), (0o640, 0o640), (0o604, 0o604)] {
        for_each_replacement(&dir, |path| set_mode(path, before), |path, way| assert_eq!(mode(path), after, "{way}")).await;
    }
}

#[tokio::test]
async fn extended_attributes_are_kept() {
    let dir = IoDir::new().created();
    put(&dir, "probe", "");
    if let Err(error) = setxattr(dir.path().join("probe"), "user.test", b"", XattrFlags::empty()) {
        return report_skipped(&format!("the file system has no extended attributes: {error}"));
    }
    let large = [7; 1000];
    let values: [(&str, &[u8]); 3] = [("user.comment", b"kept"), ("user.empty", b""), ("user.large", &large)];
    let prepare = |path: &Path| values.iter().for_each(|(name, value)| setxattr(path, *name, value, XattrFlags::empty()).expect("set"));
    let check = |path: &Path, way: &str| {
        for (name, value) in values {
            let mut buffer = [0; 2000];
            let size = getxattr(path, name, &mut buffer[..]).expect(name);
            assert_eq!(&buffer[..size], value, "{way} {name}");
        }
    };
    for_each_replacement(&dir, prepare, check).await;
}

#[tokio::test]
async fn file_capabilities_are_dropped() {
    if !is_root() {
        return;
    }
    // `cap_net_raw` in revision 2 of the format.
    let capability = [&0x0200_0001_u32.to_le_bytes()[..], &0x2000_u32.to_le_bytes(), &[0; 12]].concat();
    let dir = IoDir::new().created();
    put(&dir, "probe", "");
    if let Err(error) = setxattr(dir.path().join("probe"), "security.capability", &capability, XattrFlags::empty()) {
        return report_skipped(&format!("file capabilities can't be set: {error}"));
    }
    let prepare = |path: &Path| setxattr(path, "security.capability", &capability, XattrFlags::empty()).expect("set");
    let check = |path: &Path, way: &str| assert!(getxattr(path, "security.capability", &mut [0; 64][..]).is_err(), "{way}");
    for_each_replacement(&dir, prepare, check).await;
}

#[tokio::test]
async fn owner_and_group_are_kept() {
    if !is_root() {
        return;
    }
    let dir = IoDir::new().created();
    let prepare = |path: &Path| chown(path, Some(OTHER), Some(OTHER + 1)).expect("an owner");
    let check = |path: &Path, way: &str| {
        let metadata = fs::metadata(path).expect("metadata");
        assert_eq!((metadata.uid(), metadata.gid()), (OTHER, OTHER + 1), "{way}");
    };
    for_each_replacement(&dir, prepare, check).await;
}

#[tokio::test]
async fn a_new_file_gets_the_group_of_a_setgid_directory() {
    let own = getgid().as_raw();
    let member_of = getgroups().expect("groups").into_iter().map(|group| group.as_raw()).find(|group| *group != own);
    let Some(group) = (if geteuid().is_root() { Some(OTHER) } else { member_of }) else {
        return report_skipped("it needs a second group of the user");
    };
    let dir = IoDir::new().created();
    let shared = dir.path().join("shared");
    fs::create_dir(&shared).expect("a directory");
    chown(&shared, None, Some(group)).expect("a group");
    set_mode(&shared, 0o2775);
    let sandbox = sandbox(&dir);
    sandbox.write("shared/created", "x", WriteMode::Create).await.expect("written");
    sandbox.write("shared/overwritten", "x", WriteMode::Overwrite).await.expect("written");
    sandbox.write("shared/below/created", "x", WriteMode::Create).await.expect("written");
    let _: u8 = dir.result("io.open('shared/script', 'w'):write('x'):close() return 1").await;
    for name in ["created", "overwritten", "below", "below/created", "script"] {
        assert_eq!(fs::metadata(shared.join(name)).expect("metadata").gid(), group, "{name}");
    }
    sandbox.write("outside", "x", WriteMode::Create).await.expect("written");
    assert_ne!(fs::metadata(dir.path().join("outside")).expect("metadata").gid(), group);
}

/// The environment variable with the directory of the child process.
const DIRECTORY: &str = "TOOLSCRIPT_TEST_FOREIGN_FILE";

#[test]
fn a_file_whose_owner_cannot_be_kept_is_not_replaced() {
    if let Ok(directory) = std::env::var(DIRECTORY) {
        return replace_foreign_file(Path::new(&directory));
    }
    if !is_root() {
        return;
    }
    let dir = IoDir::new().created();
    set_mode(dir.outside(), 0o777);
    set_mode(&dir.path(), 0o777);
    put(&dir, "foreign", "old");
    set_mode(&dir.path().join("foreign"), 0o666);
    let output = Command::new(std::env::current_exe().expect("the test binary"))
        .args(["--exact", "--nocapture", &test_name(module_path!(), "a_file_whose_owner_cannot_be_kept_is_not_replaced")])
        .env(DIRECTORY, dir.path())
        .current_dir("/")
        .uid(OTHER)
        .gid(OTHER)
        .output();
    match output {
        Err(error) => report_skipped(&format!("another user can't start the test binary: {error}")),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(fs::read_to_string(dir.path().join("foreign")).expect("a file"), "old and appended");
            assert_eq!(fs::read_dir(dir.path().join(".toolscript-tmp")).expect("a directory").count(), 0);
        }
    }
}

/// The part of the test that runs as another user.
fn replace_foreign_file(directory: &Path) {
    assert!(!geteuid().is_root());
    let (files, mut budget) = (Files::new(directory).expect("a directory"), WriteBudget::default());
    let expected =
        "foreign: the file belongs to another user or group, which a replacement can't keep; append to it or write it in a script";
    let error = files.write("foreign", b"new", WriteMode::Overwrite, &mut budget).expect_err("it belongs to root");
    assert_eq!(error.to_string(), expected);
    let error = files.edit("foreign", "old", "new", false, &mut budget).expect_err("it belongs to root");
    assert_eq!(error.to_string(), expected);
    files.write("foreign", b" and appended", WriteMode::Append, &mut budget).expect("appended");
}
