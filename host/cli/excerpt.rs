//! Positions in error messages: the file name of the script, and the source line with a marker below it.

use std::ops::Range;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The name of the script in messages of the sandbox, which never learns the name of a file.
pub const SANDBOX_NAME: &str = "script";

/// The mark that an editor may write at the start of a file. It belongs to no line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The maximum number of characters of a line that are shown. A script can be one line of a mebibyte.
const MAX_SHOWN: usize = 160;

/// The number of characters that are shown before a mark far into a long line.
const SHOWN_BEFORE: usize = 60;

/// The source text and the name under which messages refer to it.
pub struct Source<'a> {
    pub name: &'a str,
    pub text: &'a [u8],
}

/// A message that begins with a position in the script.
pub struct Located<'a> {
    line: usize,
    /// The characters of the line that the message is about, if they are known.
    marked: Option<Range<usize>>,
    text: Option<String>,
    message: &'a str,
}

impl Source<'_> {
    /// Finds the position at the start of a message, such as `script:12: `. The column of a syntax error is known, and counts from 1.
    pub fn locate<'a>(&self, message: &'a str, column: Option<u32>) -> Option<Located<'a>> {
        let (line, message) = message.strip_prefix(SANDBOX_NAME)?.strip_prefix(':')?.split_once(": ")?;
        let line: usize = line.parse().ok()?;
        line.checked_sub(1)?;
        // A message of the script can name any line.
        let text = self.line(line);
        let start = column.and_then(|column| usize::try_from(column).ok()?.checked_sub(1));
        let marked = start.map(|start| start..start + token_length(text.as_deref().unwrap_or_default(), start, message));
        Some(Located { line, marked, text, message })
    }

    /// Returns a message about a part of a line. Lines and columns count from 1; without a length, the rest of the line is marked.
    pub fn at<'a>(&self, line: u32, column: u32, length: u32, message: &'a str) -> Located<'a> {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        let start = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
        let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        let text = self.line(line);
        let end = if length == 0 { text.as_deref().map_or(end, |text| text.chars().count()) } else { end };
        Located { line, marked: Some(start..end.max(start)), text, message }
    }

    /// Returns a line of the script, without white space at its end.
    fn line(&self, number: usize) -> Option<String> {
        let script = self.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(self.text);
        let text = script.split(|byte| *byte == b'\n').nth(number.checked_sub(1)?)?;
        Some(String::from_utf8_lossy(text).trim_end().to_owned())
    }

    /// Replaces the name at the start of a line of a traceback.
    pub fn rename(&self, frame: &str) -> String {
        match frame.strip_prefix(SANDBOX_NAME) {
            Some(rest) if rest.starts_with(':') => format!("{}{rest}", self.name),
            _ => frame.to_owned(),
        }
    }
}

impl Located<'_> {
    /// Returns the message with its position, such as `report.luau:12:5: message`.
    pub fn message(&self, name: &str) -> String {
        let column = self.marked.as_ref().map(|marked| format!(":{}", marked.start + 1)).unwrap_or_default();
        format!("{name}:{}{column}: {}", self.line, self.message)
    }

    /// Returns the line and the marks below it: below the token if it is known, otherwise below the whole line.
    #[expect(clippy::disallowed_methods, reason = "repeats a mark for at most MAX_SHOWN characters")]
    pub fn excerpt(&self) -> Option<[String; 2]> {
        let text = self.text.as_deref().filter(|text| !text.trim().is_empty())?;
        let indent = text.chars().take_while(|character| character.is_whitespace()).count();
        let length = text.chars().count();
        // Spaces at the end of the line are not shown.
        let marked = self.marked.as_ref().map_or(indent..length, |marked| marked.start.min(length)..marked.end.min(length));
        let start = if marked.start > MAX_SHOWN - SHOWN_BEFORE { marked.start - SHOWN_BEFORE } else { 0 };
        let end = length.min(start + MAX_SHOWN);
        let part = |range: Range<usize>| text.chars().skip(range.start).take(range.len()).collect::<String>();
        let cut = |is_cut: bool| if is_cut { "…" } else { "" };
        // The marks are below the text if tabs stay tabs.
        let before = part(start..marked.start.min(end));
        let space: String = before
            .chars()
            .map(|character| if character == '\t' { "\t".into() } else { " ".repeat(character.width().unwrap_or(1)) })
            .collect();
        let marks = "^".repeat(part(marked.start.min(end)..marked.end.min(end)).width().max(1));
        let margin = " ".repeat(self.line.to_string().len());
        let (line, shown) = (self.line, part(start..end));
        Some([
            format!("  {line} | {}{shown}{}", cut(start > 0), cut(end < length)),
            format!("  {margin} | {}{space}{marks}", if start > 0 { " " } else { "" }),
        ])
    }
}

