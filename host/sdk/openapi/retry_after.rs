//! The header `Retry-After`: a number of seconds, or a date.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// Returns the number of seconds until another attempt. A date in the past is 0.
pub fn parse(value: &str, now: SystemTime) -> Option<f64> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0).then_some(seconds);
    }
    let now = now.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let wait = parse_date(value)?.saturating_sub(i64::try_from(now).ok()?);
    // A wait of more than 2^53 seconds can't occur: the year has four digits.
    Some(wait.max(0) as f64)
}

/// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate). Returns the seconds since 1970.
fn parse_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_once(", ")?.1.split(' ');
    let day = number(words.next()?, 2, 31)?;
    let month = words.next()?;
    let month = i64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()?;
    let year = number(words.next()?, 4, 9999)?;
    let mut time = words.next()?.split(':');
    let (hour, minute, second) = (number(time.next()?, 2, 23)?, number(time.next()?, 2, 59)?, number(time.next()?, 2, 60)?);
    if time.next().is_some() || words.next() != Some("GMT") || words.next().is_some() || day == 0 {
        return None;
    }
    Some(days_since_1970(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second)
}

fn number(digits: &str, length: usize, limit: i64) -> Option<i64> {
    let is_valid = digits.len() == length && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_valid.then(|| digits.parse().ok()).flatten().filter(|number| *number <= limit)
}

/// Counts the days of a date of the Gregorian calendar. The months start at 0. Years start in March here, so that a leap day is the last day
/// of a year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month < 2 { year - 1 } else { year };
    let month = (month + 10) % 12;
    let days_before_month = (153 * month + 2) / 5;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + days_before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn seconds_and_dates_are_parsed() {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (value, expected) in [
            ("0", Some(0.0)),
            (" 120 ", Some(120.0)),
            ("1.5", Some(1.5)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60.0)),
            ("Mon, 07 Nov 1994 08:49:37 GMT", Some(86_400.0)),
            ("Fri, 01 Mar 1996 00:00:00 GMT", Some(41_526_623.0)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0.0)),
            ("-1", None),
            ("inf", None),
            ("NaN", None),
            ("", None),
            ("soon", None),
            ("Sun, 00 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 24:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, +6 Nov 1994 08:49:37 GMT", None),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
        ] {
            assert_eq!(parse(value, now), expected, "{value}");
        }
    }
}
