//! Encodes parameters in every style of the OpenAPI specification, with and without `explode`.

use super::parameters::{Parameter, ParameterLocation, ParameterStyle};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// Encodes all characters except those that RFC 3986 calls unreserved.
const ENCODE_RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Keeps the characters that `allowReserved` allows, except those that would start another parameter or end the query.
const ALLOW_RESERVED: &AsciiSet = &ENCODE_RESERVED
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

/// The length of an encoded parameter in bytes.
pub const MAX_LENGTH: usize = 60_000;

/// The encoded value of a parameter without nesting, as all styles except `deepObject` need it.
enum FlatValue {
    Scalar(String),
    Array(Vec<String>),
    Object(Vec<(String, String)>),
}

/// Encodes a value for the placeholder in a path.
pub fn path(parameter: &Parameter, value: &Value) -> Result<String, String> {
    let text = match (parameter.style, flatten(parameter, value)?) {
        (ParameterStyle::Label, FlatValue::Array(items)) if parameter.explode => format!(".{}", items.join(".")),
        (ParameterStyle::Label, FlatValue::Object(fields)) if parameter.explode => format!(".{}", pairs(&fields, "=").join(".")),
        (ParameterStyle::Label, value) => format!(".{}", join(value, ",")),
        (ParameterStyle::Matrix, FlatValue::Array(items)) if parameter.explode => {
            items.iter().map(|item| format!(";{}={item}", encode(&parameter.key, ENCODE_RESERVED))).collect()
        }
        (ParameterStyle::Matrix, FlatValue::Object(fields)) if parameter.explode => {
            pairs(&fields, "=").iter().map(|pair| format!(";{pair}")).collect()
        }
        (ParameterStyle::Matrix, value) => format!(";{}={}", encode(&parameter.key, ENCODE_RESERVED), join(value, ",")),
        (_, FlatValue::Object(fields)) if parameter.explode => pairs(&fields, "=").join(","),
        (_, value) => join(value, ","),
    };
    // An empty segment or a dot segment would change the path.
    if matches!(text.as_str(), "" | "." | "..") {
        return Err(format!("{} can't be '{text}' in a path", parameter.name));
    }
    Ok(text)
}

/// Encodes a value for the query, as pairs joined by `&`.
pub fn query(parameter: &Parameter, value: &Value) -> Result<String, String> {
    let key = encode(&parameter.key, ENCODE_RESERVED);
    if parameter.style == ParameterStyle::DeepObject {
        let mut pairs = String::new();
        encode_deep_object(&key, value, &mut pairs).map_err(|TooLong| too_long(parameter))?;
        return Ok(pairs);
    }
    Ok(match (parameter.style, flatten(parameter, value)?) {
        (_, FlatValue::Array(items)) if parameter.explode => items.iter().map(|item| format!("{key}={item}")).collect::<Vec<_>>().join("&"),
        (_, FlatValue::Object(fields)) if parameter.explode => pairs(&fields, "=").join("&"),
        (ParameterStyle::SpaceDelimited, value) => format!("{key}={}", join(value, "%20")),
        (ParameterStyle::PipeDelimited, value) => format!("{key}={}", join(value, "%7C")),
        (_, value) => format!("{key}={}", join(value, ",")),
    })
}

/// Encodes a value for a header.
pub fn header(parameter: &Parameter, value: &Value) -> Result<String, String> {
    if parameter.is_json {
        return Ok(value.to_string());
    }
    Ok(match value {
        Value::Array(items) => items.iter().map(|item| scalar(parameter, item)).collect::<Result<Vec<_>, _>>()?.join(","),
        Value::Object(fields) => {
            let separator = if parameter.explode { "=" } else { "," };
            let pair = |(key, value): (&String, &Value)| Ok(format!("{key}{separator}{}", scalar(parameter, value)?));
            fields.iter().map(pair).collect::<Result<Vec<_>, String>>()?.join(",")
        }
        other => scalar(parameter, other)?,
    })
}

fn flatten(parameter: &Parameter, value: &Value) -> Result<FlatValue, String> {
    let set = if parameter.allow_reserved && parameter.location == ParameterLocation::Query { ALLOW_RESERVED } else { ENCODE_RESERVED };
    if parameter.is_json {
        return Ok(FlatValue::Scalar(encode(&value.to_string(), set)));
    }
    Ok(match value {
        Value::Array(items) => {
            FlatValue::Array(items.iter().map(|item| Ok(encode(&scalar(parameter, item)?, set))).collect::<Result<_, String>>()?)
        }
        Value::Object(fields) => {
            let pair = |(key, value): (&String, &Value)| Ok((encode(key, ENCODE_RESERVED), encode(&scalar(parameter, value)?, set)));
            FlatValue::Object(fields.iter().map(pair).collect::<Result<_, String>>()?)
        }
        other => FlatValue::Scalar(encode(&scalar(parameter, other)?, set)),
    })
}

fn scalar(parameter: &Parameter, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Array(_) | Value::Object(_) => {
            Err(format!("{} has nested values, which its parameter style does not support", parameter.name))
        }
        Value::Null => Ok(String::new()),
        other => Ok(other.to_string()),
    }
}

