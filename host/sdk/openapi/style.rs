//! Parameters as the specification writes them: every style, with and without `explode`.

use super::operation::{Parameter, Place, Style};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// All but what RFC 3986 calls unreserved.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What `allowReserved` leaves alone, but for what would begin another parameter or end the query.
const RESERVED: &AsciiSet = &PART
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';');

/// Bytes of a parameter as it is written.
pub const MAX_LENGTH: usize = 60_000;

/// A value of a parameter, flat as all styles but one want it.
enum Flat {
    One(String),
    List(Vec<String>),
    Fields(Vec<(String, String)>),
}

/// What stands for a path's placeholder.
pub fn path(parameter: &Parameter, value: &Value) -> Result<String, String> {
    let text = match (parameter.style, flat(parameter, value)?) {
        (Style::Label, Flat::List(items)) if parameter.explode => format!(".{}", items.join(".")),
        (Style::Label, Flat::Fields(fields)) if parameter.explode => format!(".{}", pairs(&fields, "=").join(".")),
        (Style::Label, value) => format!(".{}", joined(value, ",")),
        (Style::Matrix, Flat::List(items)) if parameter.explode => {
            items.iter().map(|item| format!(";{}={item}", encoded(&parameter.key, PART))).collect()
        }
        (Style::Matrix, Flat::Fields(fields)) if parameter.explode => pairs(&fields, "=").iter().map(|pair| format!(";{pair}")).collect(),
        (Style::Matrix, value) => format!(";{}={}", encoded(&parameter.key, PART), joined(value, ",")),
        (_, Flat::Fields(fields)) if parameter.explode => pairs(&fields, "=").join(","),
        (_, value) => joined(value, ","),
    };
    // An empty part, or one of dots, would be another path.
    if matches!(text.as_str(), "" | "." | "..") {
        return Err(format!("{} can't be '{text}' in a path", parameter.name));
    }
    Ok(text)
}

/// The part of a query that the parameter is: pairs, joined by `&`.
pub fn query(parameter: &Parameter, value: &Value) -> Result<String, String> {
    let key = encoded(&parameter.key, PART);
    if parameter.style == Style::DeepObject {
        let mut pairs = String::new();
        deep(&key, value, &mut pairs).map_err(|TooLong| too_long(parameter))?;
        return Ok(pairs);
    }
    Ok(match (parameter.style, flat(parameter, value)?) {
        (_, Flat::List(items)) if parameter.explode => items.iter().map(|item| format!("{key}={item}")).collect::<Vec<_>>().join("&"),
        (_, Flat::Fields(fields)) if parameter.explode => pairs(&fields, "=").join("&"),
        (Style::SpaceDelimited, value) => format!("{key}={}", joined(value, "%20")),
        (Style::PipeDelimited, value) => format!("{key}={}", joined(value, "%7C")),
        (_, value) => format!("{key}={}", joined(value, ",")),
    })
}

/// The value of a header.
pub fn header(parameter: &Parameter, value: &Value) -> Result<String, String> {
    if parameter.is_json {
        return Ok(value.to_string());
    }
    Ok(match value {
        Value::Array(items) => items.iter().map(|item| scalar(parameter, item)).collect::<Result<Vec<_>, _>>()?.join(","),
        Value::Object(fields) => {
            let between = if parameter.explode { "=" } else { "," };
            let pair = |(key, value): (&String, &Value)| Ok(format!("{key}{between}{}", scalar(parameter, value)?));
            fields.iter().map(pair).collect::<Result<Vec<_>, String>>()?.join(",")
        }
        one => scalar(parameter, one)?,
    })
}

fn flat(parameter: &Parameter, value: &Value) -> Result<Flat, String> {
    let set = if parameter.allow_reserved && parameter.place == Place::Query { RESERVED } else { PART };
    if parameter.is_json {
        return Ok(Flat::One(encoded(&value.to_string(), set)));
    }
    Ok(match value {
        Value::Array(items) => {
            Flat::List(items.iter().map(|item| Ok(encoded(&scalar(parameter, item)?, set))).collect::<Result<_, String>>()?)
        }
        Value::Object(fields) => {
            let pair = |(key, value): (&String, &Value)| Ok((encoded(key, PART), encoded(&scalar(parameter, value)?, set)));
            Flat::Fields(fields.iter().map(pair).collect::<Result<_, String>>()?)
        }
        one => Flat::One(encoded(&scalar(parameter, one)?, set)),
    })
}

fn scalar(parameter: &Parameter, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Array(_) | Value::Object(_) => Err(format!("{} is nested, which its place in the request has no form for", parameter.name)),
        Value::Null => Ok(String::new()),
        other => Ok(other.to_string()),
    }
}

