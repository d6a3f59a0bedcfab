//! One run, one instance: nothing crosses, nothing is left.

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

/// Counts the runs that have begun, and how many of them had when the first one ended.
#[derive(Default)]
struct Crowd {
    begun: AtomicUsize,
    at_first_end: OnceLock<usize>,
}

impl Listener for Crowd {
    fn line(&self, _line: &str) {
        self.begun.fetch_add(1, Ordering::SeqCst);
    }

    fn progress(&self, _progress: &Progress) {
        self.at_first_end.get_or_init(|| self.begun.load(Ordering::SeqCst));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_runs_at_once_never_see_each_others_markers() {
    const RUNS: usize = 64;
    let engine = Engine::builder().concurrency(RUNS).build().expect("an engine");
    let crowd = Arc::new(Crowd::default());
    let mut runs = JoinSet::new();
    for marker in 0..RUNS {
        let (engine, options) = (engine.clone(), RunOptions::default().with_listener(crowd.clone()));
        let script = Script::new(include_str!("../scripts/marker.luau")).with_arguments([marker.to_string()]);
        runs.spawn(async move { (marker, engine.run(&script, options).await.expect("the run was made")) });
    }
    let mut ended = 0;
    while let Some(joined) = runs.join_next().await {
        let (marker, run) = joined.expect("no panic");
        assert_eq!(run.outcome.decode::<String>().expect("a result"), marker.to_string());
        assert_eq!(run.outcome.logs, [marker.to_string()]);
        ended += 1;
    }
    assert_eq!(ended, RUNS);
    assert_eq!(crowd.at_first_end.get(), Some(&RUNS), "they were not all under way at once");
}

#[tokio::test]
async fn poison_does_not_reach_the_next_run() {
    let poisoned = run(include_str!("../scripts/poison.luau")).await;
    // What is shared refuses to change; what is the script's own changes, for this run.
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

/// In a process of its own, as other tests have memory, descriptors and threads too.
#[cfg(target_os = "linux")]
#[test]
fn two_thousand_runs_leave_memory_descriptors_and_threads_flat() {
    const CHILD: &str = "TOOLSCRIPT_TEST_FLAT";
    if std::env::var_os(CHILD).is_some() {
        return tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(two_thousand_runs());
    }
    let name = "engine::isolation::two_thousand_runs_leave_memory_descriptors_and_threads_flat";
    let child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("it runs");
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
    let count = |folder| fs::read_dir(folder).expect("a folder").count();
    let script = Script::new("local t = {} for i = 1, 1000 do t[i] = tostring(i) end pcall(error, 'x') print(#t) return t[500]");
    let hundreds = async |times: usize| {
        for _ in 0..times * 100 {
            let run = engine().run(&script, RunOptions::default()).await.expect("the run was made");
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
