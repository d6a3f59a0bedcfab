//! Names and times as people and models read them.

use chrono::{DateTime, SecondsFormat, Utc};
use std::time::{SystemTime, UNIX_EPOCH};

/// A name on one line, whatever is in it.
pub fn one_line(name: &str) -> String {
    name.chars().flat_map(|letter| if letter.is_control() { letter.escape_default().collect() } else { vec![letter] }).collect()
}

/// As everybody writes it: 2026-11-17T12:34:56Z. A file system may have times that no calendar has.
pub fn moment(time: SystemTime) -> Option<String> {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_secs()).ok()?,
    };
    Some(DateTime::<Utc>::from_timestamp(seconds, 0)?.to_rfc3339_opts(SecondsFormat::Secs, true))
}

#[cfg(test)]
mod tests {
    use super::moment;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn every_time_that_a_file_may_have_is_told_or_is_not() {
        assert_eq!(moment(UNIX_EPOCH + Duration::from_secs(1_700_000_000)).as_deref(), Some("2023-11-14T22:13:20Z"));
        assert_eq!(moment(UNIX_EPOCH - Duration::from_secs(1)).as_deref(), Some("1969-12-31T23:59:59Z"));
        for seconds in [9_000_000_000_000, i64::MAX as u64] {
            assert_eq!(moment(UNIX_EPOCH + Duration::from_secs(seconds)), None);
            assert_eq!(moment(UNIX_EPOCH - Duration::from_secs(seconds)), None);
        }
    }
}
