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

/// Formats a number with a comma between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{grouped, one_line};

    #[test]
    fn digits_are_grouped() {
        let numbers = [0, 12, 999, 1000, 12_345, 1_000_000, u64::MAX].map(grouped);
        assert_eq!(numbers, ["0", "12", "999", "1,000", "12,345", "1,000,000", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(one_line("a\nb\tc\u{1b}[1m\u{2028}é"), "a\\nb\\tc\\u{1b}[1m\u{2028}é");
    }
}
