//! The host side of the bridge: a guest that calls the imports in any order, with any values. See `guest/build/hostile_guest.rs`.

#[expect(dead_code, reason = "the tests of the engine use all of it")]
#[path = "../../tests/engine/hostile_guest/program.rs"]
mod program;

use crate::{input::Input, runtime::block_on};
use program::{
    Argument::{self, At, Value},
    BUFFER, COUNTER, Import, MEMORY, Mode, Program, RESULT, RETURNED, TEXT,
};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;
use toolscript::{
    Engine, ErrorKind, Files, Limits, Run, RunOptions, Script,
    engine::{FileIo, IoOptions},
    fuzzing::HOSTILE_IMPORTS as IMPORTS,
};

/// The only message that a guest can cause by violating the contract.
const INTERNAL: &str = "the sandbox failed; the cause is in the host's log";

/// The contents of files that the guest may not read.
const SECRET: &str = "outside of the io directory";

/// The limits of a run.
const MAX_BYTES: u64 = 4096;
const MAX_FILES: u64 = 6;
const MAX_CALLS: u64 = 5;
const MAX_LOGS: usize = 4096;
const MAX_MEMORY: usize = 8 << 20;

/// Addresses of programs: the handles that were opened, and lists of calls.
const HANDLES: u64 = 20 << 10;
const CALLS: u64 = 24 << 10;

/// Instructions of a program. Each costs time, and a loop repeats them.
const MAX_STEPS: usize = 64;

/// Values that are wrong as pointers, sizes, handles and discriminants, and some that are right.
const VALUES: [u64; 24] = [
    0,
    1,
    2,
    3,
    4,
    7,
    16,
    255,
    4096,
    TEXT,
    RETURNED,
    RESULT,
    CALLS,
    BUFFER,
    MEMORY - 1,
    MEMORY,
    (1 << 20) + 1,
    (1 << 31) - 1,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    i64::MAX as u64,
    0x7ff8_0000_0000_0000,
    u64::MAX,
];

/// Paths, and names of functions.
const TEXTS: [&str; 24] = [
    "known.txt",
    "new.txt",
    "sub/inner.txt",
    "sub",
    "a/b/c.txt",
    "link",
    "up/secret",
    "../secret",
    "/etc/passwd",
    ".",
    "",
    "fifo",
    ".git/hooks/pre-commit",
    ".env",
    "toolscript.toml",
    "known.txt/x",
    "KNOWN.TXT",
    "a\0b",
    "echo",
    "api.fail",
    "api.bytes",
    "unknown",
    "{\"a\":[1,\"\"]}",
    "[\"\",{\"data\":\"\"}]",
];

struct Host {
    engine: Engine,
    root: TempDir,
    imports: BTreeMap<String, Import>,
    names: Vec<String>,
}

/// The number of function calls of the current run.
static CALL_COUNT: AtomicU64 = AtomicU64::new(0);

static HOST: LazyLock<Host> = LazyLock::new(|| {
    let count = || CALL_COUNT.fetch_add(1, Ordering::Relaxed);
    let builder = Engine::builder()
        .concurrency(1)
        .file_io(FileIo::Inline)
        .function("echo", move |value: serde_json::Value| {
            count();
            Ok::<_, String>(value)
        })
        .function("api.fail", move |value: Vec<serde_json::Value>| {
            count();
            Err::<(), _>(format!("{value:?}"))
        })
        .async_function("api.bytes", move |text: String| async move {
            count();
            tokio::task::yield_now().await;
            Ok::<_, String>(text.into_bytes())
        });
    let root = TempDir::new().expect("a directory");
    std::fs::write(root.path().join("secret"), SECRET).expect("a file");
    let imports: BTreeMap<String, Import> = program::imports().into_iter().map(|import| (import.name.clone(), import)).collect();
    let host = Host {
        engine: toolscript::fuzzing::hostile_engine(builder).expect("an engine"),
        names: imports.keys().cloned().collect(),
        imports,
        root,
    };
    host.prepare();
    host
});