/// Appends pairs such as `key[field]=value`. Checks the length, because a long key is repeated for each value.
fn encode_deep_object(key: &str, value: &Value, pairs: &mut String) -> Result<(), TooLong> {
    let text = match value {
        Value::Object(fields) => {
            return fields
                .iter()
                .try_for_each(|(name, value)| encode_deep_object(&format!("{key}%5B{}%5D", encode(name, ENCODE_RESERVED)), value, pairs));
        }
        Value::Array(items) => return items.iter().try_for_each(|item| encode_deep_object(key, item, pairs)),
        Value::String(text) => encode(text, ENCODE_RESERVED),
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

/// Returns the error for a parameter that exceeds [`MAX_LENGTH`].
pub fn too_long(parameter: &Parameter) -> String {
    format!("{} is longer than {MAX_LENGTH} bytes when encoded", parameter.name)
}

fn pairs(fields: &[(String, String)], separator: &str) -> Vec<String> {
    fields.iter().map(|(key, value)| format!("{key}{separator}{value}")).collect()
}

fn join(value: FlatValue, separator: &str) -> String {
    match value {
        FlatValue::Scalar(text) => text,
        FlatValue::Array(items) => items.join(separator),
        FlatValue::Object(fields) => pairs(&fields, separator).join(separator),
    }
}

fn encode(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).to_string()
}

#[cfg(test)]
mod tests {
    use super::{header, path, query};
    use crate::sdk::openapi::parameters::{Parameter, ParameterLocation, ParameterStyle};
    use serde_json::json;

    fn parameter(location: ParameterLocation, style: ParameterStyle, explode: bool) -> Parameter {
        Parameter {
            name: "color".into(),
            key: "color".into(),
            location,
            style,
            explode,
            allow_reserved: false,
            required: false,
            description: String::new(),
            schema: None,
            is_json: false,
        }
    }

    /// The examples in the table of the OpenAPI specification.
    #[test]
    fn every_style_is_encoded_as_specified() {
        use ParameterStyle::{DeepObject, Form, Label, Matrix, PipeDelimited, Simple, SpaceDelimited};
        let (scalar, array, object) = (json!("blue"), json!(["blue", "black", "brown"]), json!({ "B": 150, "G": 200, "R": 100 }));
        for (style, explode, expected) in [
            (Simple, false, ["blue", "blue,black,brown", "B,150,G,200,R,100"]),
            (Simple, true, ["blue", "blue,black,brown", "B=150,G=200,R=100"]),
            (Label, false, [".blue", ".blue,black,brown", ".B,150,G,200,R,100"]),
            (Label, true, [".blue", ".blue.black.brown", ".B=150.G=200.R=100"]),
            (Matrix, false, [";color=blue", ";color=blue,black,brown", ";color=B,150,G,200,R,100"]),
            (Matrix, true, [";color=blue", ";color=blue;color=black;color=brown", ";B=150;G=200;R=100"]),
        ] {
            let parameter = parameter(ParameterLocation::Path, style, explode);
            let encoded = [&scalar, &array, &object].map(|value| path(&parameter, value).unwrap());
            assert_eq!(encoded, expected, "{style:?} {explode}");
        }
        for (style, explode, expected) in [
            (Form, false, ["color=blue", "color=blue,black,brown", "color=B,150,G,200,R,100"]),
            (Form, true, ["color=blue", "color=blue&color=black&color=brown", "B=150&G=200&R=100"]),
            (SpaceDelimited, false, ["color=blue", "color=blue%20black%20brown", "color=B%20150%20G%20200%20R%20100"]),
            (PipeDelimited, false, ["color=blue", "color=blue%7Cblack%7Cbrown", "color=B%7C150%7CG%7C200%7CR%7C100"]),
            (DeepObject, true, ["color=blue", "color=blue&color=black&color=brown", "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100"]),
        ] {
            let parameter = parameter(ParameterLocation::Query, style, explode);
            let encoded = [&scalar, &array, &object].map(|value| query(&parameter, value).unwrap());
            assert_eq!(encoded, expected, "{style:?} {explode}");
        }
        assert_eq!(header(&parameter(ParameterLocation::Header, Simple, false), &object).unwrap(), "B,150,G,200,R,100");
        assert_eq!(header(&parameter(ParameterLocation::Header, Simple, true), &object).unwrap(), "B=150,G=200,R=100");
    }

    #[test]
    fn no_value_changes_the_rest_of_the_request() {
        let simple = parameter(ParameterLocation::Path, ParameterStyle::Simple, false);
        assert_eq!(path(&simple, &json!("a/../b?c#d%2e")).unwrap(), "a%2F..%2Fb%3Fc%23d%252e");
        for value in ["", ".", ".."] {
            assert!(path(&simple, &json!(value)).is_err(), "{value}");
        }
        let mut form = parameter(ParameterLocation::Query, ParameterStyle::Form, true);
        assert_eq!(query(&form, &json!("a&admin=1#x +é")).unwrap(), "color=a%26admin%3D1%23x%20%2B%C3%A9");
        form.allow_reserved = true;
        assert_eq!(query(&form, &json!("a/b:c?d&admin=1#x")).unwrap(), "color=a/b:c?d%26admin%3D1%23x");
        assert_eq!(
            query(&parameter(ParameterLocation::Cookie, ParameterStyle::Form, true), &json!("a; b=1")).unwrap(),
            "color=a%3B%20b%3D1"
        );
        let long =
            query(&parameter(ParameterLocation::Query, ParameterStyle::DeepObject, true), &json!({ "x".repeat(10_000): vec![0; 1000] }));
        assert_eq!(long.unwrap_err(), "color is longer than 60000 bytes when encoded");
        assert!(path(&simple, &json!([["nested"]])).is_err());
    }
}
