//! Cancellation: a token or a dropped future stops a busy script, and the outcome reports the work that it did.

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

/// Counts calls of `progress`, and notifies when the script prints a line.
#[derive(Default)]
struct Observer {
    started: Notify,
    steps: AtomicU64,
}

impl Listener for Observer {
    fn line(&self, _line: &str) {
        self.started.notify_one();
    }

    fn progress(&self, _progress: &Progress) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_returns_the_logs_so_far() {
    for busy in ["while true do end", "while true do progress(1) end", "while true do pcall(error) end"] {
        let observer = Arc::new(Observer::default());
        let options = RunOptions::default().with_listener(observer.clone());
        let cancellation = options.cancellation.clone();
        let script = Script::new(format!("print('started') {busy}"));
        let run = tokio::spawn(async move { engine().run(&script, options).await });
        observer.started.notified().await;
        cancellation.cancel();
        let run = tokio::time::timeout(Duration::from_secs(60), run)
            .await
            .expect("the run stops")
            .expect("no panic")
            .expect("the run is accepted");
        assert_eq!(
            outcome(&run),
            json!({ "error": { "kind": "cancelled", "message": "the run was cancelled" }, "logs": ["started"], "files_touched": [] })
        );
        assert_eq!(run.receipt.stopped_by, Some(ErrorKind::Cancelled));
    }
}

#[tokio::test]
async fn a_cancelled_token_prevents_the_script_from_running() {
    let options = RunOptions::default();
    options.cancellation.cancel();
    let run = engine().run(&Script::new("print('never')"), options).await.expect("the run is accepted");
    assert_eq!(run.outcome.result.expect_err("a stop").kind, ErrorKind::Cancelled);
    assert!(run.outcome.logs.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_future_stops_the_guest() {
    let observer = Arc::new(Observer::default());
    let options = RunOptions::default().with_listener(observer.clone());
    let run = tokio::spawn(async move { engine().run(&Script::new("print('started') while true do progress(1) end"), options).await });
    observer.started.notified().await;
    run.abort();
    assert!(run.await.expect_err("the task was aborted").is_cancelled());
    let steps = observer.steps.load(Ordering::Relaxed);
    // The engine executes the next run, and the dropped script makes no further step in the meantime.
    engine().run(&Script::new("for i = 1, 1e6 do end"), RunOptions::default()).await.expect("the engine still works");
    assert_eq!(observer.steps.load(Ordering::Relaxed), steps);
    assert_eq!(Arc::strong_count(&observer), 1);
}

#[tokio::test]
async fn busy_scripts_share_one_thread() {
    // On a runtime with one thread, a busy script must let another script finish.
    let busy = RunOptions::default();
    let stop = busy.cancellation.clone();
    let busy_script = Script::new("while true do end");
    let busy = engine().run(&busy_script, busy);
    let quick = async {
        let run = engine().run(&Script::new("return 1"), RunOptions::default()).await.expect("the run is accepted");
        stop.cancel();
        run
    };
    let (busy, quick) = tokio::join!(busy, quick);
    assert_eq!(quick.outcome.result.expect("a result").get(), "1");
    assert_eq!(busy.expect("the run is accepted").outcome.result.expect_err("a stop").kind, ErrorKind::Cancelled);
}
