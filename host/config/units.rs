//! Numbers, sizes and durations in flags and in the configuration file, with their ranges.
//!
//! Every error says which values are allowed. The configuration file adds the key and the line, and clap the flag.

use crate::text::{grouped, size};
use bytesize::ByteSize;
use serde::{Deserializer, de};
use std::{fmt, ops::RangeInclusive, time::Duration};

/// The range of most times: a day is more than any run or request needs, and far from the end of the clock.
pub const TIME: RangeInclusive<u64> = 1..=DAY;
/// A day in milliseconds.
pub const DAY: u64 = 24 * 60 * 60 * 1000;
/// The range of the memory of a run.
pub const MEMORY: RangeInclusive<u64> = 4 << 20..=4 << 30;
/// The largest script, log and result. The host holds each of them in memory.
pub const MAX_TEXT: u64 = 1 << 30;
/// The largest number of bytes on disk.
pub const MAX_DISK: u64 = 1 << 50;
/// The largest number of things that are only counted.
pub const MAX_COUNT: u64 = 1_000_000_000;
/// The largest number of waiting runs, of runs per minute and of connections, which each take memory.
pub const MAX_WAITING: u64 = 1_000_000;
/// The largest fuel: the largest integer in TOML.
pub const MAX_FUEL: u64 = i64::MAX as u64;

/// Parses a size: bytes, or a number with a unit such as `64MiB` or `1GB`.
pub fn parse_size(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let bytes = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number with too many digits is out of range.
        text.parse().unwrap_or(u64::MAX)
    } else {
        text.parse::<ByteSize>().map_err(|_| "must be a size such as 512KiB, 64MiB or 1GB".to_owned())?.as_u64()
    };
    check_size(bytes, &range)
}

/// Parses a duration: seconds, or numbers with units such as `500ms`, `30s` or `1h 30m`. The range is in milliseconds.
pub fn parse_duration(text: &str, range: RangeInclusive<u64>) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) => check_seconds(seconds, &range),
        Err(_) => {
            let duration = humantime::parse_duration(text);
            check_duration(duration.map_err(|_| "must be a number of seconds, or a time such as 500ms, 30s or 5m".to_owned())?, &range)
        }
    }
}

/// Parses a whole number.
pub fn parse_integer(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| integers(&range))
}

fn check_size(bytes: u64, range: &RangeInclusive<u64>) -> Result<u64, String> {
    if range.contains(&bytes) { Ok(bytes) } else { Err(format!("must be {} to {}", size(*range.start()), size(*range.end()))) }
}

fn check_seconds(seconds: f64, range: &RangeInclusive<u64>) -> Result<Duration, String> {
    // A negative number, infinity and NaN are out of every range.
    check_duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX), range)
}

fn check_duration(duration: Duration, range: &RangeInclusive<u64>) -> Result<Duration, String> {
    let [least, most] = [range.start(), range.end()].map(|milliseconds| Duration::from_millis(*milliseconds));
    if (least..=most).contains(&duration) {
        Ok(duration)
    } else {
        Err(format!("must be {} to {}", humantime::format_duration(least), humantime::format_duration(most)))
    }
}

fn integers(range: &RangeInclusive<u64>) -> String {
    format!("must be a whole number from {} to {}", grouped(*range.start()), grouped(*range.end()))
}

/// A value of the configuration file that is out of range in any case.
fn out_of_range(range: &RangeInclusive<u64>) -> u64 {
    range.end().saturating_add(1)
}

/// Deserializes a size in bytes, or a text with a unit.
pub fn bytes<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let range = MIN..=MAX;
    let text = |text: &str| parse_size(text, range.clone());
    let integer = |number: i64| check_size(u64::try_from(number).unwrap_or_else(|_| out_of_range(&range)), &range);
    deserializer.deserialize_any(Number { text, integer, float: None::<fn(f64) -> _>, expected: "a size such as \"64MiB\"" }).map(Some)
}

/// Deserializes a number of seconds, or a text with a unit. The range is in milliseconds.
pub fn duration<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let range = MIN..=MAX;
    let text = |text: &str| parse_duration(text, range.clone());
    #[expect(clippy::cast_precision_loss, reason = "a number that large is out of range")]
    let integer = |number: i64| check_seconds(number as f64, &range);
    let float = |number: f64| check_seconds(number, &range);
    deserializer.deserialize_any(Number { text, integer, float: Some(float), expected: "a time such as \"30s\"" }).map(Some)
}

