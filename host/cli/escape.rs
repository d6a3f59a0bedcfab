//! Escapes for text from scripts that is shown on a terminal, which escape sequences could attack.

use std::borrow::Cow;

/// Replaces control characters other than tab and newline by escapes.
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, |code| format!("\\u{{{code:x}}}"))
}

/// Replaces control characters in JSON, where they can only be inside strings, by JSON escapes.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    escape_with(json, |code| format!("\\u{code:04x}"))
}

fn escape_with(text: &str, escape: impl Fn(u32) -> String) -> Cow<'_, str> {
    // Line separators and characters that change the text direction can hide or fake text.
    let is_deceptive = |character: char| matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_harmful = |character: char| (character.is_control() && !matches!(character, '\t' | '\n')) || is_deceptive(character);
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::new();
    for character in text.chars() {
        if is_harmful(character) {
            escaped.push_str(&escape(character.into()));
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn control_characters_are_escaped_and_text_is_not() {
        assert_eq!(escape("plain\tä 漢\n"), "plain\tä 漢\n");
        assert_eq!(escape("\x1b[31mred\x07\r\u{9b}2J\u{7f}"), "\\u{1b}[31mred\\u{7}\\u{d}\\u{9b}2J\\u{7f}");
    }
}
