//! Helpers for tests that start the program as a server.

use std::{fs, process::Command, time::Duration};
use tempfile::TempDir;

/// The time to wait for an event. Long enough for a machine that is busy with other tests.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The value of an environment variable of the server. It must never appear in a response.
pub const CANARY: &str = "sings-in-the-mine";

/// Creates a directory to start a server in.
pub fn temp_directory() -> TempDir {
    TempDir::new().expect("a directory")
}

/// Creates a directory with a `toolscript.toml`.
pub fn temp_directory_with_config(config: &str) -> TempDir {
    let directory = temp_directory();
    fs::write(directory.path().join("toolscript.toml"), config).expect("a file");
    directory
}

/// Returns a command that starts the program with the default handling of signals. The tests may inherit ignored ones, for example from a
/// shell that runs them in the background.
pub fn program() -> Command {
    let program = env!("CARGO_BIN_EXE_toolscript");
    if cfg!(not(target_os = "linux")) {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", program]);
    command
}

/// Sends a signal, such as `TERM`, to a process.
pub fn send_signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// Returns the peak memory of a process in bytes.
pub fn peak_memory(process: u32) -> u64 {
    memory(process, "VmHWM:")
}

/// Returns the resident memory of a process in bytes.
pub fn resident_memory(process: u32) -> u64 {
    memory(process, "VmRSS:")
}

fn memory(process: u32, key: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("status");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}