impl Host {
    fn io_directory(&self) -> std::path::PathBuf {
        self.root.path().join("io")
    }

    /// Creates the io directory, with links to the outside.
    fn prepare(&self) {
        let io = self.io_directory();
        if io.exists() {
            std::fs::remove_dir_all(&io).expect("the io directory");
        }
        std::fs::create_dir_all(io.join("sub")).expect("directories");
        std::fs::write(io.join("known.txt"), "text").expect("a file");
        std::fs::write(io.join("sub/inner.txt"), "inner").expect("a file");
        std::os::unix::fs::symlink("../secret", io.join("link")).expect("a link");
        std::os::unix::fs::symlink("..", io.join("up")).expect("a link");
    }

    fn run(&self, program: Vec<u8>, timeout: Duration) -> Run {
        let io = IoOptions::new(Files::new(self.io_directory()).expect("files")).with_max_bytes(MAX_BYTES).with_max_files(MAX_FILES);
        let limits = Limits::default()
            .with_timeout(timeout)
            .with_fuel(20_000_000)
            .with_memory(MAX_MEMORY)
            .with_logs(MAX_LOGS)
            .with_result(1 << 14)
            .with_api_calls(MAX_CALLS);
        CALL_COUNT.store(0, Ordering::Relaxed);
        let options = RunOptions::default().with_limits(limits).with_io(io).with_seed(1);
        block_on(self.engine.run(&Script::new(program), options)).expect("the run is accepted")
    }
}

pub fn run(data: &[u8]) {
    let host = &*HOST;
    let mut input = Input::new(data);
    let run = host.run(generate(host, &mut input), Duration::from_millis(20));
    check_outcome(&run);
    let is_changed = check_files(host);
    // The next run works, and the last one left nothing open.
    let next = host.run(Program::new().return_one(), Duration::from_secs(20));
    assert_eq!(next.outcome.result.expect("the next run").get(), "1");
    assert_eq!((host.engine.running(), host.engine.waiting()), (0, 0));
    assert_eq!(open_files(&host.io_directory()), 0, "files are left open");
    if is_changed {
        host.prepare();
    }
}

fn check_outcome(run: &Run) {
    let receipt = &run.receipt;
    if let Err(error) = &run.outcome.result {
        assert!(error.kind != ErrorKind::Internal || error.message == INTERNAL, "{error:?}");
    }
    assert!(receipt.bytes_written <= MAX_BYTES, "{receipt:?}");
    assert!(receipt.files_created <= MAX_FILES, "{receipt:?}");
    assert!(receipt.log_bytes <= MAX_LOGS as u64, "{receipt:?}");
    assert!(receipt.memory_peak <= MAX_MEMORY as u64, "{receipt:?}");
    let calls = CALL_COUNT.load(Ordering::Relaxed);
    assert!(calls <= MAX_CALLS, "{calls} calls");
    let json = serde_json::to_string(&run.outcome).expect("JSON");
    assert!(!json.contains(SECRET), "{json}");
    assert!(!json.contains(&*HOST.root.path().to_string_lossy()), "{json}");
}

/// Checks that the guest stayed in its directory and within its quota. Returns `true` if it changed files.
fn check_files(host: &Host) -> bool {
    let outside: Vec<_> = std::fs::read_dir(&host.root).expect("a directory").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(outside.len(), 2, "{outside:?}");
    assert_eq!(std::fs::read_to_string(host.root.path().join("secret")).expect("a file"), SECRET);
    let (mut files, mut bytes) = (0, 0);
    count(&host.io_directory(), &mut files, &mut bytes);
    // The known files have 4 and 5 bytes.
    assert!(bytes <= MAX_BYTES + 9 && files <= MAX_FILES + 2, "{files} files with {bytes} bytes");
    let is_known = |name: &str, text: &str| std::fs::read_to_string(host.io_directory().join(name)).is_ok_and(|found| found == text);
    let entries = std::fs::read_dir(host.io_directory()).expect("a directory").count();
    !(files == 2 && entries == 4 && is_known("known.txt", "text") && is_known("sub/inner.txt", "inner"))
}

