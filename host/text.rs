//! Text from scripts, clients and servers, made safe to show.

/// Returns the text on one line, with each control character replaced by an escape sequence.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(one_line("a\nb\tc\u{1b}[1m\u{2028}é"), "a\\nb\\tc\\u{1b}[1m\u{2028}é");
    }
}
