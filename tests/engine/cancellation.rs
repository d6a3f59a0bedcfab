//! A token, a dropped future, a shutdown: a busy script stops, and what it did is reported.

use crate::support::{engine, outcome};
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;
use toolscript::{
    ErrorKind, RunOptions, Script,
    engine::{Listener, Progress},
};

/// Counts calls of `progress` and tells of the first line.
#[derive(Default)]
struct Watch {
    started: Notify,
    steps: AtomicU64,
}

impl Listener for Watch {
    fn line(&self, _line: &str) {
        self.started.notify_one();
    }

    fn progress(&self, _progress: &Progress) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_returns_what_was_done_so_far() {
    for busy in ["while true do end", "while true do progress(1) end", "while true do pcall(error) end"] {
        let watch = Arc::new(Watch::default());
        let options = RunOptions::default().with_listener(watch.clone());
        let cancellation = options.cancellation.clone();
        let script = Script::new(format!("print('started') {busy}"));
        let run = tokio::spawn(async move { engine().run(&script, options).await });
        watch.started.notified().await;
        cancellation.cancel();
        let run = tokio::time::timeout(Duration::from_secs(60), run).await.expect("it stops").expect("no panic").expect("it was made");
        assert_eq!(
            outcome(&run),
            json!({ "error": { "kind": "cancelled", "message": "the run was cancelled" }, "logs": ["started"], "files_touched": [] })
        );
        assert_eq!(run.receipt.stopped_by, Some(ErrorKind::Cancelled));
    }
}

#[tokio::test]
async fn a_token_that_is_cancelled_already_runs_nothing() {
    let options = RunOptions::default();
    options.cancellation.cancel();
    let run = engine().run(&Script::new("print('never')"), options).await.expect("it was made");
    assert_eq!(run.outcome.result.expect_err("a stop").kind, ErrorKind::Cancelled);
    assert!(run.outcome.logs.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_future_stops_the_guest() {
    let watch = Arc::new(Watch::default());
    let options = RunOptions::default().with_listener(watch.clone());
    let run = tokio::spawn(async move { engine().run(&Script::new("print('started') while true do progress(1) end"), options).await });
    watch.started.notified().await;
    run.abort();
    assert!(run.await.expect_err("it was dropped").is_cancelled());
    let steps = watch.steps.load(Ordering::Relaxed);
    // The next run gets through the same engine, and the script that was dropped takes no further step meanwhile.
    engine().run(&Script::new("for i = 1, 1e6 do end"), RunOptions::default()).await.expect("the engine goes on");
    assert_eq!(watch.steps.load(Ordering::Relaxed), steps);
    assert_eq!(Arc::strong_count(&watch), 1);
}

#[tokio::test]
async fn busy_scripts_share_one_thread() {
    // On a runtime with one thread, a busy script must let the other finish.
    let busy = RunOptions::default();
    let stop = busy.cancellation.clone();
    let busy_script = Script::new("while true do end");
    let busy = engine().run(&busy_script, busy);
    let quick = async {
        let run = engine().run(&Script::new("return 1"), RunOptions::default()).await.expect("it was made");
        stop.cancel();
        run
    };
    let (busy, quick) = tokio::join!(busy, quick);
    assert_eq!(quick.outcome.result.expect("a result").get(), "1");
    assert_eq!(busy.expect("it was made").outcome.result.expect_err("a stop").kind, ErrorKind::Cancelled);
}
