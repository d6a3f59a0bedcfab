//! Times of files as text.

use chrono::{DateTime, SecondsFormat, Utc};
use std::time::{SystemTime, UNIX_EPOCH};

/// Formats a time as RFC 3339 in UTC, such as `2026-11-17T12:34:56Z`.
///
/// Returns `None` if no calendar date exists for it. File systems can contain such times.
pub fn format_rfc3339(time: SystemTime) -> Option<String> {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_secs()).ok()?,
    };
    Some(DateTime::<Utc>::from_timestamp(seconds, 0)?.to_rfc3339_opts(SecondsFormat::Secs, true))
}

#[cfg(test)]
mod tests {
    use super::format_rfc3339;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn times_without_a_calendar_date_are_not_formatted() {
        assert_eq!(format_rfc3339(UNIX_EPOCH + Duration::from_secs(1_700_000_000)).as_deref(), Some("2023-11-14T22:13:20Z"));
        assert_eq!(format_rfc3339(UNIX_EPOCH - Duration::from_secs(1)).as_deref(), Some("1969-12-31T23:59:59Z"));
        for seconds in [9_000_000_000_000, i64::MAX as u64] {
            assert_eq!(format_rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), None);
            assert_eq!(format_rfc3339(UNIX_EPOCH - Duration::from_secs(seconds)), None);
        }
    }
}
