//! Runs the same scripts here and in native Luau, alternating, and prints the ratios; `cargo bench -p toolscript-bench`.
//!
//! The table is also written to `target/toolscript-bench.json`. A word after `--` runs only the rows with it in their names.

#![expect(clippy::disallowed_methods, reason = "a bench reads /proc and writes its table")]

use anyhow::{Context as _, Result, ensure};
use std::{
    env, fs,
    hint::black_box,
    path::{Path, PathBuf},
    pin::Pin,
    process::Command,
    task::{Context, Waker},
    time::{Duration, Instant},
};
use toolscript::{
    Engine, Files, Limits, RunOptions, Script,
    engine::{FileIo, IoOptions},
};
use toolscript_bench::{
    APIS, GREP, HttpServer, KeyServer, Row, StdioServer, Table, calls_of_apis, grep_beside_ripgrep, load, median, run_native,
};

/// Scripts, how often each is run, and the ratio to native Luau that it must reach.
const SCRIPTS: [(&str, &str, usize, Option<f64>); 7] = [
    ("return 1 + 1", include_str!("scripts/one_plus_one.luau"), 3000, Some(0.4)),
    ("typical script", include_str!("scripts/typical.luau"), 500, Some(1.2)),
    ("ten prints", include_str!("scripts/ten_prints.luau"), 1000, None),
    ("long CPU run", include_str!("scripts/cpu.luau"), 7, None),
    ("format and match 60,000 rows", include_str!("scripts/rows.luau"), 7, None),
    ("sort and hash 300,000 numbers", include_str!("scripts/tables.luau"), 7, None),
    ("pcall(error), 100,000 times", include_str!("scripts/pcall_error.luau"), 7, Some(1.0)),
];

/// The same with files, both sides in a directory of their own, limits raised.
const FILE_SCRIPTS: [(&str, &str, usize, Option<f64>); 6] = [
    ("write a million lines", include_str!("scripts/io_write_lines.luau"), 9, Some(2.0)),
    ("read them with io.lines", include_str!("scripts/io_read_lines.luau"), 9, Some(2.0)),
    ("read 32 MB with *a, 64 MiB memory", include_str!("scripts/io_read_32.luau"), 15, Some(2.0)),
    ("read 100 MB with *a", include_str!("scripts/io_read_all.luau"), 9, None),
    (SMALL_FILES, include_str!("scripts/io_small_files.luau"), 5, None),
    (SMALL_FILES_IN_A_SERVER, include_str!("scripts/io_small_files.luau"), 5, None),
];

const SMALL_FILES: &str = "10,000 small files";
/// As a server has it, whose threads must not wait for a disk.
const SMALL_FILES_IN_A_SERVER: &str = "10,000 small files, as in a server";

const IDLE_MEMORY: &str = "memory of a live instance";
const IDLE_INSTANCES: usize = 64;
const CALLS: usize = 2000;
const STDIO_CALL: [&str; 3] = [
    "MCP call of return 1 over stdio, above the library's run",
    "MCP call over stdio: p99, p50 beside it",
    "MCP calls a second over stdio, one after the other",
];
const HTTP_CALL: [&str; 3] = [
    "MCP call of return 1 over HTTP, above the library's run",
    "MCP call over HTTP: p99, p50 beside it",
    "MCP calls a second over HTTP, one after the other",
];
const MANY_CLIENTS: &str = "200 clients at once, 60 s: p99, p50 beside it";
const MANY_CLIENTS_CALLS: &str = "200 clients at once: calls a second";
const MANY_CLIENTS_MEMORY: &str = "200 clients at once: growth of memory in the last 50 s";
const HOSTILE_TENANT: &str = "ten tenants beside one in endless loops: p50, alone beside it";
const PROCESS_START: &str = "toolscript run -e 'return 1'";

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Cargo adds `--bench`.
    let word = env::args().skip(1).find(|argument| !argument.starts_with("--")).unwrap_or_default();
    let wanted = |name: &str| name.contains(&word);
    let mut table = Table::default();
    runtime.block_on(compare_scripts(&mut table, &wanted))?;
    if wanted(IDLE_MEMORY) {
        table.rows.push(runtime.block_on(async { idle_memory() })?);
    }
    if STDIO_CALL.into_iter().any(wanted) {
        table.rows.extend(runtime.block_on(stdio_call())?);
    }
    if HTTP_CALL.into_iter().any(wanted) {
        table.rows.extend(runtime.block_on(http_call())?);
    }
    if wanted(MANY_CLIENTS) {
        table.rows.extend(runtime.block_on(many_clients())?);
    }
    if wanted(HOSTILE_TENANT) {
        table.rows.push(runtime.block_on(hostile_tenant())?);
    }
    if wanted(PROCESS_START) {
        table.rows.push(process_start()?);
    }
    if GREP.into_iter().any(wanted) {
        table.rows.extend(grep_beside_ripgrep(&program()?)?);
    }
    if APIS.into_iter().any(wanted) {
        table.rows.extend(runtime.block_on(calls_of_apis(&program()?))?);
    }
    println!("{table}");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/toolscript-bench.json");
    fs::write(path, serde_json::to_string_pretty(&table)?)?;
    Ok(())
}

