//! Recognises JSON with comments, which some editors accept.

/// Removes comments, and commas before a closing bracket.
pub fn without_comments(text: &str) -> String {
    let mut output = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = match character {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest[2..].find("*/").map_or("", |end| &rest[2 + end + 2..]);
                continue;
            }
            ']' | '}' => {
                let end = output.trim_end().len();
                if output[..end].ends_with(',') {
                    output.truncate(end - 1);
                }
                1
            }
            other => other.len_utf8(),
        };
        output.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    output
}

/// Returns the length of the string at the start of a text, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = true;
    for (position, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return position + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_and_trailing_commas_are_removed_outside_of_strings() {
        for (text, expected) in [
            ("{\"a\": 1, // one\n \"b\": [1, 2, ], /* two\n */ }", "{\"a\": 1, \n \"b\": [1, 2]}"),
            (r#"{"//": "/* a \" , ] */,}"}"#, r#"{"//": "/* a \" , ] */,}"}"#),
            ("/* open", ""),
            ("\"open \\", "\"open \\"),
            ("é // ä", "é "),
            ("/", "/"),
        ] {
            assert_eq!(without_comments(text), expected);
        }
    }
}
