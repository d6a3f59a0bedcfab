//! `sleep`: it ends with the run, and costs no fuel while it waits.

use crate::support::{engine, limited, outcome, run, run_with};
use serde_json::json;
use std::time::{Duration, Instant};
use toolscript::{ErrorKind, RunOptions, Script};

#[tokio::test]
async fn sleeping_takes_time_and_no_fuel() {
    let long = run("local start = os.clock() sleep(0.2) return os.clock() - start >= 0.2").await;
    let short = run("local start = os.clock() sleep(0) return os.clock() - start >= 0.2").await;
    assert_eq!((outcome(&long)["result"].clone(), outcome(&short)["result"].clone()), (json!(true), json!(false)));
    assert!(long.receipt.fuel < short.receipt.fuel + 100_000, "{} {}", long.receipt.fuel, short.receipt.fuel);
    assert!(long.receipt.host_calls.microseconds >= 200_000);
}

#[tokio::test]
async fn sleeping_ends_at_the_deadline() {
    for seconds in ["60", "1e300", "math.huge"] {
        let started = Instant::now();
        let options = limited(|limits| limits.timeout = Duration::from_millis(100));
        let run = run_with(&format!("print('started') pcall(sleep, {seconds}) print('caught')"), options).await;
        assert_eq!(run.outcome.logs, ["started"], "{seconds}");
        assert_eq!(run.outcome.result.expect_err("stopped").kind, ErrorKind::Timeout, "{seconds}");
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}

#[tokio::test]
async fn sleeping_ends_when_the_run_is_cancelled() {
    let options = RunOptions::default();
    let cancellation = options.cancellation.clone();
    let script = Script::new("sleep(60)");
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancellation.cancel();
    };
    let (run, ()) = tokio::join!(engine().run(&script, options), cancel);
    assert_eq!(run.expect("accepted").outcome.result.expect_err("cancelled").kind, ErrorKind::Cancelled);
}

#[tokio::test]
async fn a_loop_of_short_sleeps_costs_fuel() {
    let run = run_with("while true do sleep(0) end", limited(|limits| limits.fuel = Some(20_000_000))).await;
    assert_eq!(run.outcome.result.expect_err("stopped").kind, ErrorKind::Fuel);
    assert!((100..=4000).contains(&run.receipt.host_calls.count), "{}", run.receipt.host_calls.count);
}
