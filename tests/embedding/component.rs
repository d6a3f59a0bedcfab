//! The artefacts for other hosts: the component, the WASI command, their metadata and the WIT contract.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};
use tempfile::TempDir;

fn toolscript(arguments: &[&str], directory: &Path) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null()).output().expect("the program runs")
}

/// Returns the contract without comments and white space.
fn normalized(wit: &str) -> String {
    let lines = wit.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n") + "\n"
}

/// A host that implements the imports of one version relies on that version.
#[test]
fn the_contracts_change_only_with_their_versions() {
    check_contract(toolscript::component::wit(), "package toolscript:sandbox@", "");
    check_contract(toolscript::component::checker_wit(), "package toolscript:checker@", "checker-");
}

fn check_contract(wit: &str, package: &str, prefix: &str) {
    let version = wit.split_once(package).and_then(|(_, rest)| rest.split_once(';')).expect("a version").0;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/embedding/contracts").join(format!("{prefix}{version}.wit"));
    if std::env::var_os("UPDATE_FIXTURES").is_some() && !path.exists() {
        fs::write(&path, normalized(wit)).expect("the contract of a new version");
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert!(normalized(wit) == known, "the contract differs from version {version}: give the package in wit/ a new version");
}

#[test]
fn the_command_prints_the_contract_and_writes_the_component() {
    let directory = TempDir::new().expect("a directory");
    let printed = toolscript(&["wit"], directory.path());
    assert_eq!((String::from_utf8_lossy(&printed.stdout).as_ref(), printed.status.code()), (toolscript::component::wit(), Some(0)));
    assert_eq!(toolscript(&["component"], directory.path()).status.code(), Some(0));
    let component = fs::read(directory.path().join("toolscript.wasm")).expect("the component");
    assert!(component == toolscript::component::component().expect("a component"));
    assert_eq!(toolscript(&["component", "-o", "other.wasm"], directory.path()).status.code(), Some(0));
    assert!(fs::read(directory.path().join("other.wasm")).expect("the component") == component);
    assert!(toolscript(&["component", "-o", "-"], directory.path()).stdout == component);
    let checker = toolscript(&["component", "--checker", "-o", "-"], directory.path()).stdout;
    assert!(checker == toolscript::component::checker().expect("a checker"));
    let contract = toolscript(&["wit", "--checker"], directory.path());
    assert_eq!(String::from_utf8_lossy(&contract.stdout), toolscript::component::checker_wit());
    let failed = toolscript(&["component", "-o", "none/x.wasm"], directory.path());
    let message = "error: can't write none/x.wasm: No such file or directory (os error 2)\n";
    assert_eq!((String::from_utf8_lossy(&failed.stderr).as_ref(), failed.status.code()), (message, Some(2)));
}

/// Their behaviour is tested in `tests/embedding/`, with hosts in Python and a browser.
#[test]
fn the_wasi_command_and_the_core_module_are_written_on_request() {
    let directory = TempDir::new().expect("a directory");
    let written = |option| toolscript(&["component", option, "-o", "-"], directory.path()).stdout;
    let (command, module) = (written("--wasi"), written("--core"));
    assert!(command == toolscript::component::wasi_command().expect("a command"));
    assert!(module == toolscript::component::wasi_core_module().expect("a module"));
    // The headers of a component and of a core module.
    assert_eq!((&command[..8], &module[..8]), (&b"\0asm\x0d\0\x01\0"[..], &b"\0asm\x01\0\0\0"[..]));
    let failed = toolscript(&["component", "--wasi", "--core"], directory.path());
    assert_eq!(failed.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("'--wasi' cannot be used with '--core'"));
}

#[test]
fn the_artefacts_contain_name_version_licences_and_producers() {
    check_metadata(toolscript::component::component().expect("a component"));
    check_metadata(toolscript::component::wasi_command().expect("a command"));
    check_metadata(toolscript::component::wasi_core_module().expect("a module"));
    check_metadata(toolscript::component::checker().expect("a checker"));
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