fn count(directory: &Path, files: &mut u64, bytes: &mut u64) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let metadata = entry.metadata().expect("metadata");
        if metadata.is_dir() {
            count(&entry.path(), files, bytes);
        } else if metadata.is_file() {
            *files += 1;
            *bytes += metadata.len();
        }
    }
}

/// Returns the number of descriptors of this process that refer to files in a directory.
fn open_files(directory: &Path) -> usize {
    let descriptors = std::fs::read_dir("/proc/self/fd").expect("descriptors").flatten();
    let targets = descriptors.filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok());
    targets.filter(|target| target.starts_with(directory) && target != directory).count()
}

fn generate(host: &Host, input: &mut Input<'_>) -> Vec<u8> {
    let mut program = Program::new();
    let mut steps = 0;
    while steps < MAX_STEPS && !input.is_empty() {
        program = step(host, program, input);
        steps += 1;
    }
    finish(program, input)
}

fn value(input: &mut Input<'_>) -> u64 {
    match input.u8() % 4 {
        0 | 1 => input.choose(&VALUES),
        2 => input.u8().into(),
        _ => input.u64(),
    }
}

fn argument(input: &mut Input<'_>) -> Argument {
    match input.u8() % 4 {
        0 => At(HANDLES + 4 * u64::from(input.u8() % 4)),
        _ => Value(value(input)),
    }
}

/// Stores a text and returns its address and size.
fn text(program: Program, input: &mut Input<'_>, slot: u64) -> (Program, u64, u64) {
    let bytes = if input.u8().is_multiple_of(4) { input.short_bytes() } else { input.choose(&TEXTS).as_bytes() };
    let address = TEXT + slot * 256;
    (program.store(address, bytes), address, bytes.len() as u64)
}

/// Adds one instruction: a correct call, a call with any arguments, or another misbehaviour.
fn step(host: &Host, program: Program, input: &mut Input<'_>) -> Program {
    let call = |program: Program, name: &str, arguments: &[Argument]| program.call_import(&host.imports[name], arguments);
    let handle = |input: &mut Input<'_>| At(HANDLES + 4 * u64::from(input.u8() % 4));
    match input.u8() % 24 {
        0..3 => {
            let import = &host.imports[&host.names[usize::from(input.u8()) % host.names.len()]];
            let arguments: Vec<Argument> = (0..import.parameters).map(|_| argument(input)).collect();
            program.call_import(import, &arguments)
        }
        3..7 => {
            let (program, address, size) = text(program, input, 0);
            let mode = u64::from(input.u8() % 8);
            let slot = u64::from(input.u8() % 4);
            let program = call(program, "io.open", &[Value(address), Value(size), Value(mode), Value(RETURNED)]);
            program.copy(HANDLES + 4 * slot, RETURNED + 8, 4)
        }
        7..11 => {
            let file = handle(input);
            match input.u8() % 5 {
                0 => call(program, "io.[method]file.read", &[file, Value(value(input)), Value(RETURNED)]),
                1 => {
                    let (start, size, waiting) = (input.choose(&[TEXT, BUFFER]), u64::from(input.u16()), u64::from(input.u8() % 3));
                    call(program, "io.[method]file.write", &[file, Value(start), Value(size), Value(waiting), Value(RETURNED)])
                }
                2 => {
                    let (whence, offset) = (u64::from(input.u8() % 4), value(input));
                    call(program, "io.[method]file.seek", &[file, Value(whence), Value(offset), Value(RETURNED)])
                }
                3 => call(program, "io.[method]file.remaining", &[file, Value(RETURNED)]),
                _ => call(program, "io.[resource-drop]file", &[file]),
            }
        }
        11..14 => {
            let name = input.choose(&["io.list", "io.exists", "io.remove", "io.rename"]);
            let (program, address, size) = text(program, input, 0);
            if name == "io.rename" {
                let (program, other, other_size) = text(program, input, 1);
                return call(program, name, &[Value(address), Value(size), Value(other), Value(other_size), Value(RETURNED)]);
            }
            call(program, name, &[Value(address), Value(size), Value(RETURNED)])
        }
        14..17 => call_functions(host, program, input),
        17 => {
            let (program, address, size) = text(program, input, 0);
            match input.u8() % 3 {
                0 => call(program, "log.line", &[Value(address), Value(size)]),
                1 => call(program, "tools.search", &[Value(address), Value(size), Value(RETURNED)]),
                _ => call(program, "tools.docs", &[Value(address), Value(size), Value(RETURNED)]),
            }
        }
        18 => program.store(value(input), input.short_bytes()),
        19 => program.copy(value(input), value(input), input.u16().into()),
        20 => {
            let mode = input.choose(&[Mode::Behave, Mode::Return, Mode::Grow, Mode::CallImport, Mode::Trap, Mode::Recurse, Mode::Loop]);
            let argument = value(input);
            if input.u8().is_multiple_of(4) { program.misbehave_after_return(mode) } else { program.misbehave_in_realloc(mode, argument) }
        }
        21 => {
            let mode = input.choose(&[Mode::Grow, Mode::Grow, Mode::CallImport, Mode::Recurse]);
            program.misbehave(mode, value(input))
        }
        22 => {
            // Repeats the next instruction.
            let program = program.store_words(COUNTER, &[u32::from(input.u8())]);
            let position = program.position();
            step(host, program, input).repeat(position)
        }
        _ => {
            let words: Vec<u32> = (0..input.u8() % 8).map(|_| value(input) as u32).collect();
            program.store_words(input.choose(&[CALLS, CALLS + 16, RESULT, RETURNED, HANDLES]), &words)
        }
    }
}