/// Deserializes a whole number.
pub fn integer<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let range = MIN..=MAX;
    let text = |_: &str| Err(integers(&range));
    let integer = |number: i64| u64::try_from(number).ok().filter(|number| range.contains(number)).ok_or_else(|| integers(&range));
    deserializer.deserialize_any(Number { text, integer, float: None::<fn(f64) -> _>, expected: "a whole number" }).map(Some)
}

/// Deserializes a listening address: a text, or a port.
pub fn listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let range = 0..=u64::from(u16::MAX);
    let text = |text: &str| Ok(text.to_owned());
    let port = |number: i64| parse_integer(&number.to_string(), range.clone()).map(|port| port.to_string());
    deserializer.deserialize_any(Number { text, integer: port, float: None::<fn(f64) -> _>, expected: "an address and a port" }).map(Some)
}

/// Accepts a text, an integer and, for some keys, a float.
struct Number<Text, Integer, Float> {
    text: Text,
    integer: Integer,
    float: Option<Float>,
    expected: &'static str,
}

impl<T, Text, Integer, Float> de::Visitor<'_> for Number<Text, Integer, Float>
where
    Text: FnOnce(&str) -> Result<T, String>,
    Integer: FnOnce(i64) -> Result<T, String>,
    Float: FnOnce(f64) -> Result<T, String>,
{
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.text)(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        (self.integer)(number).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        match self.float {
            Some(float) => float(number).map_err(E::custom),
            None => Err(E::invalid_type(de::Unexpected::Float(number), &self.expected)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DAY, TIME, parse_duration, parse_integer, parse_size};
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        let size = |text| parse_size(text, 0..=4 << 30);
        for (text, bytes) in [
            ("0", 0),
            ("67108864", 64 << 20),
            ("64MiB", 64 << 20),
            ("64 MiB", 64 << 20),
            ("64M", 64_000_000),
            ("64mb", 64_000_000),
            ("1GB", 1_000_000_000),
            ("1.5KiB", 1536),
            ("100B", 100),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "x", "MiB", "-1", "1.2.3", "1 parsec", "NaN"] {
            assert_eq!(size(text), Err("must be a size such as 512KiB, 64MiB or 1GB".into()), "{text}");
        }
        for text in ["5GiB", "99999999999999999999", "99999999999999999999EiB"] {
            assert_eq!(size(text), Err("must be 0 bytes to 4 GiB".into()), "{text}");
        }
    }

    #[test]
    fn durations_are_seconds_or_have_a_unit() {
        let duration = |text| parse_duration(text, TIME);
        for (text, milliseconds) in
            [("0.2", 200), ("30", 30_000), ("500ms", 500), ("30s", 30_000), ("1m", 60_000), ("1h 30m", 5_400_000), ("1day", DAY)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "soon", "1 fortnight", "s", "-1s"] {
            assert_eq!(duration(text), Err("must be a number of seconds, or a time such as 500ms, 30s or 5m".into()), "{text}");
        }
        for text in ["0", "-1", "1e300", "inf", "NaN", "2days", "1us", "99999999999years"] {
            let message = duration(text).expect_err("out of range");
            assert!(message == "must be 1ms to 1day" || message.starts_with("must be a number"), "{text}: {message}");
        }
    }

    #[test]
    fn integers_are_in_their_range() {
        for text in ["", "x", "-1", "0", "11", "1.5", "99999999999999999999"] {
            assert_eq!(parse_integer(text, 1..=10), Err("must be a whole number from 1 to 10".into()), "{text}");
        }
        assert_eq!(parse_integer("10", 1..=10), Ok(10));
    }

    proptest! {
        #[test]
        fn no_text_panics_and_every_accepted_value_is_in_range(text in ".{0,12}|[0-9]{1,30}[a-zA-Z]{0,4}|[0-9]{0,5}\\.[0-9]{0,5} ?[a-z]{0,3}") {
            prop_assert!(parse_size(&text, 10..=1000).is_ok_and(|bytes| (10..=1000).contains(&bytes)) || parse_size(&text, 10..=1000).is_err());
            let duration = parse_duration(&text, TIME);
            prop_assert!(duration.map_or(true, |duration| duration >= Duration::from_millis(1) && duration <= Duration::from_millis(DAY)));
            prop_assert!(parse_integer(&text, 10..=1000).map_or(true, |number| (10..=1000).contains(&number)));
        }
    }
}
