//! Positions in error messages: the name of the script's file, and the line of the source with a mark below.

use std::ops::Range;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The name of the script in messages of the sandbox, which never learns the name of a file.
pub const SANDBOX_NAME: &str = "script";

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
    /// Finds the position at the start of a message, such as `script:12: `.
    pub fn locate<'a>(&self, message: &'a str) -> Option<Located<'a>> {
        let (line, message) = message.strip_prefix(SANDBOX_NAME)?.strip_prefix(':')?.split_once(": ")?;
        let line: usize = line.parse().ok()?;
        // A message of the script can name any line.
        let text = self.text.split(|byte| *byte == b'\n').nth(line.checked_sub(1)?).map(|text| {
            let text = String::from_utf8_lossy(text);
            text.trim_end().to_owned()
        });
        let marked = text.as_deref().and_then(|text| find_token(text, message));
        Some(Located { line, marked, text, message })
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
    pub fn excerpt(&self) -> Option<[String; 2]> {
        let text = self.text.as_deref().filter(|text| !text.trim().is_empty())?;
        let indent = text.chars().take_while(|character| character.is_whitespace()).count();
        let length = text.chars().count();
        let marked = self.marked.clone().unwrap_or(indent..length);
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

/// Returns the position of the token that a syntax error names, as in `Expected 'then', got 'x'`, if the line contains it once.
fn find_token(line: &str, message: &str) -> Option<Range<usize>> {
    let got = message.split_once(", got ")?.1;
    if got.starts_with("<eof>") {
        let end = line.chars().count();
        return Some(end..end);
    }
    let token = got.strip_prefix('\'')?.split_once('\'').map(|(token, _)| token).filter(|token| !token.is_empty())?;
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut places = line.match_indices(token).filter(|(start, _)| {
        let before = line[..*start].chars().next_back().is_some_and(is_word);
        let after = line[start + token.len()..].chars().next().is_some_and(is_word);
        !(token.starts_with(is_word) && before || token.ends_with(is_word) && after)
    });
    let (start, _) = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let start = line[..start].chars().count();
    Some(start..start + token.chars().count())
}

#[cfg(test)]
mod tests {
    use super::Source;

    fn shown(text: &str, message: &str) -> (String, Option<[String; 2]>) {
        let located = Source { name: "a.luau", text: text.as_bytes() }.locate(message).expect("a position");
        (located.message("a.luau"), located.excerpt())
    }

    fn marked(line: &str, marks: &str) -> Option<[String; 2]> {
        Some([line.into(), marks.into()])
    }

    #[test]
    fn a_token_that_occurs_once_is_marked() {
        let text = "local x = 1\r\n\tif ü == 漢 the\r\n";
        assert_eq!(
            shown(text, "script:2: Expected 'then' when parsing if statement, got 'the'"),
            (
                "a.luau:2:12: Expected 'then' when parsing if statement, got 'the'".into(),
                marked("  2 | \tif ü == 漢 the", "    | \t           ^^^")
            )
        );
        assert_eq!(
            shown("local = = 3", "script:1: Expected identifier, got '='"),
            ("a.luau:1: Expected identifier, got '='".into(), marked("  1 | local = = 3", "    | ^^^^^^^^^^^"))
        );
        assert_eq!(shown("x =", "script:1: Expected expression, got <eof>").1, marked("  1 | x =", "    |    ^"));
        assert_eq!(shown("ends end", "script:1: a, got 'end'").1, marked("  1 | ends end", "    |      ^^^"));
    }

    #[test]
    fn a_line_without_a_known_token_is_marked_from_its_first_character() {
        assert_eq!(shown("  error('x')", "script:1: x"), ("a.luau:1: x".into(), marked("  1 |   error('x')", "    |   ^^^^^^^^^^")));
    }

    #[test]
    fn a_position_that_does_not_exist_has_no_excerpt() {
        assert_eq!(shown("return", "script:7: x"), ("a.luau:7: x".into(), None));
        assert_eq!(shown("a\n\nb", "script:2: x"), ("a.luau:2: x".into(), None));
        let source = Source { name: "a.luau", text: b"" };
        assert!(
            ["no position", "script:x: y", "script:0: x", "script: x", "other:1: x"].iter().all(|message| source.locate(message).is_none())
        );
    }

    #[test]
    fn a_long_line_is_shortened_around_the_mark() {
        let text = format!("{} then {}", "x".repeat(300), "y".repeat(300));
        let [line, marks] = shown(&text, "script:1: a, got 'then'").1.expect("an excerpt");
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