/// Calls functions with a list in the layout of the contract.
fn call_functions(host: &Host, program: Program, input: &mut Input<'_>) -> Program {
    let count = u64::from(input.u8() % 4);
    let mut program = program;
    for index in 0..count {
        let (named, name, name_size) = text(program, input, 4 * index);
        let (argued, json, json_size) = text(named, input, 4 * index + 1);
        let (pointed, pointer, pointer_size) = text(argued, input, 4 * index + 2);
        let [invocation, value, attachment] = [CALLS + index * 16, CALLS + 256 + index * 64, CALLS + 512 + index * 64];
        let arguments = u64::from(input.u8() % 3);
        let attachments = u64::from(input.u8() % 3 / 2);
        let words = |values: &[u64]| values.iter().map(|value| *value as u32).collect::<Vec<_>>();
        program = pointed
            .store_words(invocation, &words(&[name, name_size, value, arguments]))
            .store_words(attachment, &words(&[pointer, pointer_size, json, json_size]));
        let kind = u64::from(input.u8() % 8 / 4);
        for argument in 0..arguments {
            let fields = words(&[kind, json, json_size, attachment, attachments]);
            program = program.store_words(value + argument * 20, &fields);
        }
    }
    program.call_import(&host.imports["tools.call"], &[Value(CALLS), Value(count), Value(RETURNED)])
}

/// Returns a result: a text, a failure, or any pointer.
fn finish(program: Program, input: &mut Input<'_>) -> Vec<u8> {
    match input.u8() % 8 {
        0..3 => program.return_one(),
        3 => program.return_text(input.rest()),
        4 => {
            let words = [1, u32::from(input.u8() % 5), TEXT as u32, input.u16().into(), RETURNED as u32, input.u16().into()];
            program.store_words(RESULT, &words).return_pointer(RESULT)
        }
        5 => {
            // The text of the last response.
            let program = program.store_words(RESULT, &[1, 1, 0, 0, 0, 0]);
            program.copy(RESULT + 8, RETURNED + 4 * u64::from(input.u8() % 6), 8).return_pointer(RESULT)
        }
        6 => {
            let words: Vec<u32> = (0..6).map(|_| value(input) as u32).collect();
            program.store_words(RESULT, &words).return_pointer(RESULT)
        }
        _ => program.return_pointer(value(input)),
    }
}
