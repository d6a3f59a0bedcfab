//! A trial of scripts as models write them: in one go, from the descriptions of the tools, with habits of several Luas.
//!
//! Each script in `tasks/` begins with its task. It runs as written through MCP, against an HTTP API, an MCP server and files that
//! the trial starts. An oracle computes the expected outcome from the same data. Never change a script because it fails: fix the
//! runtime, or list the task in `known_failures.txt` with the reason.

#![cfg(target_os = "linux")]

mod api;
mod data;
mod desk;
mod expected;
mod files;
mod oracles;
mod world;

use crate::support::wire::Wire;
use expected::{Expected, Finished, Verdict};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};
use world::World;

/// Separates the calls of a task that needs several.
const NEXT_CALL: &str = "--=== next call\n";

/// The number of characters of a reason that the table shows.
const MAX_REASON: usize = 300;

/// The number of tasks that run at the same time. Some of them sleep.
const WORKERS: usize = 4;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/first_try")
}

/// Returns the scripts by name.
fn scripts() -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory().join("tasks")).expect("the tasks");
    let script = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("a script"))
    };
    entries.map(|entry| script(entry.expect("an entry").path())).collect()
}

/// Returns the scripts that work, by name.
pub fn working_scripts() -> BTreeMap<String, String> {
    let (oracles, known) = (oracles::all(), known_failures());
    let mut scripts = scripts();
    scripts.retain(|name, _| !known.contains_key(name) && oracles.get(name).is_some_and(|expected| !expected.is_error()));
    scripts
}

/// Returns the reasons for known failures by name.
fn known_failures() -> BTreeMap<String, String> {
    let text = fs::read_to_string(directory().join("known_failures.txt")).expect("the list");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("no reason: {line}")))
        .map(|(name, reason)| (name.to_owned(), reason.to_owned()))
        .collect()
}

/// Runs the calls of a task in a world of its own.
fn run(script: &str, expected: &Expected) -> (Verdict, String) {
    let world = World::start();
    let mut wire = Wire::start(world.directory(), &[]);
    let responses: Vec<Value> = script.split(NEXT_CALL).map(|call| wire.run(call)).collect();
    let response_size = responses.iter().map(size_for_model).max().unwrap_or(0);
    expected.judge(&Finished { outcomes: responses.iter().map(outcome).collect(), response_size, store: world.store(), io: world.io() })
}

/// Returns the number of bytes of a response that a model reads. A client passes on either the content or the structured content.
fn size_for_model(response: &Value) -> usize {
    ["content", "structuredContent"].map(|part| response[part].to_string().len()).into_iter().max().unwrap_or(0)
}

/// Returns the outcome of a run as the client sees it: the structured content, or else the text.
fn outcome(response: &Value) -> Value {
    response.get("structuredContent").cloned().unwrap_or_else(|| {
        let text = response["content"][0]["text"].as_str().unwrap_or_default();
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {response}"))
    })
}

#[test]
fn scripts_of_models_work_at_the_first_try() {
    let (scripts, oracles, known) = (scripts(), oracles::all(), known_failures());
    let names = |keys: Vec<&String>| keys.into_iter().cloned().collect::<Vec<_>>();
    assert_eq!(names(scripts.keys().collect()), names(oracles.keys().collect()), "each script has an oracle");
    assert!(scripts.len() >= 80);
    for (name, script) in &scripts {
        assert!(script.starts_with("-- Task: "), "{name} begins with its task");
    }
    let tasks: Vec<(&String, &String)> = scripts.iter().collect();
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((name, script)) = tasks.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let verdict = run(script, &oracles[*name]);
                    verdicts.lock().expect("a lock").insert((*name).clone(), verdict);
                }
            });
        }
    });
    let verdicts = verdicts.into_inner().expect("a lock");
    let can_work = oracles.iter().filter(|(_, expected)| !expected.is_error()).map(|(name, _)| name).collect();
    eprintln!("{}in {:.1} s", report(&verdicts, &can_work), started.elapsed().as_secs_f64());
    let is_right = |name: &str| verdicts.get(name).is_some_and(|(verdict, _)| *verdict == Verdict::Right);
    let fixed: Vec<&String> = known.keys().filter(|name| is_right(name) || !verdicts.contains_key(*name)).collect();
    assert!(fixed.is_empty(), "remove from known_failures.txt, because they are right or do not exist: {fixed:?}");
    let broken: Vec<_> = verdicts.iter().filter(|(name, _)| !is_right(name) && !known.contains_key(*name)).collect();
    let broken: Vec<String> = broken.iter().map(|(name, (_, reason))| format!("{name}: {reason}")).collect();
    assert!(broken.is_empty(), "these tasks fail:\n{}", broken.join("\n"));
}

/// Returns a table of the verdicts, and the rate.
///
/// Some scripts can't work, and are right if their error is: the table also has the rate of the others.
fn report(verdicts: &BTreeMap<String, (Verdict, String)>, can_work: &BTreeSet<&String>) -> String {
    let mut text = String::new();
    for (name, (verdict, reason)) in verdicts {
        let verdict = match verdict {
            Verdict::Right => "right",
            Verdict::Failed => "FAILED",
            Verdict::Wrong => "WRONG",
        };
        let _ = writeln!(text, "{name:28} {verdict:7} {}", reason.chars().take(MAX_REASON).collect::<String>());
    }
    let count = |wanted: Verdict| verdicts.values().filter(|(verdict, _)| *verdict == wanted).count();
    let (all, right, failed, wrong) = (verdicts.len(), count(Verdict::Right), count(Verdict::Failed), count(Verdict::Wrong));
    let working = verdicts.iter().filter(|(name, (verdict, _))| can_work.contains(name) && *verdict == Verdict::Right).count();
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole as f64;
    let _ = writeln!(
        text,
        "{right} of {all} tasks are right ({:.1} %), {failed} failed, {wrong} are wrong without an error",
        percent(right, all)
    );
    let _ = write!(text, "{working} of {} tasks that can work are right ({:.1} %), ", can_work.len(), percent(working, can_work.len()));
    text
}
