//! The steps that build the guest. Used by `build.rs` only.

pub mod compile;
pub mod component;
pub mod hostile_guest;
pub mod luau_changes;
pub mod luau_sources;
pub mod metering;
pub mod zig_toolchain;

/// Prints a progress message. Cargo hides the output of build scripts, so the message is also written to the terminal.
pub fn report_progress(message: &str) {
    println!("toolscript: {message}");
    #[cfg(unix)]
    if let Ok(mut terminal) = std::fs::OpenOptions::new().write(true).open("/dev/tty") {
        use std::io::Write;
        // Clears the progress bar of cargo first. Errors are ignored, because the message is optional.
        let _ = writeln!(terminal, "\r\x1b[2K  Toolscript {message}");
    }
}