async fn compare_scripts(table: &mut Table, wanted: &impl Fn(&str) -> bool) -> Result<()> {
    // One script at a time, as `toolscript run` has it.
    let engine = Engine::builder().concurrency(4).file_io(FileIo::Inline).build()?;
    let server = Engine::builder().concurrency(4).file_io(FileIo::BlockInPlace).build()?;
    for (name, source, times, target) in SCRIPTS.into_iter().filter(|script| wanted(script.0)) {
        table.rows.push(compare(&engine, name, source, times, target, RunOptions::default(), None).await?);
    }
    let (ours, native) = (tempfile::tempdir()?, tempfile::tempdir()?);
    for dir in [ours.path(), native.path()] {
        fs::write(dir.join("medium.bin"), "0123456789abcde\n".repeat(2_000_000))?;
        fs::write(dir.join("large.bin"), "0123456789abcde\n".repeat(6_250_000))?;
    }
    for (name, source, times, target) in FILE_SCRIPTS.into_iter().filter(|script| wanted(script.0)) {
        let mut io = IoOptions::new(Files::new(ours.path())?);
        (io.max_bytes, io.max_files) = (u64::MAX, u64::MAX);
        let mut limits = Limits::default();
        if name.starts_with("read 100 MB") {
            limits.memory = 512 << 20;
        }
        let options = RunOptions::default().with_limits(limits).with_io(io);
        let engine = if name == SMALL_FILES_IN_A_SERVER { &server } else { &engine };
        table.rows.push(compare(engine, name, source, times, target, options, Some(native.path())).await?);
    }
    Ok(())
}

/// Runs one script on both sides, in turns.
async fn compare(
    engine: &Engine,
    name: &'static str,
    source: &str,
    times: usize,
    target: Option<f64>,
    options: RunOptions,
    native_dir: Option<&Path>,
) -> Result<Row> {
    let script = Script::new(source);
    let in_a_task = name == SMALL_FILES_IN_A_SERVER;
    let (mut here, mut native) = (Vec::new(), Vec::new());
    for round in 0..times + times / 10 + 1 {
        let started = Instant::now();
        let run = if in_a_task {
            let (engine, script, options) = (engine.clone(), script.clone(), options.clone());
            tokio::spawn(async move { engine.run(&script, options).await }).await??
        } else {
            engine.run(&script, options.clone()).await?
        };
        let here_took = started.elapsed();
        let started = Instant::now();
        let (result, lines) = run_native(source, native_dir).map_err(|error| anyhow::anyhow!("{error}"))?;
        let native_took = started.elapsed();
        // The first tenth warms up, and is checked: both must do the same work.
        if round > times / 10 {
            here.push(here_took);
            native.push(native_took);
        } else {
            let ours: serde_json::Value = run.outcome.decode()?;
            let theirs: serde_json::Value = serde_json::from_str(&result)?;
            ensure!(ours == theirs, "{name}: {ours} here, {theirs} natively");
            ensure!(run.outcome.logs == lines, "{name}: other lines");
        }
        black_box((run, result));
    }
    Ok(Row::new(name, median(here), Some(median(native)), target, "µs"))
}

/// What each of many instances costs while it is alive and waits: they have printed a line and yielded.
fn idle_memory() -> Result<Row> {
    let engine = Engine::builder().concurrency(IDLE_INSTANCES).build()?;
    let script = Script::new("local t = {} for i = 1, 100 do t[i] = tostring(i) end print(#t) while true do end");
    let mut runs: Vec<Pin<Box<_>>> = (0..IDLE_INSTANCES).map(|_| Box::pin(engine.run(&script, RunOptions::default()))).collect();
    let before = resident()?;
    let mut context = Context::from_waker(Waker::noop());
    for run in &mut runs {
        ensure!(run.as_mut().poll(&mut context).is_pending(), "a run ended");
    }
    let here = (resident()?.saturating_sub(before)) as f64 / IDLE_INSTANCES as f64 / 1024.0;
    Ok(Row::new(IDLE_MEMORY, here, None, Some(2048.0), "KiB"))
}

/// Bytes of this process that are in memory.
fn resident() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("this part of the bench needs Linux")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// The program, built as it is shipped.
fn program() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let built = Command::new(cargo).args(["build", "--quiet", "--release", "--bin", "toolscript"]).current_dir(&root).status()?;
    ensure!(built.success(), "toolscript does not build");
    Ok(root.join("target/release").join(format!("toolscript{}", env::consts::EXE_SUFFIX)))
}

