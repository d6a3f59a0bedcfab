//! Runs the same work with toolscript and a reference such as native Luau, alternating, and prints the ratios.
//!
//! Start it with `cargo bench -p toolscript-bench`. It also writes the table to `target/toolscript-bench.json`. A word after `--`
//! selects the rows whose names contain it, and `--compare FILE` shows the differences from an earlier table. The path is relative to the root of
//! the repository.

#![expect(clippy::disallowed_methods, reason = "the benchmark writes its table and the files of the scripts")]

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
    API_ROWS, ATTACK_ROWS, CHECK_ROWS, GREP_ROWS, HttpServer, KeyServer, Row, StdioServer, Table, api_calls, attack, check, grep, load,
    median, programs, resident_kib, run_native,
};

/// Scripts: name, source, number of rounds, and the largest acceptable ratio to native Luau.
const SCRIPTS: [(&str, &str, usize, Option<f64>); 8] = [
    ("return 1 + 1", include_str!("scripts/one_plus_one.luau"), 3000, Some(0.28)),
    ("typical script", include_str!("scripts/typical.luau"), 500, Some(0.75)),
    ("ten prints", include_str!("scripts/ten_prints.luau"), 1000, None),
    ("long CPU run", include_str!("scripts/cpu.luau"), 7, Some(1.0)),
    ("format and match 60,000 rows", include_str!("scripts/rows.luau"), 7, Some(1.0)),
    ("sort and hash 300,000 numbers", include_str!("scripts/tables.luau"), 7, Some(0.9)),
    ("decode and encode 1 MB of JSON, five times", include_str!("scripts/json.luau"), 7, Some(1.5)),
    ("pcall(error), 100,000 times", include_str!("scripts/pcall_error.luau"), 7, Some(1.0)),
];

/// Scripts that use files. Each side has its own directory, and the limits are raised.
const FILE_SCRIPTS: [(&str, &str, usize, Option<f64>); 6] = [
    ("write a million lines", include_str!("scripts/io_write_lines.luau"), 9, Some(2.0)),
    ("read them with io.lines", include_str!("scripts/io_read_lines.luau"), 9, Some(2.0)),
    ("read 32 MB with *a, 64 MiB memory", include_str!("scripts/io_read_32.luau"), 15, Some(2.0)),
    ("read 100 MB with *a", include_str!("scripts/io_read_all.luau"), 9, None),
    (SMALL_FILES, include_str!("scripts/io_small_files.luau"), 5, None),
    (SMALL_FILES_IN_SERVER, include_str!("scripts/io_small_files.luau"), 5, Some(2.5)),
];

const SMALL_FILES: &str = "10,000 small files";
/// The same with the file I/O of a server, whose threads must not wait for the disk.
const SMALL_FILES_IN_SERVER: &str = "10,000 small files in a server";

const IDLE_MEMORY: &str = "memory of a live instance";
const IDLE_INSTANCES: usize = 64;
const CALLS: usize = 2000;
const STDIO_ROWS: [&str; 3] =
    ["overhead of an MCP call over stdio", "MCP call over stdio: p99 vs. p50", "sequential MCP calls per second over stdio"];
const HTTP_ROWS: [&str; 3] =
    ["overhead of an MCP call over HTTP", "MCP call over HTTP: p99 vs. p50", "sequential MCP calls per second over HTTP"];
const MANY_CLIENTS: &str = "200 concurrent clients for 60 s: p99 vs. p50";
const MANY_CLIENTS_CALLS: &str = "200 concurrent clients: calls per second";
const MANY_CLIENTS_MEMORY: &str = "200 concurrent clients: memory growth in the last 50 s";
const HOSTILE_TENANT: &str = "ten tenants with a hostile tenant vs. without: p50";
const PROCESS_START: &str = "toolscript run -e 'return 1'";

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Cargo adds the argument `--bench`.
    let mut arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let earlier: Option<Table> = match arguments.iter().position(|argument| argument == "--compare") {
        None => None,
        Some(position) => {
            let file = arguments.get(position + 1).context("--compare needs a file")?;
            let table = serde_json::from_str(
                &fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file))
                    .with_context(|| format!("reading {file}"))?,
            )?;
            arguments.drain(position..position + 2);
            Some(table)
        }
    };
    let word = arguments.first().cloned().unwrap_or_default();
    let is_selected = |name: &str| name.contains(&word);
    let mut table = Table::default();
    runtime.block_on(compare_scripts(&mut table, &is_selected))?;
    table.rows.extend(runtime.block_on(programs(&is_selected))?);
    if CHECK_ROWS.into_iter().any(is_selected) {
        let engine = Engine::builder().concurrency(4).file_io(FileIo::Inline).build()?;
        table.rows.extend(runtime.block_on(check(&engine, tempfile::tempdir()?.path()))?);
    }
    if is_selected(IDLE_MEMORY) {
        table.rows.push(runtime.block_on(async { idle_memory() })?);
    }
    if STDIO_ROWS.into_iter().any(is_selected) {
        table.rows.extend(runtime.block_on(stdio_call())?);
    }
    if HTTP_ROWS.into_iter().any(is_selected) {
        table.rows.extend(runtime.block_on(http_call())?);
    }
    if is_selected(MANY_CLIENTS) {
        table.rows.extend(runtime.block_on(many_clients())?);
    }
    if is_selected(HOSTILE_TENANT) {
        table.rows.push(runtime.block_on(hostile_tenant())?);
    }
    for (number, rows) in ATTACK_ROWS.into_iter().enumerate() {
        if rows.into_iter().any(is_selected) {
            table.rows.extend(runtime.block_on(attack(&program()?, Path::new(env!("CARGO_BIN_EXE_attacker")), number))?);
        }
    }
    if is_selected(PROCESS_START) {
        table.rows.push(process_start()?);
    }
    if GREP_ROWS.into_iter().any(is_selected) {
        table.rows.extend(grep(&program()?)?);
    }
    if API_ROWS.into_iter().any(is_selected) {
        table.rows.extend(runtime.block_on(api_calls(&program()?))?);
    }
    println!("{table}");
    if let Some(earlier) = earlier {
        println!("{}", table.compare(&earlier));
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/toolscript-bench.json");
    fs::write(path, serde_json::to_string_pretty(&table)?)?;
    Ok(())
}

