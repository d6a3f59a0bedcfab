//! Runs a guest that violates the contract in every way, and checks that the host stays intact. See `guest/build/hostile_guest.rs`.
//!
//! Part of the unit tests of the engine, because only they can load another guest.

#![expect(clippy::disallowed_methods, reason = "a test prepares files")]

mod program;

use super::{Engine, ErrorKind, FileIo, IoOptions, Limits, Run, RunOptions, Script, image};
use crate::files::Files;
use program::{
    Argument::{At, Value},
    BUFFER, COUNTER, MEMORY, Mode, Program, RESULT, RETURNED, TEXT, import, imports,
};
use std::time::Duration;
use tempfile::TempDir;

/// The imports of the hostile guest.
const IMPORTS: &str = include_str!(concat!(env!("OUT_DIR"), "/hostile_guest.txt"));

/// The only message that a guest can cause by violating the contract.
const INTERNAL: &str = "the sandbox failed; the cause is in the host's log";

/// Values that are wrong as pointers, sizes, handles and discriminants.
const HOSTILE: [u64; 16] = [
    0,
    1,
    2,
    3,
    64,
    255,
    MEMORY - 1,
    MEMORY,
    (1 << 31) - 1,
    1 << 31,
    u32::MAX as u64 - 7,
    u32::MAX as u64,
    1 << 32,
    i64::MAX as u64,
    0x7ff8_0000_0000_0000,
    u64::MAX,
];

/// An engine with one slot, so that a slot that is not released fails the next run.
struct Host {
    engine: Engine,
    directory: TempDir,
}

impl Host {
    fn new() -> Self {
        let builder = Engine::builder().concurrency(1).file_io(FileIo::Inline);
        let builder = builder.function("echo", |value: serde_json::Value| Ok::<_, String>(value));
        let directory = TempDir::new().expect("a directory");
        std::fs::write(directory.path().join("known.txt"), "text").expect("a file");
        Self { engine: builder.build_with(image::load_hostile).expect("an engine"), directory }
    }

    async fn run_with(&self, program: Vec<u8>, limits: Limits) -> Run {
        let io = IoOptions::new(Files::new(self.directory.path()).expect("files"));
        let options = RunOptions::default().with_limits(limits).with_io(io);
        self.engine.run(&Script::new(program), options).await.expect("the run is accepted")
    }

    async fn run(&self, program: Vec<u8>) -> Run {
        self.run_with(program, Limits::default().with_timeout(Duration::from_secs(10)).with_fuel(50_000_000)).await
    }

    /// Runs a program that must fail as a violation of the contract.
    async fn reject(&self, name: &str, program: Vec<u8>) {
        let error = self.run(program).await.outcome.result.expect_err(name);
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Internal, INTERNAL), "{name}");
        self.check(name).await;
    }

    /// Checks that the next run works, and that the last one left nothing open.
    async fn check(&self, name: &str) {
        let run = self.run(Program::new().return_one()).await;
        assert_eq!(run.outcome.result.expect(name).get(), "1");
        assert_eq!((self.engine.running(), self.engine.waiting()), (0, 0), "{name}");
        assert_eq!(self.open_files(), 0, "{name} left files open");
    }

    /// Returns the number of descriptors of this process that refer to files in the io directory.
    fn open_files(&self) -> usize {
        let directory = self.directory.path().canonicalize().expect("a path");
        let Ok(descriptors) = std::fs::read_dir("/proc/self/fd") else { return 0 };
        let targets = descriptors.flatten().filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok());
        targets.filter(|target| target.starts_with(&directory) && *target != directory).count()
    }
}

/// Opens the file `known.txt`. The handle is then at `HANDLE`.
fn open(program: Program, mode: u64) -> Program {
    let arguments = [Value(TEXT), Value(9), Value(mode), Value(RETURNED)];
    program.store(TEXT, b"known.txt").call("io.open", &arguments)
}

const HANDLE: u64 = RETURNED + 8;

/// Returns the message whose pointer and size are at an address as a failure.
fn return_message(program: Program, address: u64) -> Vec<u8> {
    program.store_words(RESULT, &[1, 1, 0, 0, 0, 0]).copy(RESULT + 8, address, 8).return_pointer(RESULT)
}

#[tokio::test]
async fn every_import_survives_hostile_values() {
    let host = Host::new();
    let limits = Limits::default().with_timeout(Duration::from_millis(20)).with_fuel(50_000_000);
    let mut ended = std::collections::BTreeMap::<String, usize>::new();
    for import in imports() {
        for position in 0..import.parameters {
            for (value, others) in HOSTILE.into_iter().flat_map(|value| [(value, 0), (value, RETURNED), (value, u64::MAX)]) {
                let mut arguments = vec![Value(others); import.parameters];
                arguments[position] = Value(value);
                let run = host.run_with(Program::new().call(&import.name, &arguments).return_one(), limits.clone()).await;
                let ending = match run.outcome.result {
                    Ok(result) => result.get().to_owned(),
                    Err(error) => {
                        let is_stop = matches!(error.kind, ErrorKind::Calls | ErrorKind::Fuel | ErrorKind::Timeout);
                        assert!(is_stop || (error.kind, error.message.as_str()) == (ErrorKind::Internal, INTERNAL), "{error:?}");
                        format!("{:?}", error.kind)
                    }
                };
                *ended.entry(ending).or_default() += 1;
            }
        }
        host.check(&import.name).await;
    }
    // The values reach both the checks of wasmtime and the functions of the host.
    assert!(ended["1"] > 100 && ended["Internal"] > 100, "{ended:?}");
}

