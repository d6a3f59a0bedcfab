//! Runs any text as a script. Its outcome is never an internal error, and its limits hold.

use crate::runtime::block_on;
use std::{sync::LazyLock, time::Duration};
use tempfile::TempDir;
use toolscript::{
    Engine, ErrorKind, Files, Limits, RunOptions, Script,
    engine::{FileIo, IoOptions},
};

const MAX_LOGS: usize = 1 << 16;
const MAX_BYTES: u64 = 1 << 16;
const MEMORY: usize = 16 << 20;

struct Host {
    engine: Engine,
    directory: TempDir,
}

static HOST: LazyLock<Host> = LazyLock::new(|| Host {
    engine: Engine::builder()
        .concurrency(1)
        .file_io(FileIo::Inline)
        .function("echo", |value: serde_json::Value| Ok::<_, String>(value))
        .function("api.fail", |_: serde_json::Value| Err::<(), _>("a failure"))
        .build()
        .expect("an engine"),
    directory: TempDir::new().expect("a directory"),
});

pub fn run(data: &[u8]) {
    let Host { engine, directory } = &*HOST;
    let io_directory = directory.path().join("io");
    let io = IoOptions::new(Files::new(&io_directory).expect("an io directory")).with_max_bytes(MAX_BYTES).with_max_files(20);
    let limits = Limits::default()
        .with_timeout(Duration::from_millis(500))
        .with_fuel(100_000_000)
        .with_memory(MEMORY)
        .with_logs(MAX_LOGS)
        .with_result(1 << 16)
        .with_api_calls(20);
    let options = RunOptions::default().with_limits(limits).with_io(io).with_seed(1);
    let run = block_on(engine.run(&Script::new(data).with_arguments(["first", "2"]), options)).expect("the run is accepted");

    if let Err(error) = &run.outcome.result {
        assert_ne!(error.kind, ErrorKind::Internal, "{error:?}");
        assert!(!error.message.contains('\n'), "{:?}", error.message);
    }
    let receipt = &run.receipt;
    assert!(receipt.log_bytes <= MAX_LOGS as u64, "{receipt:?}");
    assert!(receipt.memory_peak <= MEMORY as u64, "{receipt:?}");
    assert!(receipt.bytes_written <= MAX_BYTES, "{receipt:?}");
    let json = serde_json::to_string(&run.outcome).expect("JSON");
    assert!(!json.contains(&*directory.path().to_string_lossy()), "{json}");
    if io_directory.exists() {
        std::fs::remove_dir_all(&io_directory).expect("the io directory");
    }
}
