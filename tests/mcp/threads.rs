//! The number of threads of a server follows from its configuration, whatever scripts do.

use crate::support::{
    server_process::temp_directory_with_config,
    wire::{Wire, call},
};
use std::{fs, num::NonZero};

/// The number of concurrent runs in the configuration.
const RUNS: usize = 8;

/// Opens and closes many files. Each call blocks a thread for a short time.
const SCRIPT: &str = "for i = 1, 3000 do io.open(`NAME/{i % 50}`, 'w'):write('x'):close() end return 'done'";

#[test]
fn file_calls_of_concurrent_runs_do_not_multiply_threads() {
    let directory = temp_directory_with_config(&format!("[limits]\nconcurrency = {RUNS}\n"));
    let mut wire = Wire::start(directory.path(), &[]);
    for number in 0..RUNS {
        wire.begin("tools/call", call(&SCRIPT.replace("NAME", &number.to_string())));
    }
    let mut finished = 0;
    while finished < RUNS {
        let message = wire.next().expect("a response");
        if !message["id"].is_null() {
            assert_eq!(message["result"]["structuredContent"]["result"], "done", "{message}");
            finished += 1;
        }
    }
    // Threads of the runtime stay for some seconds after their work, so this is the largest number.
    let status = fs::read_to_string(format!("/proc/{}/status", wire.process())).expect("a status");
    let threads = status.lines().find_map(|line| line.strip_prefix("Threads:")).expect("the number of threads");
    let threads: usize = threads.trim().parse().expect("a number");
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    // One thread per core, one per run, one per file job, 16 for other work; and those outside of the runtime, such as the main thread.
    assert!(threads <= cores + 2 * RUNS + 16 + 4, "{threads} threads");
}
