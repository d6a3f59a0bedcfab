//! The JSON library of the guest, compared with serde_json: the decoder, and both encoders.

use crate::{input::Input, runtime::block_on};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{collections::BTreeMap, fmt, sync::LazyLock, time::Duration};
use toolscript::{Engine, Limits, RunOptions, Script};

/// The maximum nesting of arrays and objects.
const MAX_DEPTH: usize = 128;

/// Integers beyond this are strings in scripts.
const MAX_INTEGER: u64 = 1 << 53;

/// Returns the value, as the result of the script and encoded with `json.encode`; or nothing if the text is invalid.
const SCRIPT: &str = "
    local text, indent = ...
    text = base64.decode(text)
    local ok, value = pcall(json.decode, text, { null = json.null })
    local without_null, other = pcall(json.decode, text)
    assert(ok == without_null)
    if not ok then
        assert(string.find(value, '^json.decode: .+ at line %d+, column %d+$'), value)
        return
    end
    -- The result is one level deeper.
    local is_nested = pcall(json.encode, { value })
    return { if is_nested then value else 'too deep', json.encode(value), json.encode(value, { indent = tonumber(indent) }), json.encode(other) }
";

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::builder().concurrency(1).build().expect("an engine"));

#[derive(Debug, PartialEq)]
enum Value {
    Null,
    Bool(bool),
    /// The bits of a double.
    Number(u64),
    String(String),
    Array(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let indent = (input.u8() % 17).to_string();
    let text = input.rest();
    let limits = Limits::default().with_timeout(Duration::from_secs(10));
    let script = Script::new(SCRIPT).with_arguments([BASE64.encode(text), indent]);
    let run = block_on(ENGINE.run(&script, RunOptions::default().with_limits(limits))).expect("the run is accepted");
    let result = run.outcome.result.expect("the script does not fail");

    let expected = str::from_utf8(text).ok().and_then(|text| read(text, Integers::AsInScripts, 0));
    if result.get() == "null" {
        assert_eq!(expected, None, "the guest rejects {:?}", String::from_utf8_lossy(text));
        return;
    }
    let expected = expected.unwrap_or_else(|| panic!("the guest accepts {:?}", String::from_utf8_lossy(text)));
    let results: [Box<RawValue>; 4] = serde_json::from_str(result.get()).expect("four values");
    let texts: Vec<String> = results[1..].iter().map(|text| serde_json::from_str(text.get()).expect("a text")).collect();
    let is_too_deep = results[0].get() == "\"too deep\"" && depth(&expected) == MAX_DEPTH;
    let result = if is_too_deep { &texts[0] } else { results[0].get() };
    for text in [result, &texts[0], &texts[1]] {
        assert_eq!(read(text, Integers::AsTheyAre, 0).as_ref(), Some(&expected), "{text:?}");
    }
    let without_null = without_null(expected);
    assert_eq!(read(&texts[2], Integers::AsTheyAre, 0), Some(without_null), "{:?}", texts[2]);
}

#[derive(Clone, Copy, PartialEq)]
enum Integers {
    AsTheyAre,
    /// Those that a double can't represent become strings.
    AsInScripts,
}

/// Reads a text with serde_json, one level at a time: its own numbers would not be exact. The last of several equal keys counts.
fn read(text: &str, integers: Integers, depth: usize) -> Option<Value> {
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    let text = raw.get();
    if text.starts_with(['[', '{']) && depth == MAX_DEPTH {
        return None;
    }
    let inner = |raw: &&RawValue| read(raw.get(), integers, depth + 1);
    Some(match text.as_bytes()[0] {
        b'n' => Value::Null,
        b't' | b'f' => Value::Bool(text == "true"),
        b'"' => Value::String(serde_json::from_str(text).ok()?),
        b'[' => Value::Array(serde_json::from_str::<Vec<&RawValue>>(text).ok()?.iter().map(inner).collect::<Option<_>>()?),
        b'{' => {
            let Members(members) = serde_json::from_str(text).ok()?;
            Value::Object(members.iter().map(|(key, value)| Some((key.clone(), inner(value)?))).collect::<Option<_>>()?)
        }
        _ => {
            let is_integer = !text.contains(['.', 'e', 'E']);
            let is_exact = text.trim_start_matches('-').parse::<u64>().is_ok_and(|number| number <= MAX_INTEGER);
            if integers == Integers::AsInScripts && is_integer && !is_exact {
                return Some(Value::String(text.into()));
            }
            let number: f64 = text.parse().ok()?;
            // A number that is too large is an error.
            number.is_finite().then(|| Value::Number(number.to_bits()))?
        }
    })
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Removes the members of objects that are null.
fn without_null(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| *value != Value::Null);
            Value::Object(members.map(|(key, value)| (key, without_null(value))).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(without_null).collect()),
        other => other,
    }
}
