//! Limits and quotas on files: fuel for host calls, write limits, open files, memory and the disk quota.

use crate::support::{IoDir, engine, limited, outcome};
use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use toolscript::{
    ErrorKind, Run, Script,
    engine::Listener,
    files::{WriteBudget, WriteMode},
};

/// Returns the size of all files in the io directory.
fn on_disk(dir: &IoDir) -> u64 {
    fs::read_dir(dir.path()).expect("a directory").map(|entry| entry.expect("an entry").metadata().expect("metadata").len()).sum()
}

#[tokio::test]
async fn cheap_file_operations_cost_fuel() {
    let dir = IoDir::new();
    for call in [
        "f:seek()",
        "io.list()",
        "io.open('x'):close()",
        "pcall(os.remove, 'nothing')",
        "pcall(io.open, '..')",
        "f:read(0)",
        "io.exists('x')",
        "os.rename('x', 'x')",
    ] {
        let source = format!("local f = io.open('x', 'w+') print('started') for i = 1, 10000000 do {call} end");
        let mut options = limited(|limits| limits.fuel = Some(20_000_000));
        options.io = Some(dir.io.clone());
        let run = engine().run(&Script::new(source), options).await.expect("the run is accepted");
        assert_eq!(run.outcome.logs, ["started"], "{call}");
        assert_eq!(run.outcome.result.as_ref().expect_err("stopped").kind, ErrorKind::Fuel, "{call}");
        let calls = run.receipt.host_calls.count;
        assert!((100..=4000).contains(&calls), "{call}: {calls} calls at 5,000 fuel each");
    }
}

#[tokio::test]
async fn moving_bytes_costs_fuel() {
    let dir = IoDir::new();
    let run = dir.run("io.open('x', 'w'):write(('x'):rep(2^20)):close() return #io.open('x'):read('*a')").await;
    assert_eq!(run.outcome.decode::<u32>().expect("a result"), 1 << 20);
    assert!(run.receipt.fuel > 2 << 20, "{}", run.receipt.fuel);
    assert_eq!((run.receipt.bytes_read, run.receipt.bytes_written, run.receipt.files_created), (1 << 20, 1 << 20, 1));
}

/// Runs a script that moves 1 MiB in small pieces, and returns its number of host calls.
async fn host_calls(dir: &IoDir, source: &str) -> u64 {
    let run = dir.run(source).await;
    assert_eq!(run.outcome.decode::<u32>().expect("a result"), 1 << 20, "{}", outcome(&run));
    run.receipt.host_calls.count
}

#[tokio::test]
async fn small_reads_and_writes_cost_one_host_call_per_64_kib() {
    let dir = IoDir::new();
    // 16 blocks, and in addition an open, a close, an unbuffered first write, a call that reports pending bytes, and the end of the file.
    let max_calls = 16 + 5;
    for source in [
        "local f = io.open('x', 'w') for i = 1, 65536 do f:write('123456789012345\\n') end f:close() return 1048576",
        "local f = io.open('y', 'w') for i = 1, 1048576 do f:write('1') end f:close() return 1048576",
        "local f = io.open('z', 'a') for i = 1, 65536 do local row = `{i % 10}2345678901234` f:write(row, '\\n', '') end return 1048576",
        "local n = 0 for line in io.lines('x') do n += #line + 1 end return n",
        "local n = 0 for line in io.open('x'):lines('L') do n += #line end return n",
        "local n, f = 0, io.open('x') while f:read(1) do n += 1 end return n",
        "local n, f = 0, io.open('x') while true do local s = f:read(1000) if not s then return n end n += #s end",
        "local n, f = 0, io.open('x') while f:read('*n') do n += 16 end return n",
    ] {
        let count = host_calls(&dir, source).await;
        assert!((16..=max_calls).contains(&count), "{count} calls: {source}");
    }
    for source in
        ["return #io.open('x'):read('*a')", "return #io.open('x'):read(2^21)", "io.open('w', 'w'):write(('x'):rep(2^20)) return 2^20"]
    {
        let count = host_calls(&dir, source).await;
        assert!(count <= 4, "{count} calls: {source}");
    }
}

