//! Limits on wall time, fuel, logs, result and queue. Truncated parts are flagged.

use crate::support::{IoDir, engine, limited, outcome, run, run_with};
use serde_json::json;
use std::{
    error::Error as _,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use toolscript::{
    Engine, ErrorKind, Limits, RunOptions, Script,
    engine::{Listener, Progress, RunRejected},
};

#[tokio::test]
async fn fuel_and_memory_are_deterministic() {
    let source = "
        local words = {}
        for i = 1, 20000 do
            words[#words + 1] = string.format('%d:%s', i, tostring(i * 1.5))
        end
        print(os.clock() >= 0, os.time() > 0)
        return #table.concat(words), math.random() < 2, json.encode(words):len()";
    let first = run(source).await;
    for _ in 0..3 {
        let again = run(source).await;
        assert_eq!(first.receipt.fuel, again.receipt.fuel);
        assert_eq!(first.receipt.memory_peak, again.receipt.memory_peak);
    }
    assert!(first.receipt.fuel > 10_000_000, "{:?}", first.receipt);
    assert_eq!(first.receipt.host_calls.count, 3);
}

#[tokio::test]
async fn fuel_stops_a_run_and_the_receipt_reports_it() {
    let run = run_with("print('before') while true do end", limited(|limits| limits.fuel = Some(10_000_000))).await;
    assert_eq!(
        outcome(&run),
        json!({ "error": { "kind": "fuel", "message": "the script used up its fuel (10000000)" }, "logs": ["before"], "files_touched": [] })
    );
    assert_eq!(run.receipt.stopped_by, Some(ErrorKind::Fuel));
    assert_eq!(run.receipt.fuel, 10_000_000);
}

#[tokio::test]
async fn the_deadline_stops_a_busy_script_inside_pcall() {
    let started = Instant::now();
    let options = limited(|limits| limits.timeout = Duration::from_millis(300));
    let run = run_with("print('before') while true do pcall(function() while true do end end) end", options).await;
    assert_eq!(
        outcome(&run),
        json!({ "error": { "kind": "timeout", "message": "the script ran longer than 0.3 s" }, "logs": ["before"], "files_touched": [] })
    );
    assert_eq!(run.receipt.stopped_by, Some(ErrorKind::Timeout));
    // The upper bound is generous for busy machines: the run must stop at all.
    assert!((Duration::from_millis(300)..Duration::from_secs(10)).contains(&started.elapsed()));
}

#[tokio::test]
async fn ten_million_host_calls_stop_at_the_deadline() {
    let options = limited(|limits| limits.timeout = Duration::from_millis(500));
    let run = run_with("for i = 1, 1e7 do progress(i) end", options).await;
    assert_eq!(run.outcome.result.expect_err("a stop").kind, ErrorKind::Timeout);
    assert!(run.receipt.host_calls.count > 1_000, "{:?}", run.receipt);
}

#[tokio::test]
async fn host_calls_cost_fuel() {
    let options = limited(|limits| limits.fuel = Some(50_000_000));
    let run = run_with("for i = 1, 1e7 do local now = os.clock() end", options).await;
    assert_eq!(run.outcome.result.expect_err("a stop").kind, ErrorKind::Fuel);
    assert!((5_000..=10_000).contains(&run.receipt.host_calls.count), "{:?}", run.receipt);
}

#[tokio::test]
async fn the_default_fuel_lasts_until_the_timeout() {
    // The default is four times the fuel of the fastest loop, so that the run reaches its deadline first.
    let run = run_with("while true do end", limited(|limits| limits.timeout = Duration::from_secs(1))).await;
    assert_eq!(run.outcome.result.expect_err("a stop").kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn logs_are_truncated_at_their_limit_and_flagged() {
    let options = limited(|limits| limits.logs = 100);
    let run = run_with("print(string.rep('a', 26)) print(string.rep('é', 100)) print('lost')", options).await;
    // The first line costs 26 + 24 bytes. The remaining 50 hold 24 of overhead and 26 of text, which is 13 characters.
    assert_eq!(
        outcome(&run),
        json!({ "result": null, "logs": ["a".repeat(26), "é".repeat(13)], "files_touched": [], "truncated": ["logs"] })
    );
    assert_eq!(run.receipt.log_bytes, 100);
}

#[tokio::test]
async fn a_line_that_grows_by_replacement_characters_is_flagged_as_truncated() {
    let options = limited(|limits| limits.logs = 124);
    let run = run_with(r"print(string.rep('\xff', 90))", options).await;
    assert_eq!(run.outcome.logs, ["\u{fffd}".repeat(33)]);
    assert_eq!(run.outcome.truncated, ["logs"]);
}

#[tokio::test]
async fn a_result_of_128_levels_can_be_decoded() {
    let run = run("local value = 1 for _ = 1, 128 do value = { value } end return value").await;
    let value: serde_json::Value = run.outcome.decode().expect("a value");
    assert_eq!(value.to_string().len(), 257);
}

#[tokio::test]
async fn decode_errors_keep_their_cause() {
    let error = run("return 1").await.outcome.decode::<String>().expect_err("another type");
    assert_eq!(error.to_string(), "the result does not match the expected type");
    let cause = error.source().expect("a cause").to_string();
    assert_eq!(cause, "invalid type: integer `1`, expected a string at line 1 column 1");
    let error = run("error('failed', 0)").await.outcome.decode::<String>().expect_err("an error");
    assert_eq!(error.to_string(), "failed");
}

#[tokio::test]
async fn small_seeds_produce_different_numbers() {
    let mut firsts = std::collections::HashSet::new();
    for seed in 0..20 {
        firsts.insert(
            run_with("return math.random(1, 1000000)", RunOptions::default().with_seed(seed))
                .await
                .outcome
                .decode::<u32>()
                .expect("a number"),
        );
    }
    assert_eq!(firsts.len(), 20);
}

#[tokio::test]
async fn a_very_short_timeout_still_has_fuel() {
    assert_eq!(Limits::default().effective_fuel(), 1_200_000_000_000);
    let error = run_with("while true do end", limited(|limits| limits.timeout = Duration::from_micros(10)))
        .await
        .outcome
        .result
        .expect_err("a stop");
    assert!(matches!(error.kind, ErrorKind::Fuel | ErrorKind::Timeout));
    assert_ne!(error.message, "the script used up its fuel (0)");
}

#[tokio::test]
async fn printing_a_gibibyte_keeps_a_mebibyte() {
    let run = run("local s = string.rep('x', 2 ^ 20) for i = 1, 1024 do print(s) end return 'done'").await;
    assert_eq!(run.outcome.truncated, ["logs"]);
    assert_eq!(run.outcome.logs.iter().map(|line| line.len() + 24).sum::<usize>(), 1 << 20);
    assert_eq!(run.outcome.result.expect("a result").get(), "\"done\"");
}

#[tokio::test]
async fn printing_a_million_lines_keeps_those_that_fit() {
    let run = run("for i = 1, 1e6 do print('') end").await;
    assert_eq!(run.outcome.truncated, ["logs"]);
    assert_eq!(run.outcome.logs.len(), (1 << 20) / 24);
}

#[tokio::test]
async fn escape_sequences_and_invalid_utf8_in_logs_become_text() {
    let run = run(r#"print("\27[31mred\7", "\xff\xc3\x28", "\0")"#).await;
    assert_eq!(run.outcome.logs, ["\u{1b}[31mred\u{7}\t\u{fffd}\u{fffd}(\t\0"]);
}

#[tokio::test]
async fn a_result_over_its_limit_fails_the_run() {
    let options = limited(|limits| limits.result = 10);
    assert_eq!(run_with("return '12345678'", options.clone()).await.outcome.result.expect("it fits").get(), "\"12345678\"");
    let error = run_with("return '123456789'", options).await.outcome.result.expect_err("too large");
    assert_eq!(error.kind, ErrorKind::Result);
    assert_eq!(error.message, "the result is 11 bytes as JSON; at most 10 are allowed: return less, or print or write it in parts");
}

#[tokio::test]
async fn long_error_messages_are_truncated_and_flagged() {
    let run = run("error(string.rep('x', 100000), 0)").await;
    assert_eq!(run.outcome.truncated, ["message"]);
    assert_eq!(run.outcome.result.expect_err("an error").message, "x".repeat(8 << 10));
    let run = run_with(r"error(string.rep('\1', 8000), 0)", RunOptions::default()).await;
    assert_eq!(run.outcome.truncated, ["message"]);
    assert_eq!(run.outcome.result.expect_err("an error").message.len(), 8 << 10);
}

#[tokio::test]
async fn limits_out_of_range_are_rejected() {
    for (change, message) in [
        ((|limits| limits.timeout = Duration::ZERO) as fn(&mut Limits), "timeout must be more than 0 and at most 86400 seconds"),
        (|limits| limits.timeout = Duration::MAX, "timeout must be more than 0 and at most 86400 seconds"),
        (|limits| limits.fuel = Some(0), "fuel must be more than 0"),
        (|limits| limits.memory = 1000, "memory must be between 4 MiB and 4096 MiB"),
        (|limits| limits.memory = usize::MAX, "memory must be between 4 MiB and 4096 MiB"),
    ] {
        let error = engine().run(&Script::new(""), limited(change)).await.expect_err("a rejection");
        assert_eq!(error.to_string(), message);
    }
}

#[tokio::test]
async fn a_small_script_runs_with_the_smallest_memory_limit() {
    let run = run_with("return 1", limited(|limits| limits.memory = 4 << 20)).await;
    assert_eq!(run.outcome.result.expect("it fits").get(), "1");
}

#[tokio::test]
async fn runs_are_rejected_at_once_when_the_queue_is_full() {
    let engine = Engine::builder().concurrency(1).queue_limit(1).build().expect("an engine");
    assert_eq!((engine.concurrency(), engine.queue_limit()), (1, 1));
    let busy = RunOptions::default();
    let waiting = RunOptions::default();
    let (stop_busy, stop_waiting) = (busy.cancellation.clone(), waiting.cancellation.clone());
    let script = Script::new("while true do end");
    let first = engine.run(&script, busy);
    let second = engine.run(&script, waiting);
    let third = async {
        let error = engine.run(&script, RunOptions::default()).await.expect_err("a rejection");
        stop_waiting.cancel();
        stop_busy.cancel();
        error
    };
    let (first, second, third) = tokio::join!(first, second, third);
    assert_eq!(third, RunRejected::Busy { running: 1, waiting: 1 });
    assert_eq!(third.to_string(), "busy: 1 scripts are running and 1 are waiting; try again later");
    for run in [first, second] {
        assert_eq!(run.expect("the run is accepted").outcome.result.expect_err("a stop").kind, ErrorKind::Cancelled);
    }
    assert_eq!(
        engine
            .run(&Script::new("return 1"), RunOptions::default())
            .await
            .expect("the engine is free again")
            .outcome
            .result
            .expect("1")
            .get(),
        "1"
    );
}

#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Listener for Recorder {
    fn line(&self, line: &str) {
        self.0.lock().expect("a lock").push(format!("line {line}"));
    }

    fn progress(&self, progress: &Progress) {
        self.0.lock().expect("a lock").push(format!("progress {} {:?} {:?}", progress.done, progress.total, progress.message));
    }
}

#[tokio::test]
async fn a_listener_receives_lines_and_progress_in_order() {
    let recorder = Arc::new(Recorder::default());
    let options = RunOptions::default().with_listener(recorder.clone());
    run_with("print('a') progress(1) progress(2, 10, 'half \\xff') print('b')", options).await;
    assert_eq!(
        *recorder.0.lock().expect("a lock"),
        ["line a", "progress 1 None None", "progress 2 Some(10.0) Some(\"half \u{fffd}\")", "line b"]
    );
}

#[tokio::test]
async fn a_seed_makes_random_numbers_reproducible() {
    let source = "return math.random(1, 1000), math.random(), math.random(1, 1000)";
    let seeded = |seed| RunOptions::default().with_seed(seed);
    let texts = [
        run_with(source, seeded(1)).await,
        run_with(source, seeded(1)).await,
        run_with(source, seeded(2)).await,
        run(source).await,
        run(source).await,
    ]
    .map(|run| run.outcome.result.expect("a result").get().to_owned());
    assert_eq!(texts[0], texts[1]);
    assert_ne!(texts[0], texts[2]);
    assert_ne!(texts[3], texts[4]);
}

#[tokio::test]
async fn a_listing_that_does_not_fit_into_memory_can_be_caught() {
    let io_dir = IoDir::new().created();
    for number in 0..8_000 {
        std::fs::write(io_dir.path().join(format!("{number:05}{}", "x".repeat(200))), "").expect("a file");
    }
    // Fills the memory, then frees some of it: enough for the list itself, but not for its names.
    let source = "
        local function fill(left)
            local blocks = {}
            pcall(function()
                for i = 1, 1e6 do
                    blocks[i] = string.rep(tostring(i), 16000)
                end
            end)
            for i = 1, left do
                table.remove(blocks)
            end
            return blocks
        end
        local blocks = fill(30)
        local ok, message = pcall(io.list)
        print(#blocks > 50, ok, message)
        blocks = nil
        local names = io.list()
        return #names, #names[1]";
    let mut options = io_dir.options();
    options.limits = Limits::default().with_memory(16 << 20);
    let run = run_with(source, options).await;
    assert_eq!(outcome(&run), json!({ "result": [8_000, 205], "logs": ["true\tfalse\tnot enough memory"], "files_touched": [] }));
    // `print` makes one call. Both listings collect garbage and try again.
    assert_eq!(run.receipt.host_calls.count, 5);
}

#[tokio::test]
async fn a_small_listing_needs_little_memory() {
    let io_dir = IoDir::new().created();
    for name in ["a", "b"] {
        std::fs::write(io_dir.path().join(name), "").expect("a file");
    }
    // Fills the memory, then frees less than half a mebibyte of it. The second listing is in the deepest C call that Luau allows.
    let source = "
        local blocks = {}
        pcall(function()
            for i = 1, 1e6 do
                blocks[i] = string.rep(tostring(i), 16000)
            end
        end)
        for i = 1, 8 do
            table.remove(blocks)
        end
        local names = io.list()
        print(#blocks > 50, #blocks[#blocks], names[1], names[2])
        blocks = nil
        local function nested(depth)
            local ok, found = pcall(string.gsub, 'x', 'x', function() return nested(depth + 1) end)
            return ok and found or table.concat(io.list())
        end
        return nested(1)";
    let mut options = io_dir.options();
    options.limits = Limits::default().with_memory(16 << 20);
    let run = run_with(source, options).await;
    assert_eq!(outcome(&run), json!({ "result": "ab", "logs": ["true\t48000\ta\tb"], "files_touched": [] }));
}
