//! Path rules, compared with a second implementation, and file operations with any names and patterns.

use crate::input::Input;
use std::{path::Path, sync::LazyLock};
use tempfile::TempDir;
use toolscript::{
    Files,
    files::{GlobQuery, GrepQuery, WriteBudget, WriteMode},
};

/// The contents of a file beside the io directory.
const SECRET: &str = "outside of the io directory";

/// A directory with an io directory in it, and files that no operation may change or read.
struct Directories {
    root: TempDir,
    files: Files,
}

static DIRECTORIES: LazyLock<Directories> = LazyLock::new(|| {
    let root = TempDir::new().expect("a directory");
    let io = root.path().join("io");
    std::fs::create_dir_all(io.join("sub/deep")).expect("directories");
    std::fs::write(root.path().join("secret"), SECRET).expect("a file");
    std::fs::write(io.join("known.txt"), "one\ntwo\n").expect("a file");
    std::fs::write(io.join("sub/ü.md"), "three\n").expect("a file");
    std::os::unix::fs::symlink("../secret", io.join("link")).expect("a link");
    std::os::unix::fs::symlink("..", io.join("sub/up")).expect("a link");
    Directories { files: Files::new(&io).expect("an io directory"), root }
});

pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.u8() % 4 {
        0 => compare(None, input.rest()),
        1 => {
            let base = input.short_bytes();
            compare(Some(base), input.rest());
        }
        2 => operate(&mut input),
        _ => search(&mut input),
    }
}

/// Compares the result with the rules in docs/scripts.md, implemented on bytes.
fn compare(base: Option<&[u8]>, path: &[u8]) {
    let actual = toolscript::fuzzing::resolve_path(base, path);
    let expected = match base {
        None => expected_name(path),
        Some(base) => expected_name(base).and_then(|base| match path {
            b"~" | b"~/" => Some(".".into()),
            [b'~', b'/', rest @ ..] => expected_name(rest),
            _ if base == "." => expected_name(path),
            _ => expected_name(path).and_then(|path| expected_name(format!("{base}/{path}").as_bytes())),
        }),
    };
    assert_eq!(actual.as_deref().ok(), expected.as_deref(), "{base:?} {path:?}");
    if let Ok(name) = actual {
        assert!(!Path::new(&name).is_absolute());
        assert!(name.split('/').all(|component| component != ".."), "{name}");
    }
}

fn expected_name(path: &[u8]) -> Option<String> {
    if path.is_empty() || path.len() > 4096 || path[0] == b'/' || path.contains(&0) {
        return None;
    }
    let text = String::from_utf8(path.to_vec()).ok()?;
    let mut components = Vec::new();
    for component in text.split('/') {
        match component {
            "" | "." => {}
            ".." => return None,
            name if name.len() > 255 => return None,
            name => components.push(name),
        }
    }
    // Names that the runtime uses itself. `ſ` and `K` (the Kelvin sign) are the letters whose lower case is ASCII.
    let folded = |name: &&str| name.to_lowercase().replace('ſ', "s");
    let is_reserved = |name: &&str| matches!(folded(name).as_str(), "toolscript.toml" | ".toolscript-tmp");
    if components.len() > 64 || components.iter().any(is_reserved) {
        return None;
    }
    Some(if components.is_empty() { ".".into() } else { components.join("/") })
}

/// Writes, edits, reads and removes a file. Nothing outside changes, and no symlink is followed.
fn operate(input: &mut Input<'_>) {
    let Directories { root, files } = &*DIRECTORIES;
    let mode = [WriteMode::Create, WriteMode::Overwrite, WriteMode::Append][usize::from(input.u8() % 3)];
    let Ok(path) = str::from_utf8(input.rest()) else { return };
    let mut budget = WriteBudget::new(1000, 10);
    let written = files.write(path, b"written", mode, &mut budget);
    let _ = files.edit(path, "written", "edited", true, &mut budget);
    if let Ok(bytes) = files.read_raw(path, 1000) {
        assert_ne!(bytes, SECRET.as_bytes(), "{path:?} was read");
    }
    let _ = files.list(path);
    if written.is_ok() {
        let removed = files.remove(path);
        assert!(removed.is_ok(), "{path:?} was written, but not removed: {removed:?}");
    }
    let outside: Vec<_> = std::fs::read_dir(root).expect("a directory").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(outside.len(), 2, "{path:?} changed {outside:?}");
    assert_eq!(std::fs::read_to_string(root.path().join("secret")).expect("a file"), SECRET);
    restore(&root.path().join("io"));
}

/// Removes the directories that were created.
fn restore(io: &Path) {
    let entries = [io, &io.join("sub")].map(|directory| std::fs::read_dir(directory).expect("a directory").flatten());
    for entry in entries.into_iter().flatten() {
        if entry.file_name() != "sub" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            std::fs::remove_dir_all(entry.path()).expect("an empty directory");
        }
    }
    if !io.join("known.txt").exists() {
        std::fs::write(io.join("known.txt"), "one\ntwo\n").expect("a file");
    }
}

/// Searches with any pattern.
fn search(input: &mut Input<'_>) {
    let files = &DIRECTORIES.files;
    let (flags, path) = (input.u8(), String::from_utf8_lossy(input.short_bytes()).into_owned());
    let path = if flags & 8 == 0 { ".".to_owned() } else { path };
    let Ok(pattern) = str::from_utf8(input.rest()) else { return };
    let names: Vec<String> = if flags & 1 == 0 {
        let query = GlobQuery::new(pattern).with_path(path).with_hidden(flags & 2 != 0);
        files.glob(&query, &|| true).map(|found| found.entries.into_iter().map(|entry| entry.name).collect()).unwrap_or_default()
    } else {
        let mut query = GrepQuery::new(pattern).with_path(path).with_regex(flags & 2 != 0);
        if flags & 4 != 0 {
            query = query.with_glob("*.{txt,md}");
        }
        files.grep(&query, &|| true).map(|found| found.matches.into_iter().map(|entry| entry.name).collect()).unwrap_or_default()
    };
    for name in names {
        let leaves = name.split('/').any(|component| matches!(component, "" | "." | ".."));
        assert!(!leaves && name != "secret", "{name}");
    }
}
