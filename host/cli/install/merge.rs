//! Adds an entry to a JSON text, and keeps every other byte of it.

use super::comments::without_comments;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::{Value, ser::PrettyFormatter, value::RawValue};
use std::{fmt, ops::Range};

/// The indentation of a new file.
const DEFAULT_INDENT: &str = "  ";

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The reason why an entry was not added.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("it is not valid JSON: {0}")]
    Invalid(serde_json::Error),
    #[error("it has comments or trailing commas, which would be lost")]
    Comments,
    #[error("\"{0}\" is not an object")]
    NotAnObject(String),
    #[error("it has an entry \"{0}\" already; use --force to replace it")]
    Exists(String),
}

/// Adds `name` to the object `section` of a JSON object. Returns the new text, or `None` if the entry is already there.
///
/// An empty text is an empty object. `replace` replaces an entry with another value.
pub fn add(text: &str, section: &str, name: &str, entry: &impl Serialize, replace: bool) -> Result<Option<String>, MergeError> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if body.trim().is_empty() {
        let style = Style { newline: "\n", unit: Some(DEFAULT_INDENT) };
        return Ok(Some(format!("{}\n", style.render(&nested(section, &nested(name, entry)), ""))));
    }
    let root = Object::parse(text, body).map_err(|error| match Object::parse("", &without_comments(body)) {
        Ok(_) => MergeError::Comments,
        Err(_) => MergeError::Invalid(error),
    })?;
    let style = Style { newline: if body.contains("\r\n") { "\r\n" } else { "\n" }, unit: root.indent(text) };
    let (range, replacement) = match root.get(section) {
        None => root.insertion(text, &style, "", section, &nested(name, entry)),
        Some(value) => {
            let servers = Object::parse(text, value).map_err(|_| MergeError::NotAnObject(section.into()))?;
            match servers.get(name) {
                Some(existing) if serde_json::from_str::<Value>(existing).ok() == serde_json::to_value(entry).ok() => return Ok(None),
                Some(_) if !replace => return Err(MergeError::Exists(name.into())),
                Some(existing) => (range_in(text, existing), style.render(entry, servers.indent(text).unwrap_or_default())),
                None => servers.insertion(text, &style, style.unit.unwrap_or_default(), name, entry),
            }
        }
    };
    Ok(Some([&text[..range.start], &replacement, &text[range.end..]].concat()))
}

fn nested<'a, T: Serialize>(key: &'a str, value: &'a T) -> impl Serialize + use<'a, T> {
    std::collections::BTreeMap::from([(key, value)])
}

/// The layout of a JSON text.
struct Style<'a> {
    newline: &'a str,
    /// The indentation of one level, or `None` if the text is on one line.
    unit: Option<&'a str>,
}

impl Style<'_> {
    /// Returns a value as JSON. Its lines after the first one begin with `indent`.
    fn render(&self, value: &impl Serialize, indent: &str) -> String {
        let mut json = Vec::new();
        let written = match self.unit {
            Some(unit) => {
                let formatter = PrettyFormatter::with_indent(unit.as_bytes());
                value.serialize(&mut serde_json::Serializer::with_formatter(&mut json, formatter))
            }
            None => value.serialize(&mut serde_json::Serializer::new(&mut json)),
        };
        debug_assert!(written.is_ok(), "strings and lists are always JSON");
        String::from_utf8_lossy(&json).replace('\n', &format!("{}{indent}", self.newline))
    }
}

/// An object inside a text. Its members keep their order and their text.
struct Object<'a> {
    /// The object itself, from brace to brace.
    range: Range<usize>,
    members: Vec<(String, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// Parses a part of a text.
    fn parse(text: &str, part: &'a str) -> Result<Self, serde_json::Error> {
        let object: &RawValue = serde_json::from_str(part)?;
        let Members(members) = serde_json::from_str(object.get())?;
        Ok(Self { range: range_in(text, object.get()), members })
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.members.iter().find(|member| member.0 == key).map(|member| member.1.get())
    }

    /// Returns the white space between the opening brace and the first member.
    fn leading<'t>(&self, text: &'t str) -> &'t str {
        let inside = &text[self.range.start + 1..self.range.end];
        &inside[..inside.len() - inside.trim_start().len()]
    }

    /// Returns the indentation of the members, or `None` if they are on the line of the brace. An empty object has the default.
    fn indent<'t>(&self, text: &'t str) -> Option<&'t str> {
        if self.members.is_empty() {
            return Some(DEFAULT_INDENT);
        }
        self.leading(text).rsplit_once('\n').map(|(_, indent)| indent)
    }

    /// Returns the position and the text of a new last member. `outer` is the indentation of the object itself.
    fn insertion(&self, text: &str, style: &Style<'_>, outer: &str, key: &str, value: &impl Serialize) -> (Range<usize>, String) {
        let key = Value::from(key);
        if let Some((_, last)) = self.members.last() {
            let end = range_in(text, last.get()).end;
            let value = style.render(value, self.indent(text).unwrap_or_default());
            let space = if style.unit.is_some() { " " } else { "" };
            return (end..end, format!(",{}{key}:{space}{value}", self.leading(text)));
        }
        let members = match style.unit {
            Some(unit) => {
                let (newline, indent) = (style.newline, [outer, unit].concat());
                format!("{{{newline}{indent}{key}: {}{newline}{outer}}}", style.render(value, &indent))
            }
            None => format!("{{{key}:{}}}", style.render(value, "")),
        };
        (self.range.clone(), members)
    }
}

