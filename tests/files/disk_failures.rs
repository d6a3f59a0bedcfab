//! Disks that are full or read-only, and limits on file sizes: each one is an error that scripts and callers see.
//!
//! The disks are mounts in a namespace of their own. Where the machine does not allow that, a test prints a message and passes.

use super::{hostile_operations::every_operation, test_name};
use crate::support::engine;
use std::{io::Write as _, process::Command};
use tempfile::TempDir;
use toolscript::{
    Files, Sandbox,
    files::{WriteBudget, WriteMode},
};

/// Prints that a test was skipped.
fn report_skipped(reason: &str) {
    let _ = writeln!(std::io::stderr(), "not run, as this machine allows no mounts: {reason}");
}

/// Runs a script with the command-line program after `prepare`, which may mount a disk at `io`. Returns its standard output, or `None` if
/// the machine does not allow mounts.
fn run_with_mounts(prepare: &str, script: &str) -> Option<String> {
    let directory = TempDir::new().expect("a directory");
    let line = format!("set -e; mkdir io; {prepare}; exec \"$0\" run -e \"$1\" --io-dir io --json");
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &line, env!("CARGO_BIN_EXE_toolscript"), script])
        .current_dir(directory.path())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(!text.contains(directory.path().to_str().expect("a path")), "{text}");
    if text.is_empty() {
        report_skipped(&String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(text)
}

#[test]
fn a_full_disk_is_an_error_that_the_script_sees() {
    let script = "local f = io.open('x', 'w') local ok, message = pcall(function() for _ = 1, 100 do f:write(('x'):rep(5000)) end end)
        local closed = { pcall(f.close, f) }
        return ok, (message:gsub('script:1: ', '')), closed, #io.open('x'):read('*a') <= 65536";
    if let Some(output) = run_with_mounts("mount -t tmpfs -o size=64k none io", script) {
        assert!(output.starts_with(r#"{"result":[false,"x: No space left on device",[true,true],true],"logs":[],"files_touched":[{"name":"x","op":"write","bytes":65536}]}"#), "{output}");
    }
}

#[test]
fn buffered_bytes_that_a_full_disk_rejects_fail_the_run() {
    // The buffer is written when the script ends, or when the file is collected as garbage.
    let fill = "io.open('big', 'w'):write(('x'):rep(61440)):close() local f = io.open('x', 'w') f:write('1') f:write(('x'):rep(60000))";
    for rest in ["return 1", "f = nil for i = 1, 65 do local g = io.open('y' .. i % 3, 'a') end return 1"] {
        if let Some(output) = run_with_mounts("mount -t tmpfs -o size=64k none io", &format!("{fill} {rest}")) {
            assert!(output.starts_with(r#"{"error":{"kind":"runtime","message":"x: No space left on device"}"#), "{output}");
        }
    }
    let returned = format!("{fill} local t = {{}} for i = 1, 100000 do t[1] = i end return pcall(f.write, f, 'x')");
    if let Some(output) = run_with_mounts("mount -t tmpfs -o size=64k none io", &returned) {
        assert!(output.starts_with(r#"{"result":[false,"x: No space left on device"],"#), "{output}");
    }
}

#[test]
fn a_read_only_io_directory_is_an_error_that_the_script_sees() {
    let script = "local t = {} for _, mode in { 'w', 'a', 'r+' } do table.insert(t, (select(2, pcall(io.open, 'old', mode)))) end
        return t, (select(2, pcall(io.open, 'new', 'w'))), (select(2, pcall(os.remove, 'old'))), io.open('old'):read()";
    let prepare = "echo old > io/old; mount --bind io io; mount -o remount,ro,bind io";
    if let Some(output) = run_with_mounts(prepare, script) {
        let rejected = ["old", "old", "old"].map(|name| format!("{name}: Read-only file system"));
        let expected = serde_json::json!([rejected, "new: Read-only file system", "old: Read-only file system", "old"]);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&output).expect("JSON")["result"], expected);
    }
}

#[test]
fn a_limit_on_file_sizes_is_an_error_that_the_script_sees() {
    let directory = TempDir::new().expect("a directory");
    let script =
        "local f = io.open('x', 'w') f:write(('x'):rep(1000)) local ok, message = pcall(f.write, f, ('x'):rep(17 * 2^20)) f:close()
        return ok, message, #io.open('x'):read('*a')";
    let output = Command::new("bash")
        .args(["-c", "ulimit -f 16384; exec \"$0\" run -e \"$1\" --json", env!("CARGO_BIN_EXE_toolscript"), script])
        .current_dir(directory.path())
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        text.starts_with(
            r#"{"result":[false,"x: File too large",1000],"logs":[],"files_touched":[{"name":"x","op":"write","bytes":1000}]}"#
        ),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_limit_on_file_sizes_that_is_too_low_for_the_guest_is_reported_on_one_line() {
    let line = "ulimit -f 1000; exec \"$0\" run -e 'return 1'";
    let output = Command::new("bash").args(["-c", line, env!("CARGO_BIN_EXE_toolscript")]).output().expect("it runs");
    let message = "error: the limit on file sizes is under 8 MiB, which the guest's image needs; raise it (ulimit -f)\n";
    assert_eq!((String::from_utf8_lossy(&output.stderr).as_ref(), output.status.code()), (message, Some(1)));
}

#[test]
fn buffered_bytes_that_a_limit_on_file_sizes_rejects_are_flagged() {
    let directory = TempDir::new().expect("a directory");
    // The first write just fits. The second is buffered and does not fit.
    let write = "local h = io.open('big', 'w') h:write(('a'):rep(16777000)) h:write(('b'):rep(60000))";
    for (rest, kind) in [
        ("while true do end", "timeout"),
        ("h = nil for i = 1, 70 do io.open('x', 'a') end while true do end", "timeout"),
        ("error('mine')", "runtime"),
    ] {
        let script = format!("{write} {rest}");
        let output = Command::new("bash")
            .args(["-c", "ulimit -f 16384; exec \"$0\" run -e \"$1\" --json --timeout 1", env!("CARGO_BIN_EXE_toolscript"), &script])
            .current_dir(directory.path())
            .output()
            .expect("it runs");
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(outcome["error"]["kind"], kind, "{outcome}");
        assert_eq!(
            outcome["files_touched"][0],
            serde_json::json!({ "name": "big", "op": "write", "bytes": 16_777_000, "cut": true }),
            "{rest}"
        );
    }
}

/// Runs another test of this binary after `prepare`, which may mount a disk at `io` or set a limit.
fn run_test_after(prepare: &str, test: &str) {
    let directory = TempDir::new().expect("a directory");
    let test = test_name(module_path!(), test);
    let line = format!("set -e; mkdir io; {prepare}; echo prepared; exec \"$0\" --exact {test} --ignored --nocapture");
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &line])
        .arg(program)
        .current_dir(directory.path())
        .output()
        .expect("unshare of util-linux");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if text.contains("prepared") {
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    } else {
        report_skipped(&text);
    }
}

/// Returns a sandbox with the directory `io` of the current directory.
fn sandbox() -> Sandbox {
    Sandbox::new(engine().clone(), Files::new("io").expect("an io directory"))
}

#[test]
fn a_full_disk_is_an_error_and_keeps_existing_files() {
    run_test_after("mount -t tmpfs -o size=64k none io", "on_a_full_disk");
}

#[tokio::test]
#[ignore = "started by another test, with a small disk"]
async fn on_a_full_disk() {
    let sandbox = sandbox();
    sandbox.write("f", "old", WriteMode::Create).await.expect("written");
    let large = "x".repeat(100_000);
    for (name, mode) in [("f", WriteMode::Overwrite), ("new", WriteMode::Create), ("f", WriteMode::Append)] {
        let error = sandbox.write(name, large.as_str(), mode).await.expect_err("full").to_string();
        assert_eq!(error, format!("{name}: No space left on device"));
    }
    let contents = sandbox.read_raw("f").await.expect("read");
    assert!(contents.starts_with(b"old"), "a failed overwrite keeps the old file");
    assert!(sandbox.list(".").await.expect("listed").iter().all(|info| info.name == "f"), "a failed write creates no file");
    sandbox.remove("f").await.expect("removed");
    sandbox.write("f", "x".repeat(40_000), WriteMode::Create).await.expect("the space of failed writes is free again");
}

#[test]
fn a_read_only_disk_is_an_error() {
    let prepare = "echo old secret > io/old; mount --bind io io; mount -o remount,ro,bind io";
    run_test_after(prepare, "on_a_read_only_disk");
}

#[tokio::test]
#[ignore = "started by another test, with a read-only disk"]
async fn on_a_read_only_disk() {
    let sandbox = sandbox();
    for answer in every_operation(&sandbox, "old").await {
        match answer.operation {
            "edit" | "write overwrite" | "write append" | "upload" | "remove" | "delete" => {
                assert_eq!(answer.message(), "old: Read-only file system", "{}", answer.operation);
            }
            "write create" | "backend write" => assert_eq!(answer.message(), "old: File exists"),
            "list" | "glob" | "backend ls" => assert_eq!(answer.message(), "old: Not a directory"),
            _ => assert!(answer.result.is_ok(), "{}", answer.operation),
        }
    }
    let error = sandbox.write("new/x", "x", WriteMode::Create).await.expect_err("rejected").to_string();
    assert_eq!(error, "new/x: Read-only file system");
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_does_not_end_the_process() {
    run_test_after("ulimit -f 8", "with_a_limit_on_file_sizes");
}

#[test]
#[ignore = "started by another test, with a limit on file sizes"]
fn with_a_limit_on_file_sizes() {
    let files = Files::new("io").expect("an io directory");
    files.write("f", b"small", WriteMode::Create, &mut WriteBudget::default()).expect("written");
    let large = "x".repeat(100_000);
    for mode in [WriteMode::Overwrite, WriteMode::Append] {
        let error = files.write("f", large.as_bytes(), mode, &mut WriteBudget::default()).expect_err("too large").to_string();
        assert_eq!(error, "f: File too large");
    }
    assert_eq!(files.edit("f", "s", &large, false, &mut WriteBudget::default()).expect_err("too large").to_string(), "f: File too large");
    assert_eq!(files.read_raw("f", 10).expect("read"), b"small");
}
