//! How the guest is made, a step a module. Runs in `build.rs` only.

pub mod compile;
pub mod component;
pub mod luau;
pub mod zig;

/// Tells what the build is doing: cargo keeps a build script's output to itself, so a terminal is told directly.
pub fn say(what: &str) {
    println!("toolscript: {what}");
    #[cfg(unix)]
    if let Ok(mut terminal) = std::fs::OpenOptions::new().write(true).open("/dev/tty") {
        use std::io::Write;
        // Cargo's progress bar is on this line: clear it first. A terminal that went away is no reason to fail.
        let _ = writeln!(terminal, "\r\x1b[2K  Toolscript {what}");
    }
}
