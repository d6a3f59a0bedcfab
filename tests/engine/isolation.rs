//! Isolation: runs do not affect each other, and leave nothing behind in the process.

use crate::support::{engine, run};
use std::{
    fs,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::task::JoinSet;
use toolscript::{
    Engine, RunOptions, Script,
    engine::{Listener, Progress},
};

/// Counts the runs that have started, and records the count when the first one ends.
#[derive(Default)]
struct StartCounter {
    started: AtomicUsize,
    at_first_end: OnceLock<usize>,
}

impl Listener for StartCounter {
    fn line(&self, _line: &str) {
        self.started.fetch_add(1, Ordering::SeqCst);
    }

    fn progress(&self, _progress: &Progress) {
        self.at_first_end.get_or_init(|| self.started.load(Ordering::SeqCst));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_concurrent_runs_never_see_each_others_markers() {
    const RUNS: usize = 64;
    let engine = Engine::builder().concurrency(RUNS).build().expect("an engine");
    let counter = Arc::new(StartCounter::default());
    let mut runs = JoinSet::new();
    for marker in 0..RUNS {
        let (engine, options) = (engine.clone(), RunOptions::default().with_listener(counter.clone()));
        let script = Script::new(include_str!("../scripts/marker.luau")).with_arguments([marker.to_string()]);
        runs.spawn(async move { (marker, engine.run(&script, options).await.expect("the run is accepted")) });
    }
    let mut ended = 0;
    while let Some(joined) = runs.join_next().await {
        let (marker, run) = joined.expect("no panic");
        assert_eq!(run.outcome.decode::<String>().expect("a result"), marker.to_string());
        assert_eq!(run.outcome.logs, [marker.to_string()]);
        ended += 1;
    }
    assert_eq!(ended, RUNS);
    assert_eq!(counter.at_first_end.get(), Some(&RUNS), "the runs were not concurrent");
}

#[tokio::test]
async fn changes_to_globals_do_not_reach_the_next_run() {
    let poisoned = run(include_str!("../scripts/poison.luau")).await;
    // Shared tables are read-only. Globals of the script can be changed, for this run only.
    assert_eq!(
        poisoned.outcome.decode::<Vec<String>>().expect("a list"),
        [
            "string.format",
            "string metatable",
            "math.random",
            "_G metatable",
            "_G by rawset",
            "_G",
            "json",
            "environment's metatable",
            "json.null's metatable"
        ]
    );
    let next = run("return planted == nil, string.format('%d', 1), ('x'):upper(), tostring(1), type(print), json.encode(json.null)").await;
    assert_eq!(next.outcome.result.expect("a result").get(), r#"[true,"1","X","1","function","null"]"#);
}

/// Runs in a child process, because other tests of this process also allocate memory, descriptors and threads.
#[cfg(target_os = "linux")]
#[test]
fn two_thousand_runs_leak_no_memory_descriptors_or_threads() {
    const CHILD: &str = "TOOLSCRIPT_TEST_LEAKS";
    if std::env::var_os(CHILD).is_some() {
        return tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(two_thousand_runs());
    }
    let name = "engine::isolation::two_thousand_runs_leak_no_memory_descriptors_or_threads";
    let child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("the child process runs");
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
}

#[cfg(target_os = "linux")]
async fn two_thousand_runs() {
    fn resident_kib() -> u64 {
        let status = fs::read_to_string("/proc/self/status").expect("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }
    let count = |directory| fs::read_dir(directory).expect("a directory").count();
    let script = Script::new("local t = {} for i = 1, 1000 do t[i] = tostring(i) end pcall(error, 'x') print(#t) return t[500]");
    let hundreds = async |times: usize| {
        for _ in 0..times * 100 {
            let run = engine().run(&script, RunOptions::default()).await.expect("the run is accepted");
            assert_eq!(run.outcome.result.expect("a result").get(), "\"500\"");
        }
    };
    hundreds(3).await;
    let before = (resident_kib(), count("/proc/self/fd"), count("/proc/self/task"));
    hundreds(20).await;
    let after = (resident_kib(), count("/proc/self/fd"), count("/proc/self/task"));
    assert!(after.0 <= before.0 + 2048, "resident KiB: {} before, {} after", before.0, after.0);
    assert_eq!((after.1, after.2), (before.1, before.2), "descriptors, threads");
}

/// The arguments of other hosts come from a command line, which can't contain one.
#[tokio::test]
async fn an_argument_can_contain_a_nul_byte() {
    let script = Script::new("return #(...), (...):byte(2)").with_arguments(["a\0b".to_owned()]);
    let run = engine().run(&script, RunOptions::default()).await.expect("the run starts");
    assert_eq!(run.outcome.decode::<(u32, u32)>().expect("a result"), (3, 0));
}
