//! The expected outcome of a task, and its comparison with what happened.

use super::data::Store;
use serde_json::Value;
use std::{fs, path::PathBuf};

/// The state after all calls of a task.
pub struct Finished {
    /// The outcome of each call.
    pub outcomes: Vec<Value>,
    /// The size of the largest response in bytes.
    pub response_size: usize,
    pub store: Store,
    /// The io directory.
    pub io: PathBuf,
}

/// The result of a task compared with its oracle.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Verdict {
    Right,
    /// An error that the model sees.
    Failed,
    /// Wrong without an error.
    Wrong,
}

type Check = Box<dyn Fn(&Finished) -> Result<(), String> + Send + Sync>;

/// The expected results of the calls, or the expected error of the last one, and conditions on files and servers.
pub struct Expected {
    results: Vec<Option<Value>>,
    error: Option<(&'static str, Vec<&'static str>)>,
    checks: Vec<Check>,
}

/// Expects one call with a result.
pub fn result(value: Value) -> Expected {
    results(vec![value])
}

/// Expects several calls with their results.
pub fn results(values: Vec<Value>) -> Expected {
    Expected { results: values.into_iter().map(Some).collect(), error: None, checks: Vec::new() }
}

/// Expects a call that succeeds. Only the conditions are checked.
pub fn success() -> Expected {
    Expected { results: vec![None], error: None, checks: Vec::new() }
}

/// Expects an error of a kind whose message contains all given texts.
pub fn error(kind: &'static str, texts: &[&'static str]) -> Expected {
    Expected { results: Vec::new(), error: Some((kind, texts.to_vec())), checks: Vec::new() }
}

impl Expected {
    /// Adds a condition.
    pub fn check(mut self, check: impl Fn(&Finished) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// Expects a file with these contents.
    pub fn file(self, name: &'static str, contents: impl Into<Vec<u8>>) -> Self {
        let contents = contents.into();
        self.check(move |finished| {
            let found = fs::read(finished.io.join(name)).map_err(|error| format!("{name}: {error}"))?;
            if found == contents {
                return Ok(());
            }
            Err(format!("{name} has {:?}, expected {:?}", String::from_utf8_lossy(&found), String::from_utf8_lossy(&contents)))
        })
    }

    /// Expects a file with this JSON.
    pub fn json_file(self, name: &'static str, value: Value) -> Self {
        self.check(move |finished| {
            let text = fs::read_to_string(finished.io.join(name)).map_err(|error| format!("{name}: {error}"))?;
            let found: Value = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
            if same(&found, &value) { Ok(()) } else { Err(format!("{name} has {found}, expected {value}")) }
        })
    }

    /// Expects a state of the servers.
    pub fn state(self, what: &'static str, holds: impl Fn(&Store) -> bool + Send + Sync + 'static) -> Self {
        self.check(move |finished| if holds(&finished.store) { Ok(()) } else { Err(format!("the servers are in the wrong state: {what}")) })
    }

    /// Returns `true` if the script can't work and must fail with a helpful message.
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// Returns the verdict and the reason for it.
    pub fn judge(&self, finished: &Finished) -> (Verdict, String) {
        let last = finished.outcomes.last().unwrap_or(&Value::Null);
        if let Some((kind, texts)) = &self.error {
            let Some(error) = last.get("error") else { return (Verdict::Wrong, format!("no error, but {last}")) };
            let message = error["message"].as_str().unwrap_or_default();
            let missing = texts.iter().find(|text| !message.contains(**text));
            return match missing {
                _ if error["kind"] != *kind => (Verdict::Failed, format!("kind {}: {message}", error["kind"])),
                Some(missing) => (Verdict::Failed, format!("no {missing:?} in: {message}")),
                None => self.check_all(finished),
            };
        }
        if let Some(error) = finished.outcomes.iter().find_map(|outcome| outcome.get("error")) {
            return (Verdict::Failed, error["message"].as_str().unwrap_or_default().to_owned());
        }
        for (outcome, expected) in finished.outcomes.iter().zip(&self.results) {
            if let Some(expected) = expected
                && !same(&outcome["result"], expected)
            {
                return (Verdict::Wrong, format!("{} instead of {expected}", outcome["result"]));
            }
        }
        if finished.outcomes.len() != self.results.len() {
            return (Verdict::Wrong, format!("{} calls", finished.outcomes.len()));
        }
        self.check_all(finished)
    }

    fn check_all(&self, finished: &Finished) -> (Verdict, String) {
        match self.checks.iter().find_map(|check| check(finished).err()) {
            Some(reason) => (Verdict::Wrong, reason),
            None => (Verdict::Right, String::new()),
        }
    }
}

/// Compares values. Numbers may differ by rounding, because a script adds them in another order than the oracle.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a == b,
            _ => {
                let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
                (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
            }
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

/// Removes null fields of objects, which scripts do not see.
pub fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), without_nulls(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