#[tokio::test]
async fn forged_and_dropped_handles_are_rejected() {
    let host = Host::new();
    let read = [At(HANDLE), Value(16), Value(RETURNED + 64)];
    let run = host.run(open(Program::new(), 0).call("io.[method]file.read", &read).return_one()).await;
    assert_eq!((run.receipt.bytes_read, run.outcome.result.expect("a read").get()), (4, "1"));
    host.check("an honest read").await;

    for handle in HOSTILE.into_iter().filter(|handle| *handle as u32 != 1) {
        let read = [Value(handle), Value(16), Value(RETURNED + 64)];
        host.reject("a forged handle", open(Program::new(), 0).call("io.[method]file.read", &read).return_one()).await;
        let drop = [Value(handle)];
        host.reject("a forged drop", open(Program::new(), 0).call("io.[resource-drop]file", &drop).return_one()).await;
    }
    let dropped = open(Program::new(), 0).call("io.[resource-drop]file", &[At(HANDLE)]);
    host.reject("a second drop", dropped.clone().call("io.[resource-drop]file", &[At(HANDLE)]).return_one()).await;
    host.reject("a read after a drop", dropped.call("io.[method]file.read", &read).return_one()).await;
}

#[tokio::test]
async fn a_million_handles_reach_the_limit_on_open_files() {
    let host = Host::new();
    // All messages of the host go to one address, so that the guest does not run out of memory.
    let start = Program::new().store_words(COUNTER, &[1_000_000]).misbehave_in_realloc(Mode::Return, BUFFER);
    let position = start.position();
    let program = return_message(open(start, 0).repeat(position), RETURNED + 12);
    let limits = Limits::default().with_timeout(Duration::from_secs(60)).with_fuel(20_000_000_000);
    let run = host.run_with(program, limits).await;
    assert_eq!(run.receipt.host_calls.count, 1_000_000);
    let error = run.outcome.result.expect_err("a failure");
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Runtime, "too many open files (max 64)"));
    host.check("a million handles").await;
}

#[tokio::test]
async fn huge_texts_are_truncated_or_rejected() {
    let host = Host::new();
    let whole = [Value(0), Value(MEMORY)];
    let run = host.run(Program::new().call("log.line", &whole).return_one()).await;
    assert!(run.outcome.result.is_ok());
    assert_eq!(run.outcome.truncated, ["logs"]);
    assert!(run.receipt.log_bytes <= Limits::default().logs as u64);
    for (start, size) in [(1, MEMORY), (0, MEMORY + 1), (0, u32::MAX as u64), (u32::MAX as u64, 1), (MEMORY, 1)] {
        host.reject("a text out of bounds", Program::new().call("log.line", &[Value(start), Value(size)]).return_one()).await;
    }
    let not_utf8 = Program::new().store(TEXT, b"\xff\xfe").call("tools.docs", &[Value(TEXT), Value(2), Value(RETURNED)]);
    let error = host.run(return_message(not_utf8, RETURNED + 4)).await.outcome.result.expect_err("a failure");
    assert_eq!(error.message, "the name of the function is too long, or not UTF-8");
    host.check("a text that is not UTF-8").await;
    let huge_list = [Value(0), Value(1 << 28), Value(RETURNED)];
    host.reject("a list of 2^28 calls", Program::new().call("tools.call", &huge_list).return_one()).await;
}

#[tokio::test]
async fn an_allocator_that_misbehaves_fails_only_its_own_run() {
    let host = Host::new();
    let list = |mode, argument| {
        let program = Program::new().store(TEXT, b".").misbehave_in_realloc(mode, argument);
        program.call("io.list", &[Value(TEXT), Value(1), Value(RETURNED)]).return_one()
    };
    host.reject("a trap", list(Mode::Trap, 0)).await;
    for address in [1, 2, 3, MEMORY, MEMORY - 1, u32::MAX as u64, 1 << 31] {
        host.reject("a wrong address", list(Mode::Return, address)).await;
    }
    for import in imports() {
        host.reject(&format!("a reentrant call of {}", import.name), list(Mode::CallImport, import.number)).await;
    }
    let endless = host.run(list(Mode::Loop, 0)).await;
    assert_eq!(endless.outcome.result.expect_err("a stop").kind, ErrorKind::Fuel);
    host.check("an endless loop").await;
    let deep = host.run(list(Mode::Recurse, 0)).await;
    assert_eq!(deep.outcome.result.expect_err("an error").message, "stack overflow");
    host.check("a stack overflow").await;
    // Growing the memory while the host writes to it is allowed, and null is an ordinary address.
    for (mode, argument) in [(Mode::Grow, 100), (Mode::Grow, 65_535), (Mode::Return, 0)] {
        assert!(host.run(list(mode, argument)).await.outcome.result.is_ok());
        host.check("a growing memory").await;
    }
}

