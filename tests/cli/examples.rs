//! The example scripts and their expected output in `examples/`.

use super::toolscript;
use std::{fs, path::Path};
use tempfile::TempDir;

#[test]
fn each_example_prints_the_expected_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in fs::read_dir(root.join("examples")).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "luau") {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let directory = TempDir::new().expect("a directory");
        let output = toolscript(&directory, &["run", path.to_str().expect("a path")]).output().expect("output");
        // The log and the changed files, then the result.
        let actual = String::from_utf8([output.stderr, output.stdout].concat()).expect("UTF-8");
        let expected = root.join("tests/cli/examples").join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(&expected, &actual).expect("written");
        }
        assert_eq!(actual, fs::read_to_string(&expected).unwrap_or_default(), "{name}");
        count += 1;
    }
    assert_eq!(count, 6);
}