/// What the protocol adds to a run: calls through pipes and runs in the library, in turns.
async fn stdio_call() -> Result<[Row; 3]> {
    let mut server = StdioServer::start(&program()?, &[])?;
    let library = Library::new()?;
    let (mut through, mut here) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let started = Instant::now();
        let answer = server.run("return 1")?;
        through.push(started.elapsed());
        ensure!(answer["structuredContent"]["result"] == 1, "another result: {answer}");
        here.push(library.run().await?);
    }
    Ok(protocol_rows(STDIO_CALL, through, here, 0.5))
}

/// The same over HTTP.
async fn http_call() -> Result<[Row; 3]> {
    let folder = tempfile::tempdir()?;
    let server = HttpServer::start(&program()?, folder.path(), &[])?;
    let client = server.client(None);
    let library = Library::new()?;
    let (mut through, mut here) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        through.push(client.call("return 1").await?);
        here.push(library.run().await?);
    }
    Ok(protocol_rows(HTTP_CALL, through, here, 1.0))
}

/// The same call without a protocol.
struct Library {
    engine: Engine,
    script: Script,
}

impl Library {
    fn new() -> Result<Self> {
        Ok(Self { engine: Engine::builder().concurrency(4).build()?, script: Script::new("return 1") })
    }

    async fn run(&self) -> Result<Duration> {
        let started = Instant::now();
        black_box(self.engine.run(&self.script, RunOptions::default()).await?);
        Ok(started.elapsed())
    }
}

fn protocol_rows(names: [&'static str; 3], mut through: Vec<Duration>, here: Vec<Duration>, target: f64) -> [Row; 3] {
    through.sort();
    let all: Duration = through.iter().sum();
    let (p50, p99) = (microseconds(&through, 50), microseconds(&through, 99));
    [
        Row::new(names[0], (p50 - median(here)) / 1000.0, None, Some(target), "ms"),
        Row::new(names[1], p99, Some(p50), None, "µs"),
        Row::new(names[2], through.len() as f64 / all.as_secs_f64(), None, None, "/s"),
    ]
}

/// A percentile of sorted times.
fn microseconds(times: &[Duration], percent: usize) -> f64 {
    times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6
}

/// Many clients that call all the time, in this process, on the cores that the server has too.
async fn many_clients() -> Result<[Row; 3]> {
    let folder = tempfile::tempdir()?;
    let server = HttpServer::start(&program()?, folder.path(), &[])?;
    let clients: Vec<_> = (0..200).map(|_| server.client(None)).collect();
    let mut times = load(clients.clone(), Duration::ZERO, Duration::from_secs(10)).await?;
    let before = server.resident()?;
    times.extend(load(clients, Duration::ZERO, Duration::from_secs(50)).await?);
    let growth = server.resident()? - before;
    times.sort();
    Ok([
        Row::new(MANY_CLIENTS, microseconds(&times, 99), Some(microseconds(&times, 50)), Some(20.0), "µs"),
        Row::new(MANY_CLIENTS_CALLS, times.len() as f64 / 60.0, None, None, "/s"),
        Row::new(MANY_CLIENTS_MEMORY, growth, None, Some(8192.0), "KiB"),
    ])
}

/// Ten tenants that call now and then, without and with one that has nothing but endless loops running.
async fn hostile_tenant() -> Result<Row> {
    let keys = KeyServer::start().await;
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("toolscript.toml"), "[limits]\ntimeout = 10\ntenant_per_minute = 100000\n")?;
    let server = HttpServer::start(&program()?, folder.path(), &keys.flags())?;
    let clients: Vec<_> = (0..10).map(|number| server.client(Some(&keys.token(&format!("tenant {number}"))))).collect();
    let (pause, lasts) = (Duration::from_millis(20), Duration::from_secs(10));
    load(clients.clone(), pause, Duration::from_secs(2)).await?;
    let alone = load(clients.clone(), pause, lasts).await?;
    let hostile = server.client(Some(&keys.token("hostile")));
    let loops: Vec<_> = (0..20)
        .map(|_| {
            let hostile = hostile.clone();
            tokio::spawn(async move {
                loop {
                    // Each is stopped by its deadline, or refused.
                    let _ = hostile.call("while true do end").await;
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let beside = load(clients, pause, lasts).await?;
    loops.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(Row::new(HOSTILE_TENANT, median(beside), Some(median(alone)), Some(2.0), "µs"))
}

/// From the start of the program to its exit, with a result in between.
fn process_start() -> Result<Row> {
    let program = program()?;
    let mut samples = Vec::new();
    for _ in 0..50 {
        let started = Instant::now();
        let output = Command::new(&program).args(["run", "-e", "return 1"]).output()?;
        samples.push(started.elapsed());
        ensure!(output.stdout == b"1\n", "another result");
    }
    Ok(Row::new(PROCESS_START, median(samples) / 1000.0, None, Some(20.0), "ms"))
}
