//! Files that are larger than the memory, with limits that allow them: an error, never the end of the process.

use crate::{
    sandbox::{files::put, sandbox},
    support::IoDir,
};
use std::fs::File;
use toolscript::files::GrepQuery;

/// The size of a sparse file, which is larger than the memory of most machines.
const SPARSE: u64 = 200 << 30;

#[tokio::test]
async fn a_sparse_file_that_is_larger_than_the_memory_is_rejected() {
    let mut dir = IoDir::new().created();
    dir.io = dir.io.clone().with_max_bytes(u64::MAX);
    for (name, start) in [("zeros", ""), ("image", "\u{89}PNG")] {
        put(&dir, name, start);
        File::options().write(true).open(dir.path().join(name)).and_then(|file| file.set_len(SPARSE)).expect("a sparse file");
    }
    let sandbox = sandbox(&dir);
    for name in ["zeros", "image"] {
        let message = format!("{name}: it is larger than the 268435456 bytes that can be read at once");
        assert_eq!(sandbox.edit(name, "a", "b", true).await.expect_err("too large").to_string(), message);
        assert_eq!(sandbox.read_raw(name).await.expect_err("too large").to_string(), message);
        assert_eq!(sandbox.read(name, 1, None).await.expect_err("too large").to_string(), message);
        assert_eq!(sandbox.download(vec![name.into()]).await.remove(0).expect_err("too large").to_string(), message);
    }
    let found = sandbox.grep(GrepQuery::new("a")).await.expect("searched");
    assert_eq!((found.matches.len(), found.binary), (0, 2));
    // A script reads such a file in blocks, and its own memory is limited.
    let run = dir.run("local f = io.open('zeros') return #f:read(10), f:seek('end'), (pcall(f.read, f, '*a'))").await;
    assert_eq!(run.outcome.decode::<(u64, u64, bool)>().expect("a result"), (10, SPARSE, true));
    assert!(dir.run("return #io.open('zeros'):read('*a')").await.outcome.result.is_err());
}

#[tokio::test]
async fn an_edit_whose_result_is_larger_than_the_memory_is_rejected() {
    let mut dir = IoDir::new().created();
    dir.io = dir.io.clone().with_max_bytes(u64::MAX);
    put(&dir, "letters", "a".repeat(1 << 20));
    let error = sandbox(&dir).edit("letters", "a", &"b".repeat(1 << 20), true).await.expect_err("too large");
    assert_eq!(error.to_string(), "letters: the edited file would be larger than 268435456 bytes");
    assert_eq!(std::fs::metadata(dir.path().join("letters")).expect("metadata").len(), 1 << 20);
}
