//! Text from scripts, clients and servers, made safe to show.

/// Returns the text on one line, with each control character replaced by an escape sequence.
pub fn one_line(text: &str) -> String {
    let mut line = String::new();
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
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of bytes, in the largest binary unit that divides it.
#[cfg(feature = "cli")]
pub fn size(bytes: u64) -> String {
    let units = [(1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", grouped(bytes / unit)),
        None => format!("{} {}", grouped(bytes), if bytes == 1 { "byte" } else { "bytes" }),
    }
}

#[cfg(test)]
mod tests {
    use super::{grouped, one_line};

    #[cfg(feature = "cli")]
    #[test]
    fn a_size_has_the_largest_unit_that_divides_it() {
        let sizes = [0, 1, 1023, 1024, 1536, 64 << 20, 4 << 30, 5_000_000, 1_048_577].map(super::size);
        assert_eq!(
            sizes,
            ["0 bytes", "1 byte", "1,023 bytes", "1 KiB", "1,536 bytes", "64 MiB", "4 GiB", "5,000,000 bytes", "1,048,577 bytes"]
        );
    }

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
