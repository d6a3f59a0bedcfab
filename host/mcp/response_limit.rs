//! The limit on the size of one response.
//!
//! A tenant chooses what a script returns and prints. Each part of an outcome is in the response twice: as structured content, and as text
//! for a model, in which the JSON is escaped once more.

use super::{large_output::InlineLimits, response_size};
use crate::{ErrorKind, Outcome, ScriptError};
use serde::Serialize;

/// The default maximum size of a response in bytes, as JSON.
pub const DEFAULT_RESPONSE: usize = 8 << 20;

/// The smallest limit, which leaves space for errors, file names and parts of the default size.
pub const MIN_RESPONSE: usize = 512 << 10;

/// The size of a response relative to that of a part that was shortened to fit. There are three such parts, and each takes at most three
/// times its size: as JSON, and as text in which each character may have another one before it. The remainder is for everything else.
const PARTS: usize = 12;

/// Makes the response for an outcome fit into `limit` bytes. Returns the sizes to which its parts must be shortened.
///
/// `inline` is the configured size of a part. 0 does not shorten parts. Then a result that does not fit becomes an error, and a log and a
/// list of files that do not fit are shortened.
pub fn bound(outcome: &mut Outcome, inline: usize, limit: usize) -> InlineLimits {
    let max_inline = limit / PARTS;
    if inline > 0 {
        let inline = inline.min(max_inline);
        return InlineLimits { result: inline, rest: inline };
    }
    let result = outcome.result.as_ref().map_or(0, |json| json_size(json.get()));
    let files = serde_json::to_string(&outcome.files_touched).unwrap_or_default();
    let rest = outcome.logs.iter().map(|line| string_size(line)).sum::<usize>() + json_size(&files);
    if result + rest <= limit {
        return InlineLimits::default();
    }
    // Both parts together, when they are shortened, have at most half of the size.
    let (rest, inline) = if rest > limit / 2 { (limit / 2, max_inline) } else { (rest, 0) };
    if result + rest > limit {
        let size = result + rest;
        let message = format!(
            "the response would have {size} bytes; at most {limit} are allowed: return less, write it to a file, or raise [limits] response"
        );
        outcome.result = Err(ScriptError::new(ErrorKind::Result, message));
    }
    InlineLimits { result: 0, rest: inline }
}

/// Checks the response of a request that runs no script. Takes long if it is large.
///
/// # Errors
///
/// When the response is too large.
pub fn check(response: &impl Serialize, limit: usize) -> Result<(), String> {
    let size = response_size::serialized(response);
    if size <= limit {
        return Ok(());
    }
    Err(format!("the response has {size} bytes; at most {limit} are allowed: read it in parts, or raise [limits] response"))
}

/// Returns the size of JSON without control characters in a response: as it is, and as text.
fn json_size(json: &str) -> usize {
    2 * json.len() + json.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

/// Returns the size of a string with its quotes and a comma in a response: as JSON, and as text.
fn string_size(text: &str) -> usize {
    let size = |byte| match byte {
        b'"' | b'\\' => 2 + 4,
        b'\n' | b'\r' | b'\t' | 0x8 | 0xc => 2 + 3,
        0..=0x1f => 6 + 7,
        _ => 1 + 1,
    };
    text.bytes().map(size).sum::<usize>() + 3 + 5
}

#[cfg(test)]
mod tests {
    use super::{check, json_size, string_size};
    use serde_json::json;

    #[test]
    fn sizes_are_those_of_the_json_and_of_the_text_that_contains_it() {
        for text in ["", "plain", "q\"\\\n\t\r\u{8}\u{c}", "\u{1}\u{1f}\u{7f}", "äöü€😀"] {
            let json = serde_json::to_string(text).unwrap();
            let shown = serde_json::to_string(&json).unwrap();
            // The text has quotes around all parts, not around each.
            assert_eq!(json_size(&json), json.len() + shown.len() - 2, "{text:?}");
            assert_eq!(string_size(text), json_size(&json) + 2, "{text:?}");
        }
    }

    #[test]
    fn other_responses_are_limited() {
        let response = json!({ "text": "\u{1}".repeat(1000) });
        assert_eq!(check(&response, 6011), Ok(()));
        let error = "the response has 6011 bytes; at most 6010 are allowed: read it in parts, or raise [limits] response";
        assert_eq!(check(&response, 6010), Err(error.to_owned()));
    }
}
