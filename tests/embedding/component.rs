//! The box for hosts of other kinds: the component, its contract, and what they say of themselves.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};
use tempfile::TempDir;

fn toolscript(arguments: &[&str], folder: &Path) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("it runs")
}

/// The contract without what is not binding: comments and space.
fn binding(wit: &str) -> String {
    let lines = wit.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n") + "\n"
}

/// Whoever implements the imports for one version must be able to rely on it.
#[test]
fn the_contract_changes_with_its_version_only() {
    let wit = toolscript::component::wit();
    let version = wit.split_once("package toolscript:sandbox@").and_then(|(_, rest)| rest.split_once(';')).expect("a version").0;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/embedding/contracts").join(format!("{version}.wit"));
    if std::env::var_os("UPDATE_FIXTURES").is_some() && !path.exists() {
        fs::write(&path, binding(wit)).expect("the contract of a new version");
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert!(binding(wit) == known, "the contract is not that of {version} any more: give the package in wit/ a new version");
}

#[test]
fn the_command_prints_the_contract_and_writes_the_component() {
    let folder = TempDir::new().expect("a folder");
    let printed = toolscript(&["wit"], folder.path());
    assert_eq!((String::from_utf8_lossy(&printed.stdout).as_ref(), printed.status.code()), (toolscript::component::wit(), Some(0)));
    assert_eq!(toolscript(&["component"], folder.path()).status.code(), Some(0));
    let component = fs::read(folder.path().join("toolscript.wasm")).expect("the component");
    assert!(component == toolscript::component::component().expect("a component"));
    assert_eq!(toolscript(&["component", "-o", "other.wasm"], folder.path()).status.code(), Some(0));
    assert!(fs::read(folder.path().join("other.wasm")).expect("the component") == component);
    assert!(toolscript(&["component", "-o", "-"], folder.path()).stdout == component);
    let refused = toolscript(&["component", "-o", "none/x.wasm"], folder.path());
    let message = "error: can't write none/x.wasm: No such file or directory (os error 2)\n";
    assert_eq!((String::from_utf8_lossy(&refused.stderr).as_ref(), refused.status.code()), (message, Some(2)));
}

/// Their behaviour is tested in `tests/embedding/`, with hosts in Python, Node and a browser.
#[test]
fn the_wasi_flavours_are_written_on_request() {
    let folder = TempDir::new().expect("a folder");
    let written = |flavour| toolscript(&["component", flavour, "-o", "-"], folder.path()).stdout;
    let (command, module) = (written("--wasi"), written("--core"));
    assert!(command == toolscript::component::wasi_command().expect("a command"));
    assert!(module == toolscript::component::wasi_core_module().expect("a module"));
    // The layers of the format: a component, and a module.
    assert_eq!((&command[..8], &module[..8]), (&b"\0asm\x0d\0\x01\0"[..], &b"\0asm\x01\0\0\0"[..]));
    let refused = toolscript(&["component", "--wasi", "--core"], folder.path());
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("'--wasi' cannot be used with '--core'"));
}

#[test]
fn the_component_says_what_it_is_and_whose_work_is_in_it() {
    check_metadata(toolscript::component::component().expect("a component"));
    check_metadata(toolscript::component::wasi_command().expect("a command"));
    check_metadata(toolscript::component::wasi_core_module().expect("a module"));
}

fn check_metadata(binary: &[u8]) {
    let payload = wasm_metadata::Payload::from_binary(binary).expect("metadata");
    let metadata = payload.metadata();
    assert_eq!(metadata.name.as_deref(), Some("toolscript"));
    assert_eq!(metadata.version.as_ref().map(ToString::to_string).as_deref(), Some(env!("CARGO_PKG_VERSION")));
    let licences = metadata.licenses.as_ref().map(ToString::to_string).expect("licences");
    assert_eq!(licences, "(MIT OR Apache-2.0) AND MIT AND Apache-2.0 WITH LLVM-exception");
    let producers = metadata.producers.as_ref().expect("producers");
    let languages = producers.get("language").expect("languages");
    assert_eq!(languages.get("Luau").map(String::as_str), Some("0.740"));
    assert!(languages.get("C++").is_some());
}
