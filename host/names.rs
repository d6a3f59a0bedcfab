//! Names and times as people and models read them.

use chrono::{DateTime, SecondsFormat, Utc};
use std::time::SystemTime;

/// A name on one line, whatever is in it.
pub fn one_line(name: &str) -> String {
    name.chars().flat_map(|letter| if letter.is_control() { letter.escape_default().collect() } else { vec![letter] }).collect()
}

/// As everybody writes it: 2026-11-17T12:34:56Z.
pub fn moment(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true)
}
