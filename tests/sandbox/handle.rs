//! Scripts that run in the background: `wait`, `kill` and the drop of a handle.

use super::{exec::LineCollector, sandbox};
use crate::support::{IoDir, wait_for};
use std::sync::Arc;
use toolscript::{CancellationToken, ErrorKind, sandbox::ExecOptions};

const ENDLESS: &str = "io.open('f', 'w'):write('so far') print('started') while true do end";

/// Returns options whose listener collects the lines.
fn listening() -> (ExecOptions, Arc<LineCollector>) {
    let lines = Arc::new(LineCollector::default());
    (ExecOptions::default().with_listener(lines.clone()), lines)
}

async fn started(lines: &LineCollector) {
    wait_for(|| lines.0.lock().expect("not poisoned").as_slice() == ["started"]).await;
}

#[tokio::test]
async fn a_script_runs_in_the_background_and_is_waited_for() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    let (options, lines) = listening();
    let running = sandbox.spawn("print('started') return ...", options.with_arguments(["argument"]));
    started(&lines).await;
    wait_for(|| running.is_finished()).await;
    let done = running.wait().await;
    assert_eq!((done.stdout(), done.stderr(), done.exit_code), ("started\n\"argument\"\n", "", 0));
    let failed = sandbox.spawn("error('no', 0)", ExecOptions::default()).wait().await;
    assert_eq!(
        (failed.stdout(), failed.stderr(), failed.exit_code),
        ("", "error: runtime: no\n  at [C] function error\n  at script:1\n", 1)
    );
    let rejected = sandbox.spawn("", ExecOptions::default().with_working_directory("/x")).wait().await;
    assert_eq!((rejected.stderr(), rejected.exit_code), ("error: invalid working directory: path must be relative\n", 2));
}

#[tokio::test]
async fn a_killed_script_returns_its_output_up_to_that_point() {
    let dir = IoDir::new();
    let (options, lines) = listening();
    let running = sandbox(&dir).spawn(ENDLESS, options);
    started(&lines).await;
    assert!(!running.is_finished());
    running.kill();
    running.kill();
    let killed = running.wait().await;
    assert_eq!((killed.stdout(), killed.stderr(), killed.exit_code), ("started\n", "error: cancelled: the run was cancelled\n", 130));
    let outcome = killed.run.expect("it ran").outcome;
    assert_eq!(outcome.result.expect_err("stopped").kind, ErrorKind::Cancelled);
    assert_eq!(outcome.files_touched[0].name, "f");
}

#[tokio::test]
async fn another_task_stops_a_script_that_is_waited_for() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    // By the token of the handle, and by that of the options.
    for of_options in [false, true] {
        let (options, lines) = listening();
        let cancellation = CancellationToken::new();
        let running = sandbox.spawn(ENDLESS, options.with_cancellation(cancellation.clone()));
        let token = if of_options { cancellation } else { running.cancellation() };
        let (killed, ()) = tokio::join!(running.wait(), async {
            started(&lines).await;
            token.cancel();
        });
        assert_eq!(killed.exit_code, 130);
    }
}

#[tokio::test]
async fn a_kill_does_not_cancel_the_token_of_the_options() {
    let dir = IoDir::new();
    let cancellation = CancellationToken::new();
    let running = sandbox(&dir).spawn("while true do end", ExecOptions::default().with_cancellation(cancellation.clone()));
    running.kill();
    assert_eq!(running.wait().await.exit_code, 130);
    assert!(!cancellation.is_cancelled());
}

#[tokio::test]
async fn dropping_the_handle_stops_the_script() {
    let dir = IoDir::new();
    let (options, lines) = listening();
    let running = sandbox(&dir).spawn(ENDLESS, options);
    started(&lines).await;
    let token = running.cancellation();
    drop(running);
    assert!(token.is_cancelled());
    // The task drops the listener when the run has ended.
    wait_for(|| Arc::strong_count(&lines) == 1).await;
}
