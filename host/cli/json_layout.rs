//! Indented and coloured JSON for people.
//!
//! Works on the text, so that numbers keep their digits and objects their order. Writes while it reads: indentation can make a text many
//! times longer, so it is never held in memory.

use super::escape::escape_json;
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

const KEY_STYLE: Style = AnsiColor::Blue.on_default().bold();
const STRING_STYLE: Style = AnsiColor::Green.on_default();
const LITERAL_STYLE: Style = AnsiColor::Yellow.on_default();

/// Spaces per level.
const INDENT: usize = 2;

/// Writes valid JSON with one member per line, and a line break at the end.
pub fn write_indented(json: &str, colours: bool, out: &mut impl Write) -> io::Result<()> {
    let mut depth = 0_usize;
    let mut tokens = Tokens(json).peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek().copied().unwrap_or_default();
        match token {
            "[" | "{" if matches!(next, "]" | "}") => {
                write!(out, "{token}{next}")?;
                tokens.next();
            }
            "[" | "{" => {
                depth += 1;
                out.write_all(token.as_bytes())?;
                break_line(depth, out)?;
            }
            "]" | "}" => {
                depth = depth.saturating_sub(1);
                break_line(depth, out)?;
                out.write_all(token.as_bytes())?;
            }
            "," => {
                out.write_all(b",")?;
                break_line(depth, out)?;
            }
            ":" => out.write_all(b": ")?,
            value => {
                let style = match (value.starts_with('"'), next) {
                    (true, ":") => KEY_STYLE,
                    (true, _) => STRING_STYLE,
                    (false, _) => LITERAL_STYLE,
                };
                let value = escape_json(value);
                if colours { write!(out, "{style}{value}{style:#}")? } else { out.write_all(value.as_bytes())? }
            }
        }
    }
    out.write_all(b"\n")
}

fn break_line(depth: usize, out: &mut impl Write) -> io::Result<()> {
    write!(out, "\n{:width$}", "", width = depth * INDENT)
}

/// The tokens of a valid JSON text, without the white space between them.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_ascii_start();
        let size = match rest.bytes().next()? {
            b'"' => string_size(rest),
            b'[' | b']' | b'{' | b'}' | b',' | b':' => 1,
            _ => rest.find(|next: char| matches!(next, ',' | ']' | '}') || next.is_ascii_whitespace()).unwrap_or(rest.len()),
        };
        let (token, rest) = rest.split_at(size);
        self.0 = rest;
        Some(token)
    }
}

/// Returns the size of the string at the start of the text, with its quotes.
fn string_size(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::write_indented;

    fn indented(json: &str, colours: bool) -> String {
        let mut out = Vec::new();
        write_indented(json, colours, &mut out).expect("a vector accepts everything");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn members_are_on_their_own_lines_and_tokens_are_unchanged() {
        let json = r#"{"a,\"]":[1.50,12345678901234567890,[]],"empty":{},"ü":null,"s":"x\\"}"#;
        let expected = r#"{
  "a,\"]": [
    1.50,
    12345678901234567890,
    []
  ],
  "empty": {},
  "ü": null,
  "s": "x\\"
}
"#;
        assert_eq!(indented(json, false), expected);
        assert_eq!(indented("7", false), "7\n");
        assert_eq!(indented(" [ 1 ,\n 2 ] ", false), "[\n  1,\n  2\n]\n");
    }

    #[test]
    fn keys_strings_and_other_values_have_their_own_colours() {
        let expected = "{\n  \u{1b}[1m\u{1b}[34m\"a\"\u{1b}[0m: \u{1b}[32m\"x\"\u{1b}[0m,\n  \u{1b}[1m\u{1b}[34m\"b\"\u{1b}[0m: \u{1b}[33mtrue\u{1b}[0m\n}\n";
        assert_eq!(indented(r#"{"a":"x","b":true}"#, true), expected);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(indented("\"\u{9b}2J\u{202e}\"", false), "\"\\u009b2J\\u202e\"\n");
    }
}
