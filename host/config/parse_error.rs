//! Errors in the configuration file, in one line: the number of the line, the key and value if they are known, and the reason.

use crate::text::one_line;

/// The maximum number of characters of a value in a message.
const MAX_VALUE: usize = 60;

/// Describes an error of the TOML parser or of a value.
pub fn describe(text: &str, error: &toml::de::Error) -> String {
    let span = error.span().unwrap_or(0..0);
    let line = 1 + text[..span.start].matches('\n').count();
    let message = match error.message() {
        message if message.starts_with("relative URL without a base") => "must be a URL such as https://tools.example.com".into(),
        // The name of a type in this program says nothing to a user.
        message => match message.split_once(", expected struct ") {
            Some((found, _)) => format!("{found}, expected a table"),
            None => message.replace('\n', " "),
        },
    };
    // Messages about a value say what it must be. Those of the parser quote it themselves.
    let message = match key_before(&text[..span.start]).filter(|_| message.starts_with("must be ")) {
        Some(key) => format!("line {line}: {key} = {}: {message}", shorten(&text[span])),
        None => format!("line {line}: {message}"),
    };
    // A quoted value may have control characters, which must not reach the terminal.
    one_line(&message)
}

/// Returns the key of the value that begins after the text.
fn key_before(text: &str) -> Option<&str> {
    let line = text.lines().next_back()?.trim_end().strip_suffix('=')?.trim_end();
    line.rsplit(['{', ',', ' ']).next().filter(|key| !key.is_empty())
}

/// Returns a value in one line of limited length.
fn shorten(value: &str) -> String {
    let line = value.lines().next().unwrap_or_default();
    let shown: String = line.chars().take(MAX_VALUE).collect();
    if shown.len() < value.len() { format!("{shown}…") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::{describe, key_before, shorten};
    use crate::config::Config;

    #[test]
    fn the_key_is_the_word_before_the_equals_sign() {
        assert_eq!(key_before("[limits]\nmemory = "), Some("memory"));
        assert_eq!(key_before("limits = { fuel = 1, memory= "), Some("memory"));
        assert_eq!(key_before("[limits]\n"), None);
        assert_eq!(key_before(""), None);
    }

    #[test]
    fn control_characters_of_a_value_are_escaped() {
        let text = "[io]\nerrors = \"r\\r\\u001b[31mn\"\n";
        let error = toml::from_str::<Config>(text).unwrap_err();
        assert_eq!(describe(text, &error), r"line 2: unknown variant `r\r\u{1b}[31mn`, expected `raise` or `return`");
    }

    #[test]
    fn a_long_value_is_shortened() {
        assert_eq!(shorten("5"), "5");
        assert_eq!(shorten(&"ü".repeat(61)), format!("{}…", "ü".repeat(60)));
        assert_eq!(shorten("'''a\nb'''"), "'''a…");
    }
}
