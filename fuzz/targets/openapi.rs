//! Loads any text as an OpenAPI specification, documents its functions, and builds requests with any arguments.

use crate::input::Input;
use toolscript::{
    RawValue,
    functions::{FunctionProvider as _, FunctionValue},
    fuzzing,
};

/// Separates the specification from the arguments.
const SEPARATOR: &[u8] = b"\n---arguments\n";

pub fn run(data: &[u8]) {
    let split = data.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    let (specification, arguments) = split.map_or((data, &[][..]), |at| (&data[..at], &data[at + SEPARATOR.len()..]));
    let sdk = match fuzzing::load_specification(specification) {
        Ok(sdk) => sdk,
        Err(error) => {
            assert!(!error.chars().any(char::is_control), "the error has line breaks or other control characters: {error:?}");
            return;
        }
    };
    let _ = sdk.overview(None);
    let _ = sdk.search("list pets");
    for name in sdk.names() {
        let docs = sdk.docs(&name).unwrap_or_else(|error| panic!("{name} has no documentation: {error}"));
        assert!(docs.starts_with("sdk."), "{docs}");
        assert!(is_name(&name), "{name:?} is not a name of Luau");
    }
    for planned in fuzzing::plan_requests(&sdk, &values(arguments)) {
        let Ok(request) = planned else { continue };
        assert_eq!(request.url.origin(), request.server.origin(), "{} {}", request.server, request.url);
        assert!(request.url.username().is_empty() && request.url.password().is_none(), "{}", request.url);
        let path = request.server.path().trim_end_matches('/');
        assert!(request.url.path().starts_with(path), "{} {}", request.server, request.url);
    }
}

/// Returns the arguments of a call, one per line: JSON, or bytes.
fn values(text: &[u8]) -> Vec<FunctionValue> {
    let lines = text.split(|byte| *byte == b'\n').take(3);
    let value = |line: &[u8]| {
        let mut input = Input::new(line);
        let json = str::from_utf8(line).ok().and_then(|text| RawValue::from_string(text.to_owned()).ok());
        json.map_or_else(|| FunctionValue::Bytes(input.rest().to_vec()), FunctionValue::from)
    };
    lines.map(value).collect()
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && part.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
    };
    name.split('.').all(is_part)
}
