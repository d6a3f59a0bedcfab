//! Builds the request for a call, and validates the arguments against the specification.

use super::{
    Api, encode_body, encode_parameter,
    operation::Operation,
    parameters::{Parameter, ParameterLocation},
};
use crate::functions::FunctionValue;
use crate::sdk::{
    argument_size,
    error::available,
    frozen_params::are_similar,
    validation::{Schemas, validated},
};
use reqwest::{
    Method, Request,
    header::{ACCEPT, COOKIE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Map, Value};
use url::Url;

/// The arguments of a script: parameters by name, and a body.
struct Arguments {
    parameters: Map<String, Value>,
    body: Option<FunctionValue>,
}

/// Builds the request for an operation, without the credential. An error is the message for the script.
pub fn build(api: &Api, operation: &Operation, arguments: Vec<FunctionValue>) -> Result<Request, String> {
    let Arguments { mut parameters, body } = split(api, operation, arguments)?;
    rename_keys(api, operation, &mut parameters);
    check_names(api, operation, &parameters)?;
    for parameter in &operation.parameters {
        if let (Some(schema), Some(value)) = (&parameter.schema, parameters.get_mut(&parameter.name)) {
            api.schemas.check_exact(schema, value, &parameter.name)?;
        }
    }
    for parameter in &operation.parameters {
        if let Some(value) = api.frozen_value(parameter) {
            parameters.insert(parameter.name.clone(), value.clone());
        }
    }

    let mut path = operation.path.clone();
    let mut query = Vec::new();
    let mut cookies = Vec::new();
    let mut headers = HeaderMap::new();
    for parameter in &operation.parameters {
        let Some(value) = take_value(&api.schemas, parameter, &mut parameters)? else { continue };
        match parameter.location {
            ParameterLocation::Path => {
                check_fields(api, operation, parameter, &value)?;
                path = path.replace(&format!("{{{}}}", parameter.key), &encode_parameter::path(parameter, &value)?);
            }
            ParameterLocation::Query => query.push(pairs(api, operation, parameter, &value)?),
            ParameterLocation::Cookie => cookies.push(pairs(api, operation, parameter, &value)?.replace('&', "; ")),
            ParameterLocation::Header => {
                check_fields(api, operation, parameter, &value)?;
                let (name, value) = header(parameter, &value)?;
                headers.insert(name, value);
            }
        }
    }
    cookies.retain(|cookie| !cookie.is_empty());
    if !cookies.is_empty() {
        let value = HeaderValue::from_str(&cookies.join("; ")).map_err(|_| "a cookie has a character that is not allowed")?;
        headers.insert(COOKIE, value);
    }

    let method = Method::from_bytes(operation.method.as_bytes()).map_err(|_| "the HTTP method is invalid")?;
    let mut request = Request::new(method, url(api, operation, &path, &query)?);
    *request.headers_mut() = headers;
    request.headers_mut().entry(ACCEPT).or_insert(HeaderValue::from_static("application/json, */*;q=0.5"));
    match (&operation.body, body) {
        (Some(expected), Some(body)) => encode_body::set_body(api, expected, body, &mut request)?,
        (Some(expected), None) if expected.required => return Err("the body is missing; pass it as the second argument".into()),
        (None, Some(_)) => return Err("the function takes no body".into()),
        _ => {}
    }
    Ok(request)
}

/// Returns the error for a first argument that is not a table. It names the parameters.
fn not_a_table(api: &Api, operation: &Operation) -> String {
    let names: Vec<&str> = api.visible_parameters(operation).map(|parameter| parameter.name.as_str()).collect();
    match names.split_first() {
        None => "the first argument must be a table of parameters".into(),
        Some((first, _)) => {
            format!("the first argument must be a table of parameters, such as {{{first} = …}}; available: {}", names.join(", "))
        }
    }
}

/// Splits the arguments into parameters and body. If there are no parameters, a single argument is the body.
fn split(api: &Api, operation: &Operation, arguments: Vec<FunctionValue>) -> Result<Arguments, String> {
    let mut arguments = arguments.into_iter().map(|value| if is_null(&value) { None } else { Some(value) });
    let (first, second, third) = (arguments.next().flatten(), arguments.next().flatten(), arguments.next());
    if third.is_some() {
        return Err("the function takes at most two arguments: parameters and a body".into());
    }
    let has_parameters = api.visible_parameters(operation).next().is_some();
    if !has_parameters && operation.body.is_some() && second.is_none() {
        return Ok(Arguments { parameters: Map::new(), body: first });
    }
    let parameters = match first {
        None => Map::new(),
        Some(FunctionValue::Json(json)) => match argument_size::parse_text(&json, "params")? {
            Value::Object(parameters) => parameters,
            // An empty table arrives as an array.
            Value::Array(values) if values.is_empty() => Map::new(),
            _ => return Err(not_a_table(api, operation)),
        },
        Some(FunctionValue::Bytes(_)) => return Err(not_a_table(api, operation)),
    };
    Ok(Arguments { parameters, body: second })
}

fn is_null(value: &FunctionValue) -> bool {
    matches!(value, FunctionValue::Json(json) if json.text.get() == "null")
}

/// Accepts a parameter under its name in the specification, unless another parameter has that name in scripts.
fn rename_keys(api: &Api, operation: &Operation, given: &mut Map<String, Value>) {
    for parameter in api.visible_parameters(operation) {
        let is_a_name = operation.parameters.iter().any(|other| other.name == parameter.key);
        if !is_a_name
            && !given.contains_key(&parameter.name)
            && let Some(value) = given.remove(&parameter.key)
        {
            given.insert(parameter.name.clone(), value);
        }
    }
}

/// Rejects unknown parameters. A frozen parameter is reported like an unknown one.
fn check_names(api: &Api, operation: &Operation, given: &Map<String, Value>) -> Result<(), String> {
    let known: Vec<&str> = api.visible_parameters(operation).map(|parameter| parameter.name.as_str()).collect();
    match given.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(unknown) => {
            let body = if operation.body.is_some() { "; the body is the second argument" } else { "" };
            Err(format!("there is no parameter '{unknown}'; {}{body}", available(known)))
        }
    }
}