async fn compare_scripts(table: &mut Table, is_selected: &impl Fn(&str) -> bool) -> Result<()> {
    // The settings of `toolscript run`, which runs one script at a time, and of a server.
    let engine = Engine::builder().concurrency(4).file_io(FileIo::Inline).build()?;
    let server = Engine::builder().concurrency(4).file_io(FileIo::BlockInPlace).build()?;
    for (name, source, times, target) in SCRIPTS.into_iter().filter(|script| is_selected(script.0)) {
        table.rows.push(compare(&engine, name, source, times, target, RunOptions::default(), None).await?);
    }
    let (io_dir, native_dir) = (tempfile::tempdir()?, tempfile::tempdir()?);
    for directory in [io_dir.path(), native_dir.path()] {
        fs::write(directory.join("medium.bin"), "0123456789abcde\n".repeat(2_000_000))?;
        fs::write(directory.join("large.bin"), "0123456789abcde\n".repeat(6_250_000))?;
    }
    for (name, source, times, target) in FILE_SCRIPTS.into_iter().filter(|script| is_selected(script.0)) {
        let io = IoOptions::new(Files::new(io_dir.path())?).with_max_bytes(u64::MAX).with_max_files(u64::MAX);
        let mut limits = Limits::default();
        if name.starts_with("read 100 MB") {
            limits = limits.with_memory(512 << 20);
        }
        let options = RunOptions::default().with_limits(limits).with_io(io);
        let engine = if name == SMALL_FILES_IN_SERVER { &server } else { &engine };
        table.rows.push(compare(engine, name, source, times, target, options, Some(native_dir.path())).await?);
    }
    Ok(())
}

/// Runs one script with toolscript and with native Luau, alternating.
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
    let is_task = name == SMALL_FILES_IN_SERVER;
    let (mut run_times, mut native_times) = (Vec::new(), Vec::new());
    for round in 0..times + times / 10 + 1 {
        let started = Instant::now();
        let run = if is_task {
            let (engine, script, options) = (engine.clone(), script.clone(), options.clone());
            tokio::spawn(async move { engine.run(&script, options).await }).await??
        } else {
            engine.run(&script, options.clone()).await?
        };
        let run_time = started.elapsed();
        let started = Instant::now();
        let (result, lines) = run_native(source, native_dir).map_err(|error| anyhow::anyhow!("{error}"))?;
        let native_time = started.elapsed();
        // The first tenth is a warm-up, and checks that both sides do the same work.
        if round > times / 10 {
            run_times.push(run_time);
            native_times.push(native_time);
        } else {
            let actual: serde_json::Value = run.outcome.decode()?;
            let expected: serde_json::Value = serde_json::from_str(&result)?;
            ensure!(actual == expected, "{name}: the result is {actual}, with native Luau {expected}");
            ensure!(run.outcome.logs == lines, "{name}: the logs differ");
        }
        black_box((run, result));
    }
    Ok(Row::new(name, median(run_times), Some(median(native_times)), target, "µs"))
}

/// Measures the resident memory of an instance that has printed a line and yielded.
fn idle_memory() -> Result<Row> {
    let engine = Engine::builder().concurrency(IDLE_INSTANCES).build()?;
    let script = Script::new("local t = {} for i = 1, 100 do t[i] = tostring(i) end print(#t) while true do end");
    let mut runs: Vec<Pin<Box<_>>> = (0..IDLE_INSTANCES).map(|_| Box::pin(engine.run(&script, RunOptions::default()))).collect();
    let before = resident_kib("self")?;
    let mut context = Context::from_waker(Waker::noop());
    for run in &mut runs {
        ensure!(run.as_mut().poll(&mut context).is_pending(), "a run ended");
    }
    let growth = (resident_kib("self")? - before).max(0.0);
    Ok(Row::new(IDLE_MEMORY, growth / IDLE_INSTANCES as f64, None, Some(400.0), "KiB"))
}