#[tokio::test]
async fn files_that_are_never_closed_are_limited_and_release_their_descriptors() {
    let dir = IoDir::new();
    let root = dir.path().canonicalize().unwrap_or_else(|_| dir.path());
    let count_open = move || {
        let links = fs::read_dir("/proc/self/fd").expect("descriptors").filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        links.filter(|link| link.starts_with(&root) && *link != root).count()
    };
    let max_open = Arc::new(AtomicUsize::new(0));
    struct Counter<F>(F, Arc<AtomicUsize>);
    impl<F: Fn() -> usize + Send + Sync> Listener for Counter<F> {
        fn line(&self, _line: &str) {
            self.1.fetch_max((self.0)(), Ordering::Relaxed);
        }
    }
    let options = dir.options().with_listener(Arc::new(Counter(count_open.clone(), max_open.clone())));
    // First the script keeps no handle, then it keeps all of them.
    let source = "for i = 1, 98000 do
            io.open('f', if i == 1 then 'w' else 'r')
            if i % 10000 == 64 then print(i) end
        end
        local kept, failed = {}, 0
        for i = 1, 2000 do
            local ok, f = pcall(io.open, 'f' .. i % 100, 'w')
            if ok then table.insert(kept, f) else failed += 1 end
            if i % 1000 == 0 then print(#kept) end
        end
        return #kept, failed";
    let run = engine().run(&Script::new(source), options).await.expect("the run is accepted");
    assert_eq!(run.outcome.decode::<(u32, u32)>().expect("a result"), (64, 1936));
    assert_eq!(max_open.load(Ordering::Relaxed), 64);
    assert_eq!(count_open(), 0);
}

#[tokio::test]
async fn no_way_of_writing_exceeds_the_write_limit_on_disk() {
    for attack in [
        "while true do f:seek('end', 5000) f:write('x') end",
        "f:seek('set', 2^40) f:write('x')",
        "while true do io.open('b', 'w'):write(('x'):rep(100)):close() end",
        "local g, h = io.open('a', 'r+'), io.open('a', 'a') while true do g:write('12345') h:write('1234567') f:write('123') end",
        "while true do io.open('c', 'a'):write('123'):close() end",
        "for i = 1, 1e6 do io.open('d' .. i, 'w'):write(i) end",
        "f:write(('x'):rep(20000))",
        "local g = io.open('a', 'r+') f:write(('x'):rep(9000)) g:seek('set', 9000) io.open('a', 'w'):close() g:write('x') g:write(('x'):rep(999))",
        "local t = {} for i = 1, 63 do t[i] = io.open('e' .. i, 'w') t[i]:write('x') end while true do for i = 1, 63 do t[i]:write('12345') end end",
    ] {
        let mut dir = IoDir::new();
        dir.io.max_bytes = 10_000;
        dir.io.max_files = 500;
        let run = dir.run(&format!("local f = io.open('a', 'w') print('started') {attack}")).await;
        assert_eq!(run.outcome.logs, ["started"]);
        let error = run.outcome.result.as_ref().expect_err("the limit").message.clone();
        assert!(
            error.ends_with("I/O write limit exceeded (10000 bytes)") || error.ends_with("too many files created (max 500)"),
            "{error}"
        );
        assert!(on_disk(&dir) <= 10_000, "{attack}: {} bytes", on_disk(&dir));
        assert!(run.receipt.bytes_written <= 10_000 && run.receipt.files_created <= 500, "{attack}");
        assert!(fs::read_dir(dir.path()).expect("a directory").count() <= 500);
        assert_eq!(run.outcome.files_touched.iter().filter_map(|file| file.bytes).sum::<u64>(), on_disk(&dir), "{attack}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_concurrent_runs_stay_within_their_own_write_limits() {
    let mut dir = IoDir::new();
    dir.io.max_bytes = 200_000;
    // Each run truncates the file while the other one writes to it, and writes where its end was.
    let source = "print('started') local mine = io.open('mine' .. (...), 'w')
        while true do
            local f = io.open('shared', 'w') f:write(('x'):rep(300))
            local g = io.open('shared', 'r+') g:seek('end') g:write(('y'):rep(300)) g:close() f:close()
            mine:write('123')
        end";
    let race = |name: &str| {
        let (script, options) = (Script::new(source).with_arguments([name]), dir.options());
        tokio::spawn(async move { engine().run(&script, options).await.expect("the run is accepted") })
    };
    let (first, second) = (race("1"), race("2"));
    let runs: [Run; 2] = [first.await.expect("no panic"), second.await.expect("no panic")];
    for run in &runs {
        assert_eq!(run.outcome.logs, ["started"]);
        assert!(run.outcome.result.as_ref().expect_err("the limit").message.ends_with("I/O write limit exceeded (200000 bytes)"));
        // The rejected write also had to count the hole that the other run had created.
        assert!(run.receipt.bytes_written <= 200_000 && run.receipt.bytes_written > 195_000, "{}", run.receipt.bytes_written);
    }
    assert!(on_disk(&dir) <= 400_000);
}

#[tokio::test]
async fn a_file_of_32_mib_can_be_read_at_once_with_the_default_memory_limit() {
    let dir = IoDir::new().created();
    fs::write(dir.path().join("large"), "0123456789abcdef".repeat(2 << 20)).expect("a file");
    let run = dir.run("local text = io.open('large'):read('*a') return { #text, text:sub(1, 4), text:sub(-4) }").await;
    assert_eq!(outcome(&run)["result"], serde_json::json!([32 << 20, "0123", "cdef"]));
    // The memory of earlier reads is collected.
    let again: u32 = dir.result("local n = 0 for i = 1, 10 do n += #io.open('large'):read('*a') end return n / 2^20").await;
    assert_eq!(again, 320);
}

#[tokio::test]
async fn reading_a_file_that_does_not_fit_into_memory_raises_an_error_that_can_be_caught() {
    let dir = IoDir::new().created();
    for (name, size) in [("large", 80 << 20), ("huge", 1_u64 << 40)] {
        fs::File::create(dir.path().join(name)).expect("a file").set_len(size).expect("a size");
    }
    for read in ["'*a'", "70 * 2^20"] {
        let source = format!(
            "local f = io.open('large') local ok, message = pcall(f.read, f, {read}) local rest = #f:read(100000) return ok, message, rest"
        );
        assert_eq!(dir.result::<(bool, String, u32)>(&source).await, (false, "not enough memory".into(), 100_000));
    }
    let run = dir.run("return #io.open('large'):read('*a')").await;
    assert_eq!(run.outcome.result.as_ref().expect_err("no memory").kind, ErrorKind::Memory);
    let message: String = dir.result("return (select(2, pcall(function() return io.open('huge'):read('*a') end)))").await;
    assert_eq!(message, "script:1: the file is too large to be read at once");
    let line: String = dir.result("return (select(2, pcall(io.lines('large'))))").await;
    assert_eq!(line, "not enough memory");
}

#[tokio::test]
async fn removed_files_count_against_the_disk_quota_until_they_are_closed() {
    let mut dir = IoDir::new();
    dir.io.files = dir.io.files.clone().with_disk_quota(100_000).expect("counted");
    let script = "local open, written = {}, 0
        local ok, message = pcall(function()
            for i = 1, 20 do
                local f = io.open('f', 'w')
                table.insert(open, f)
                os.remove('f')
                for _ = 1, 3 do
                    f:write(('x'):rep(10000)):flush()
                    written += 10000
                end
            end
        end)
        for _, f in open do f:close() end
        io.open('g', 'w'):write(('x'):rep(90000)):close()
        return written, (message:gsub('script:%d+: ', ''))";
    let (written, message): (u64, String) = dir.result(script).await;
    assert_eq!(message, "disk quota exceeded (100000 bytes for all files)");
    assert!((60_000..=100_000).contains(&written), "{written}");
    // They are also released when a run ends with such files open.
    dir.result::<()>("os.remove('g') for i = 1, 3 do local f = io.open('f', 'w') f:write(('x'):rep(25000)):flush() os.remove('f') end")
        .await;
    dir.result::<()>("io.open('g', 'w'):write(('x'):rep(98000)):close()").await;
}

#[tokio::test]
async fn renaming_keeps_the_disk_usage_exact() {
    let mut dir = IoDir::new();
    dir.io.files = dir.io.files.clone().with_disk_quota(100_000).expect("counted");
    let script = "io.open('f', 'w'):write(('x'):rep(40000)):close()
        io.open('g', 'w'):write(('x'):rep(40000)):close()
        for _ = 1, 10 do os.rename('f', 'f') end
        os.rename('f', 'a/b/h')
        os.rename('g', 'a/b/h')
        return (select(2, pcall(function() io.open('i', 'w'):write(('x'):rep(60000)):close() end)))";
    // Three entries, two directories and 40,000 bytes are in use. A replaced file uses no space.
    assert_eq!(dir.result::<String>(script).await, "script:6: disk quota exceeded (100000 bytes for all files)");
    dir.result::<()>("io.open('i', 'w'):write(('x'):rep(60000 - 4 * 1024)):close()").await;
    let open = "local f = io.open('a/b/h') os.remove('i') io.open('j', 'w'):close() os.rename('j', 'a/b/h')
        local full = pcall(function() io.open('i', 'w'):write(('x'):rep(60000)):close() end)
        f:close() io.open('i', 'w'):write(('x'):rep(90000)):close() return full";
    assert!(!dir.result::<bool>(open).await, "a replaced file that is open uses space until it is closed");
}

#[tokio::test]
async fn directories_that_a_rename_creates_are_limited() {
    let mut dir = IoDir::new();
    dir.io.max_files = 2;
    let script = "io.open('f', 'w'):close() return (select(2, pcall(os.rename, 'f', 'a/b/c/f'))), io.exists('a'), os.rename('f', 'a/b/f')";
    assert_eq!(dir.result::<(String, bool, bool)>(script).await, ("too many folders created (max 2)".into(), false, true));
}

/// The counted usage equals the actual usage after any interleaving.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_removals_replacements_and_truncations_keep_the_disk_usage_exact() {
    let mut dir = IoDir::new();
    dir.io.files = dir.io.files.clone().with_disk_quota(1_000_000).expect("counted");
    let replacing = std::thread::spawn({
        let files = dir.io.files.clone();
        move || {
            for size in 0..1000 {
                let _ = files.write("f", &vec![b'x'; 1000 + size], WriteMode::Overwrite, &mut WriteBudget::default());
                let _ = files.edit("f", "x", "yy", true, &mut WriteBudget::default());
                let _ = files.write("f", &[b'x'; 1000], WriteMode::Append, &mut WriteBudget::default());
            }
        }
    });
    let script = "for i = 1, 1000 do
            pcall(os.remove, 'f')
            pcall(os.rename, 'f', 'h')
            pcall(os.rename, 'h', 'f')
            local ok, f = pcall(io.open, 'f', 'w')
            if ok then f:write(('z'):rep(500)):close() end
        end";
    let (one, other) = tokio::join!(dir.run(script), dir.run(script));
    replacing.join().expect("the thread did not panic");
    assert!(one.outcome.result.is_ok() && other.outcome.result.is_ok());
    let _ = (dir.io.files.remove("f"), dir.io.files.remove("h"));
    let all = 1_000_000 - 1024;
    dir.io.files.write("g", &vec![0; all], WriteMode::Create, &mut WriteBudget::default()).expect("the whole quota is free");
    assert!(dir.io.files.write("g", b"1", WriteMode::Append, &mut WriteBudget::default()).is_err(), "the quota is used up");
}