/// Removes the value of a parameter from the arguments and validates it.
fn take_value(schemas: &Schemas, parameter: &Parameter, given: &mut Map<String, Value>) -> Result<Option<Value>, String> {
    match given.remove(&parameter.name) {
        None | Some(Value::Null) if parameter.required => Err(format!("the parameter '{}' is missing", parameter.name)),
        None | Some(Value::Null) => Ok(None),
        Some(value) => match &parameter.schema {
            Some(schema) => validated(schemas, schema, value, &parameter.name).map(Some),
            None => Ok(Some(value)),
        },
    }
}

/// Encodes a value as `key=value` pairs. Rejects keys of other parameters: the fields of an object are keys too.
fn pairs(api: &Api, operation: &Operation, parameter: &Parameter, value: &Value) -> Result<String, String> {
    let pairs = encode_parameter::query(parameter, value)?;
    if pairs.len() > encode_parameter::MAX_LENGTH {
        return Err(encode_parameter::too_long(parameter));
    }
    for (key, _) in url::form_urlencoded::parse(pairs.as_bytes()) {
        check_key(api, operation, parameter, &key)?;
    }
    Ok(pairs)
}

fn header(parameter: &Parameter, value: &Value) -> Result<(HeaderName, HeaderValue), String> {
    let invalid = || format!("{} has a character that is not allowed in a header", parameter.name);
    let name = HeaderName::try_from(parameter.key.as_str()).map_err(|_| invalid())?;
    let encoded = encode_parameter::header(parameter, value)?;
    if encoded.len() > encode_parameter::MAX_LENGTH {
        return Err(encode_parameter::too_long(parameter));
    }
    Ok((name, HeaderValue::from_str(&encoded).map_err(|_| invalid())?))
}

/// Rejects fields of an object in a path or header that have the name of another parameter.
fn check_fields(api: &Api, operation: &Operation, parameter: &Parameter, value: &Value) -> Result<(), String> {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(key, _)| key).try_for_each(|key| check_key(api, operation, parameter, key))
}

/// Rejects a key that a server could take for another parameter, a credential or a frozen parameter.
fn check_key(api: &Api, operation: &Operation, parameter: &Parameter, key: &str) -> Result<(), String> {
    // A key such as `filter[kind]` belongs to `filter`, unless another parameter has exactly that name.
    let is_own = key.strip_prefix(&parameter.key).is_some_and(|rest| rest.is_empty() || rest.starts_with('['));
    let is_similar = |known: &str| if is_own { known == key } else { are_similar(known, key) };
    let is_other = || operation.parameters.iter().any(|other| other.key != parameter.key && is_similar(&other.key));
    let is_credential = || api.security_schemes.iter().filter_map(|(_, scheme)| scheme.key()).any(is_similar);
    let is_frozen = || api.frozen.names().any(|name| name != parameter.name && name != parameter.key && is_similar(name));
    if is_other() || is_credential() || is_frozen() {
        return Err(format!("{}.{key} is not allowed, because it would set another parameter", parameter.name));
    }
    Ok(())
}

/// Builds the URL of a request. Security: the parameters can't change the server.
fn url(api: &Api, operation: &Operation, path: &str, query: &[String]) -> Result<Url, String> {
    let base = operation.server.as_ref().unwrap_or(&api.base_url);
    let mut text = format!("{}/{}", base.as_str().trim_end_matches('/'), path.trim_start_matches('/'));
    for (index, pair) in query.iter().filter(|pair| !pair.is_empty()).enumerate() {
        text.push(if index == 0 && !path.contains('?') { '?' } else { '&' });
        text.push_str(pair);
    }
    if text.len() > encode_parameter::MAX_LENGTH {
        return Err(format!("the URL is longer than {} bytes with these parameters", encode_parameter::MAX_LENGTH));
    }
    let url = Url::parse(&text).map_err(|_| "the URL is invalid with these parameters")?;
    if url.origin() != base.origin() || !url.username().is_empty() || url.password().is_some() {
        return Err("the parameters would change the server".into());
    }
    Ok(url)
}