/// Returns the position of a part of a text. The result for another text is empty.
fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    if start.saturating_add(part.len()) <= text.len() { start..start + part.len() } else { 0..0 }
}

/// The members of an object in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(String, &RawValue)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            // Programs disagree on which of them counts.
            if members.iter().any(|member| member.0 == key) {
                return Err(A::Error::custom(format!("the key \"{key}\" occurs twice")));
            }
            members.push((key, value));
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::{MergeError, add};
    use serde_json::json;

    /// Adds `{"command": "c"}` as `new` to `servers`.
    fn added(text: &str) -> String {
        let entry = json!({ "command": "c" });
        let merged = add(text, "servers", "new", &entry, false).unwrap().unwrap();
        let parsed: serde_json::Value = serde_json::from_str(merged.trim_start_matches('\u{feff}')).unwrap();
        assert_eq!(parsed["servers"]["new"], entry, "{merged}");
        assert!(add(&merged, "servers", "new", &entry, false).unwrap().is_none(), "a second time changes nothing");
        merged
    }

    #[test]
    fn an_entry_is_added_in_the_layout_of_the_text() {
        let new = "{\n  \"servers\": {\n    \"new\": {\n      \"command\": \"c\"\n    }\n  }\n}";
        assert_eq!(added(""), format!("{new}\n"));
        assert_eq!(added(" \n"), format!("{new}\n"));
        assert_eq!(added("{}\n"), format!("{new}\n"));
        assert_eq!(added("{\"servers\": {} }"), "{\"servers\": {\"new\":{\"command\":\"c\"}} }");
        assert_eq!(added(r#"{"a":1,"servers":{"x":{}}}"#), r#"{"a":1,"servers":{"x":{},"new":{"command":"c"}}}"#);
        assert_eq!(added("{\n\t\"servers\": {}\n}"), "{\n\t\"servers\": {\n\t\t\"new\": {\n\t\t\t\"command\": \"c\"\n\t\t}\n\t}\n}");
        assert_eq!(
            added("\u{feff}{\r\n    \"servers\": {\r\n        \"x\": [1,  2]\r\n    }\r\n}\r\n"),
            "\u{feff}{\r\n    \"servers\": {\r\n        \"x\": [1,  2],\r\n        \"new\": {\r\n            \"command\": \"c\"\r\n        }\r\n    }\r\n}\r\n"
        );
    }

    #[test]
    fn everything_else_keeps_its_order_and_its_text() {
        let text = "{\n  \"z\": 1.50,\n  \"servers\": {\n    \"z\": {\"e\\u00e9\":  1e2},\n    \"a\": 12345678901234567890\n  },\n  \"a\": [ ]\n}\n";
        let merged = added(text);
        let entry = ",\n    \"new\": {\n      \"command\": \"c\"\n    }";
        assert_eq!(merged, text.replace("890\n", &format!("890{entry}\n")));
        assert_eq!(merged.replacen(entry, "", 1), text);
    }

    #[test]
    fn another_entry_of_the_same_name_is_replaced_only_on_request() {
        let text = "{\n  \"servers\": {\n    \"new\": {\n      \"command\": \"old\"\n    },\n    \"x\": 1\n  }\n}\n";
        let entry = json!({ "command": "c" });
        let error = add(text, "servers", "new", &entry, false).unwrap_err();
        assert_eq!(error.to_string(), "it has an entry \"new\" already; use --force to replace it");
        assert_eq!(add(text, "servers", "new", &entry, true).unwrap().unwrap(), text.replace("old", "c"));
    }

    #[test]
    fn other_texts_are_rejected() {
        for (text, message) in [
            ("[]", "it is not valid JSON: invalid type: sequence, expected an object at line 1 column 0"),
            ("{", "it is not valid JSON: EOF while parsing an object at line 1 column 1"),
            ("{\"a\": 1, \"a\": 2}", "it is not valid JSON: the key \"a\" occurs twice at line 1 column 16"),
            ("{} x", "it is not valid JSON: trailing characters at line 1 column 4"),
            ("{\"servers\": []}", "\"servers\" is not an object"),
            ("{ // comment\n}", "it has comments or trailing commas, which would be lost"),
            ("{\"a\": [1,],}", "it has comments or trailing commas, which would be lost"),
        ] {
            let error: MergeError = add(text, "servers", "new", &1, false).unwrap_err();
            assert_eq!(error.to_string(), message, "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(add(&format!("{{\"a\": {deep}"), "servers", "new", &1, false).is_err());
    }
}
