//! Runs a program on a pseudo terminal.

use nix::pty::{OpenptyResult, openpty};
use std::{
    fs::File,
    io::Read as _,
    process::{Command, ExitStatus, Stdio},
};

/// Runs a command whose three standard streams are a terminal. Returns everything that it wrote, with `\r\n` as `\n`.
pub fn run_on_terminal(command: &mut Command) -> (String, ExitStatus) {
    let OpenptyResult { master, slave } = openpty(None, None).expect("a pseudo terminal");
    let end = || Stdio::from(slave.try_clone().expect("a descriptor"));
    let mut child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("a process");
    // The terminal ends when its last descriptor is closed.
    drop(slave);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (mut terminal, mut written) = (File::from(master), Vec::new());
    // Linux reports EIO at the end.
    match terminal.read_to_end(&mut written) {
        Err(error) if error.raw_os_error() != Some(5) => panic!("{error}"),
        _ => {}
    }
    let status = child.wait().expect("an exit status");
    (String::from_utf8(written).expect("UTF-8").replace("\r\n", "\n"), status)
}
