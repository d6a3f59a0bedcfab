//! One run, one instance: nothing crosses, nothing is left.

use crate::support::{engine, run};
use std::fs;
use tokio::task::JoinSet;
use toolscript::{RunOptions, Script};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_runs_at_once_never_see_each_others_markers() {
    let mut runs = JoinSet::new();
    for marker in 0..64 {
        runs.spawn(async move {
            let source = format!(
                "assert(marker == nil) marker = {marker}
                 local seen = {{}}
                 for i = 1, 2000 do
                     seen[i] = string.rep('{marker} ', 10) .. marker
                     assert(marker == {marker})
                 end
                 for i = 1, 2000 do assert(seen[i] == string.rep('{marker} ', 10) .. {marker}) end
                 print(marker)
                 return marker"
            );
            (marker, engine().run(&Script::new(source), RunOptions::default()).await.expect("the run was made"))
        });
    }
    let mut count = 0;
    while let Some(joined) = runs.join_next().await {
        let (marker, run) = joined.expect("no panic");
        assert_eq!(run.outcome.decode::<i32>().expect("a result"), marker);
        assert_eq!(run.outcome.logs, [marker.to_string()]);
        count += 1;
    }
    assert_eq!(count, 64);
}

#[tokio::test]
async fn poison_does_not_reach_the_next_run() {
    let poison = "
        local failures = 0
        local function try(f) if not pcall(f) then failures += 1 end end
        try(function() string.format = print end)
        try(function() getmetatable('').__index = {} end)
        try(function() math.random = nil end)
        try(function() setmetatable(_G, {}) end)
        try(function() rawset(_G, 'print', nil) end)
        try(function() json.null = 1 end)
        try(function() getmetatable(getfenv()).__index = {} end)
        math.randomseed(1)
        print = nil
        getfenv().tostring = error
        _G.planted = 1
        return failures";
    let first = run(poison).await;
    // `_G` is the script's own table of globals, or the frozen one: in both cases only this run is hurt.
    assert!(first.outcome.result.is_ok() || first.outcome.result.is_err());
    let second =
        run("return planted == nil, string.format('%d', 1), ('x'):upper(), tostring(1), type(print), json.encode(json.null)").await;
    assert_eq!(second.outcome.result.expect("a result").get(), r#"[true,"1","X","1","function","null"]"#);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn two_thousand_runs_leave_memory_descriptors_and_threads_flat() {
    fn resident_kib() -> u64 {
        let status = fs::read_to_string("/proc/self/status").expect("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }
    let count = |folder| fs::read_dir(folder).expect("a folder").count();
    let script = Script::new("local t = {} for i = 1, 1000 do t[i] = tostring(i) end pcall(error, 'x') print(#t) return t[500]");
    let one_hundred = async |times: usize| {
        for _ in 0..times * 100 {
            let run = engine().run(&script, RunOptions::default()).await.expect("the run was made");
            assert_eq!(run.outcome.result.expect("a result").get(), "\"500\"");
        }
    };
    one_hundred(2).await;
    let before = (resident_kib(), count("/proc/self/fd"), count("/proc/self/task"));
    one_hundred(20).await;
    let after = (resident_kib(), count("/proc/self/fd"), count("/proc/self/task"));
    // Other tests of this process may run beside it, with threads and memory of their own.
    assert!(after.0 < before.0 + 64 * 1024, "{before:?} {after:?}");
    assert!(after.1 <= before.1 + 32, "{before:?} {after:?}");
    assert!(after.2 <= before.2 + 32, "{before:?} {after:?}");
}

#[tokio::test]
async fn a_canary_in_the_environment_is_not_in_the_box() {
    let canary = std::env::var("PATH").expect("a PATH");
    let run = run("local all = {} for name in getmetatable(getfenv()).__index do table.insert(all, name) end return all, os.getenv, debug.traceback()").await;
    let text = serde_json::to_string(&run.outcome).expect("JSON");
    assert!(text.contains("\"print\""));
    assert!(!text.contains(&canary));
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")));
}