/// Returns the number of characters of the token that a syntax error names, as in `Expected 'then', got 'x'`, if it is at the position.
fn token_length(line: &str, start: usize, message: &str) -> usize {
    let got = message.rsplit_once(", got '").and_then(|(_, got)| got.split_once('\''));
    let token = got.map(|(token, _)| token).filter(|token| line.chars().skip(start).take(token.chars().count()).eq(token.chars()));
    token.map_or(0, |token| token.chars().count())
}

#[cfg(test)]
mod tests {
    use super::Source;

    fn shown(text: &str, message: &str) -> (String, Option<[String; 2]>) {
        shown_at(text, message, None)
    }

    fn shown_at(text: &str, message: &str, column: Option<u32>) -> (String, Option<[String; 2]>) {
        let located = Source { name: "a.luau", text: text.as_bytes() }.locate(message, column).expect("a position");
        (located.message("a.luau"), located.excerpt())
    }

    fn marked(line: &str, marks: &str) -> Option<[String; 2]> {
        Some([line.into(), marks.into()])
    }

    #[test]
    fn the_column_of_a_syntax_error_is_marked() {
        let text = "local x = 1\r\n\tif ü == 漢 the\r\n";
        assert_eq!(
            shown_at(text, "script:2: Expected 'then' when parsing if statement, got 'the'", Some(12)),
            (
                "a.luau:2:12: Expected 'then' when parsing if statement, got 'the'".into(),
                marked("  2 | \tif ü == 漢 the", "    | \t           ^^^")
            )
        );
        // The token occurs twice, and a byte order mark is no character of the line.
        assert_eq!(
            shown_at("\u{feff}local = = 3", "script:1: Expected identifier, got '='", Some(7)),
            ("a.luau:1:7: Expected identifier, got '='".into(), marked("  1 | local = = 3", "    |       ^"))
        );
        // A message without a token, and one whose token is elsewhere.
        assert_eq!(shown_at("x =", "script:1: Expected expression, got <eof>", Some(4)).1, marked("  1 | x =", "    |    ^"));
        assert_eq!(
            shown_at("a = 'b", "script:1: Malformed string; did you forget to finish it?", Some(5)).1,
            marked("  1 | a = 'b", "    |     ^")
        );
        assert_eq!(shown_at("ends end", "script:1: a, got 'end'", Some(2)).1, marked("  1 | ends end", "    |  ^"));
        // A column beyond the line, as a hostile guest may report.
        assert_eq!(shown_at("ab", "script:1: a, got 'end'", Some(u32::MAX)).1, marked("  1 | ab", "    |   ^"));
    }

    #[test]
    fn a_line_without_a_column_is_marked_from_its_first_character() {
        assert_eq!(shown("  error('x')", "script:1: x"), ("a.luau:1: x".into(), marked("  1 |   error('x')", "    |   ^^^^^^^^^^")));
    }

    #[test]
    fn a_position_that_does_not_exist_has_no_excerpt() {
        assert_eq!(shown("return", "script:7: x"), ("a.luau:7: x".into(), None));
        assert_eq!(shown("a\n\nb", "script:2: x"), ("a.luau:2: x".into(), None));
        let source = Source { name: "a.luau", text: b"" };
        assert!(
            ["no position", "script:x: y", "script:0: x", "script: x", "other:1: x"]
                .iter()
                .all(|message| source.locate(message, None).is_none())
        );
    }

    #[test]
    fn a_long_line_is_shortened_around_the_mark() {
        let text = format!("{} then {}", "x".repeat(300), "y".repeat(300));
        let [line, marks] = shown_at(&text, "script:1: a, got 'then'", Some(302)).1.expect("an excerpt");
        assert_eq!(line, format!("  1 | …{} then {}…", "x".repeat(59), "y".repeat(95)));
        assert_eq!(marks, format!("    | {}^^^^", " ".repeat(61)));
        let [line, marks] = shown(&text, "script:1: a").1.expect("an excerpt");
        assert_eq!((line, marks), (format!("  1 | {}…", "x".repeat(160)), format!("    | {}", "^".repeat(160))));
    }

    #[test]
    fn frames_of_the_script_have_the_name_of_its_file() {
        let source = Source { name: "a.luau", text: b"" };
        assert_eq!(
            ["script:3 function f", "[C] function error", "scripts/x.luau:1"].map(|frame| source.rename(frame)),
            ["a.luau:3 function f", "[C] function error", "scripts/x.luau:1"]
        );
    }
}