#[tokio::test]
async fn growing_the_memory_stops_at_the_limit() {
    let host = Host::new();
    let limits = Limits::default().with_memory(8 << 20);
    for pages in [1, 64, 128, 65_535, u32::MAX as u64] {
        let program = Program::new().store_words(COUNTER, &[100]);
        let position = program.position();
        let run = host.run_with(program.misbehave(Mode::Grow, pages).repeat(position).return_one(), limits.clone()).await;
        assert_eq!(run.outcome.result.expect("growing may fail").get(), "1");
        assert!(run.receipt.memory_peak <= 8 << 20, "{:?}", run.receipt);
    }
    host.check("a growing memory").await;
}

#[tokio::test]
async fn results_that_violate_the_contract_are_rejected() {
    let host = Host::new();
    for text in [&b""[..], b"{", b"nul", b"1 2", b"\xff", b"\"\n\"", b"[1,\n2]", b"01", b"\x00", b"1\x00"] {
        host.reject("a result that is not JSON", Program::new().return_text(text)).await;
    }
    host.reject("a deep result", Program::new().return_text("[".repeat(100_000).as_bytes())).await;
    for pointer in [1, 2, 3, MEMORY, MEMORY - 4, u32::MAX as u64] {
        host.reject("a wrong pointer", Program::new().return_pointer(pointer)).await;
    }
    for words in [[2, 0, 0], [255, 0, 0], [0, MEMORY as u32, 1], [0, 1, MEMORY as u32], [0, u32::MAX, u32::MAX]] {
        host.reject("a wrong result", Program::new().store_words(RESULT, &words).return_pointer(RESULT)).await;
    }
    for words in [
        [1, 4, 0, 0, 0, 0, 0],
        [1, 255, 0, 0, 0, 0, 0],
        [1, 0, 1, MEMORY as u32, 0, 0, 0],
        [1, 0, 0, 0, u32::MAX, 2, 0],
        [1, 0, 0, 0, 0, 0, 2],
    ] {
        host.reject("a wrong failure", Program::new().store_words(RESULT, &words).return_pointer(RESULT)).await;
    }
    let large = Program::new().store_words(RESULT, &[0, 0, MEMORY as u32]).return_pointer(RESULT);
    let error = host.run(large).await.outcome.result.expect_err("too large");
    let expected = format!("the result is {MEMORY} bytes as JSON; at most 1048576 are allowed: return less, or print or write it in parts");
    assert_eq!((error.kind, error.message), (ErrorKind::Result, expected));
    host.check("a large result").await;

    let failure = Program::new().store_words(RESULT, &[1, 1, 0, MEMORY as u32, 0, MEMORY as u32]).return_pointer(RESULT);
    let run = host.run(failure).await;
    assert_eq!(run.outcome.truncated, ["message", "traceback"]);
    host.check("a large failure").await;
}

#[tokio::test]
async fn misbehaving_at_the_end_fails_only_its_own_run() {
    let host = Host::new();
    host.reject("an unknown instruction", Program::new().store_words(TEXT, &[0]).misbehave(Mode::Trap, 0).return_one()).await;
    host.reject("a trap after the return", Program::new().misbehave_after_return(Mode::Trap).return_one()).await;
    host.reject("a call after the return", Program::new().misbehave_after_return(Mode::CallImport).return_one()).await;
    for (mode, kind) in [(Mode::Loop, ErrorKind::Fuel), (Mode::Recurse, ErrorKind::Runtime)] {
        let during = host.run(Program::new().misbehave(mode, 0).return_one()).await;
        assert_eq!(during.outcome.result.expect_err("a stop").kind, kind);
        let after = host.run(Program::new().misbehave_after_return(mode).return_one()).await;
        assert_eq!(after.outcome.result.expect_err("a stop").kind, kind);
        host.check("a stop").await;
    }
    assert!(host.run(Program::new().misbehave_after_return(Mode::Behave).return_one()).await.outcome.result.is_ok());
}

#[tokio::test]
async fn unchecked_modes_and_origins_are_rejected() {
    let host = Host::new();
    assert_eq!(import("io.open").parameters, 4);
    for mode in [7, 8, 255, u32::MAX as u64] {
        host.reject("an unknown mode", open(Program::new(), mode).return_one()).await;
    }
    for origin in [3, 255, u32::MAX as u64] {
        let seek = [At(HANDLE), Value(origin), Value(0), Value(RETURNED + 64)];
        host.reject("an unknown origin", open(Program::new(), 0).call("io.[method]file.seek", &seek).return_one()).await;
    }
}