/// A long name many times is longer than any argument.
fn deep(key: &str, value: &Value, pairs: &mut String) -> Result<(), TooLong> {
    let text = match value {
        Value::Object(fields) => {
            return fields.iter().try_for_each(|(name, value)| deep(&format!("{key}%5B{}%5D", encoded(name, PART)), value, pairs));
        }
        Value::Array(items) => return items.iter().try_for_each(|item| deep(key, item, pairs)),
        Value::String(text) => encoded(text, PART),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    if pairs.len() + key.len() + text.len() > MAX_LENGTH {
        return Err(TooLong);
    }
    if !pairs.is_empty() {
        pairs.push('&');
    }
    pairs.push_str(&format!("{key}={text}"));
    Ok(())
}

struct TooLong;

/// What is told of a parameter that would fill a request.
pub fn too_long(parameter: &Parameter) -> String {
    format!("{} is longer than {MAX_LENGTH} bytes when it is written", parameter.name)
}

fn pairs(fields: &[(String, String)], between: &str) -> Vec<String> {
    fields.iter().map(|(key, value)| format!("{key}{between}{value}")).collect()
}

fn joined(value: Flat, between: &str) -> String {
    match value {
        Flat::One(text) => text,
        Flat::List(items) => items.join(between),
        Flat::Fields(fields) => pairs(&fields, between).join(between),
    }
}

fn encoded(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).to_string()
}

#[cfg(test)]
mod tests {
    use super::{header, path, query};
    use crate::sdk::openapi::operation::{Parameter, Place, Style};
    use serde_json::json;

    fn parameter(place: Place, style: Style, explode: bool) -> Parameter {
        Parameter {
            name: "color".into(),
            key: "color".into(),
            place,
            style,
            explode,
            allow_reserved: false,
            required: false,
            description: String::new(),
            default: None,
            schema: None,
            is_json: false,
        }
    }

    /// The table of the specification.
    #[test]
    fn every_style_is_written_as_specified() {
        use Style::{DeepObject, Form, Label, Matrix, PipeDelimited, Simple, SpaceDelimited};
        let (one, list, fields) = (json!("blue"), json!(["blue", "black", "brown"]), json!({ "B": 150, "G": 200, "R": 100 }));
        for (style, explode, expected) in [
            (Simple, false, ["blue", "blue,black,brown", "B,150,G,200,R,100"]),
            (Simple, true, ["blue", "blue,black,brown", "B=150,G=200,R=100"]),
            (Label, false, [".blue", ".blue,black,brown", ".B,150,G,200,R,100"]),
            (Label, true, [".blue", ".blue.black.brown", ".B=150.G=200.R=100"]),
            (Matrix, false, [";color=blue", ";color=blue,black,brown", ";color=B,150,G,200,R,100"]),
            (Matrix, true, [";color=blue", ";color=blue;color=black;color=brown", ";B=150;G=200;R=100"]),
        ] {
            let parameter = parameter(Place::Path, style, explode);
            let written = [&one, &list, &fields].map(|value| path(&parameter, value).unwrap());
            assert_eq!(written, expected, "{style:?} {explode}");
        }
        for (style, explode, expected) in [
            (Form, false, ["color=blue", "color=blue,black,brown", "color=B,150,G,200,R,100"]),
            (Form, true, ["color=blue", "color=blue&color=black&color=brown", "B=150&G=200&R=100"]),
            (SpaceDelimited, false, ["color=blue", "color=blue%20black%20brown", "color=B%20150%20G%20200%20R%20100"]),
            (PipeDelimited, false, ["color=blue", "color=blue%7Cblack%7Cbrown", "color=B%7C150%7CG%7C200%7CR%7C100"]),
            (DeepObject, true, ["color=blue", "color=blue&color=black&color=brown", "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100"]),
        ] {
            let parameter = parameter(Place::Query, style, explode);
            let written = [&one, &list, &fields].map(|value| query(&parameter, value).unwrap());
            assert_eq!(written, expected, "{style:?} {explode}");
        }
        assert_eq!(header(&parameter(Place::Header, Simple, false), &fields).unwrap(), "B,150,G,200,R,100");
        assert_eq!(header(&parameter(Place::Header, Simple, true), &fields).unwrap(), "B=150,G=200,R=100");
    }

    #[test]
    fn no_value_changes_what_is_around_it() {
        let simple = parameter(Place::Path, Style::Simple, false);
        assert_eq!(path(&simple, &json!("a/../b?c#d%2e")).unwrap(), "a%2F..%2Fb%3Fc%23d%252e");
        for value in ["", ".", ".."] {
            assert!(path(&simple, &json!(value)).is_err(), "{value}");
        }
        let mut form = parameter(Place::Query, Style::Form, true);
        assert_eq!(query(&form, &json!("a&admin=1#x +é")).unwrap(), "color=a%26admin%3D1%23x%20%2B%C3%A9");
        form.allow_reserved = true;
        assert_eq!(query(&form, &json!("a/b:c?d&admin=1#x")).unwrap(), "color=a/b:c?d%26admin%3D1%23x");
        assert_eq!(query(&parameter(Place::Cookie, Style::Form, true), &json!("a; b=1")).unwrap(), "color=a%3B%20b%3D1");
        let long = query(&parameter(Place::Query, Style::DeepObject, true), &json!({ "x".repeat(10_000): vec![0; 1000] }));
        assert_eq!(long.unwrap_err(), "color is longer than 60000 bytes when it is written");
        assert!(path(&simple, &json!([["nested"]])).is_err());
    }
}