/// Builds the release program, and returns its path.
fn program() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let built = Command::new(cargo).args(["build", "--quiet", "--release", "--bin", "toolscript"]).current_dir(&root).status()?;
    ensure!(built.success(), "building toolscript failed");
    Ok(root.join("target/release").join(format!("toolscript{}", env::consts::EXE_SUFFIX)))
}

/// Measures the overhead of the protocol: calls over stdio and runs in the library, alternating.
async fn stdio_call() -> Result<[Row; 3]> {
    let mut server = StdioServer::start(&program()?, &[])?;
    let library = Library::new()?;
    let (mut call_times, mut run_times) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let started = Instant::now();
        let response = server.run("return 1")?;
        call_times.push(started.elapsed());
        ensure!(response["structuredContent"]["result"] == 1, "unexpected result: {response}");
        run_times.push(library.run().await?);
    }
    Ok(protocol_rows(STDIO_ROWS, call_times, run_times, 0.5))
}

/// Measures the same over HTTP.
async fn http_call() -> Result<[Row; 3]> {
    let directory = tempfile::tempdir()?;
    let server = HttpServer::start(&program()?, directory.path(), &[])?;
    let client = server.client(None);
    let library = Library::new()?;
    let (mut call_times, mut run_times) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        call_times.push(client.call("return 1").await?);
        run_times.push(library.run().await?);
    }
    Ok(protocol_rows(HTTP_ROWS, call_times, run_times, 0.25))
}

/// The same script without a protocol.
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

fn protocol_rows(names: [&'static str; 3], mut call_times: Vec<Duration>, run_times: Vec<Duration>, target: f64) -> [Row; 3] {
    call_times.sort();
    let total: Duration = call_times.iter().sum();
    let (p50, p99) = (percentile(&call_times, 50), percentile(&call_times, 99));
    [
        Row::new(names[0], (p50 - median(run_times)) / 1000.0, None, Some(target), "ms"),
        Row::new(names[1], p99, Some(p50), None, "µs"),
        Row::new(names[2], call_times.len() as f64 / total.as_secs_f64(), None, None, "/s"),
    ]
}

/// Returns a percentile of sorted times in microseconds.
fn percentile(times: &[Duration], percent: usize) -> f64 {
    times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6
}

/// Measures a server with clients that call all the time, in this process and on the same cores as the server.
async fn many_clients() -> Result<[Row; 3]> {
    let directory = tempfile::tempdir()?;
    let server = HttpServer::start(&program()?, directory.path(), &[])?;
    let clients: Vec<_> = (0..200).map(|_| server.client(None)).collect();
    let mut times = load(clients.clone(), Duration::ZERO, Duration::from_secs(10)).await?;
    let before = server.resident_kib()?;
    times.extend(load(clients, Duration::ZERO, Duration::from_secs(50)).await?);
    let growth = server.resident_kib()? - before;
    times.sort();
    Ok([
        Row::new(MANY_CLIENTS, percentile(&times, 99), Some(percentile(&times, 50)), Some(20.0), "µs"),
        Row::new(MANY_CLIENTS_CALLS, times.len() as f64 / 60.0, None, None, "/s"),
        Row::new(MANY_CLIENTS_MEMORY, growth, None, Some(8192.0), "KiB"),
    ])
}

/// Measures ten tenants that call occasionally, without and with a tenant that runs only endless loops.
async fn hostile_tenant() -> Result<Row> {
    let keys = KeyServer::start().await;
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("toolscript.toml"), "[limits]\ntimeout = 10\ntenant_per_minute = 100000\n")?;
    let server = HttpServer::start(&program()?, directory.path(), &keys.flags())?;
    let clients: Vec<_> = (0..10).map(|number| server.client(Some(&keys.token(&format!("tenant {number}"))))).collect();
    let (pause, duration) = (Duration::from_millis(20), Duration::from_secs(10));
    load(clients.clone(), pause, Duration::from_secs(2)).await?;
    let undisturbed = load(clients.clone(), pause, duration).await?;
    let hostile = server.client(Some(&keys.token("hostile")));
    let loops: Vec<_> = (0..20)
        .map(|_| {
            let hostile = hostile.clone();
            tokio::spawn(async move {
                loop {
                    // Each run is stopped at its deadline, or rejected.
                    let _ = hostile.call("while true do end").await;
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let disturbed = load(clients, pause, duration).await?;
    loops.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(Row::new(HOSTILE_TENANT, median(disturbed), Some(median(undisturbed)), Some(2.0), "µs"))
}

/// Measures the time from the start of the program to its exit.
fn process_start() -> Result<Row> {
    let program = program()?;
    let mut samples = Vec::new();
    for _ in 0..50 {
        let started = Instant::now();
        let output = Command::new(&program).args(["run", "-e", "return 1"]).output()?;
        samples.push(started.elapsed());
        ensure!(output.stdout == b"1\n", "unexpected result");
    }
    Ok(Row::new(PROCESS_START, median(samples) / 1000.0, None, Some(20.0), "ms"))
}
