//! From a call's arguments to a request, checked against the specification.

use super::{
    Api,
    body::{Body, essence, is_json},
    operation::{Operation, Parameter, Place},
    style,
};
use crate::functions::FunctionValue;
use crate::sdk::{
    check::{Checks, checked},
    document::Node,
    frozen::are_alike,
    weight,
};
use reqwest::{
    Method, Request,
    header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue},
    multipart,
};
use serde_json::{Map, Value};
use url::Url;

/// What a script gave: parameters by name, and a body.
struct Arguments {
    parameters: Map<String, Value>,
    body: Option<FunctionValue>,
}

/// A request for an operation, without credentials.
pub fn build(api: &Api, operation: &Operation, arguments: Vec<FunctionValue>) -> Result<Request, String> {
    let Arguments { mut parameters, body } = sort(operation, api.visible(operation).next().is_some(), arguments)?;
    by_name(api, operation, &mut parameters);
    // Those that are frozen are as if they were not there.
    let known: Vec<&str> = api.visible(operation).map(|parameter| parameter.name.as_str()).collect();
    if let Some(unknown) = parameters.keys().find(|name| !known.contains(&name.as_str())) {
        let known = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
        let body = if operation.body.is_some() { "; the body is the second argument" } else { "" };
        return Err(format!("there is no parameter '{unknown}'; {known}{body}"));
    }
    for parameter in &operation.parameters {
        if let Some(value) = api.frozen(parameter) {
            parameters.insert(parameter.name.clone(), value.clone());
        }
    }

    let mut path = operation.path.clone();
    let mut query = Vec::new();
    let mut cookies = Vec::new();
    let mut headers = HeaderMap::new();
    for parameter in &operation.parameters {
        let Some(value) = value_of(&api.checks, parameter, &mut parameters)? else { continue };
        match parameter.place {
            Place::Path => {
                refuse_others(api, operation, parameter, &value)?;
                path = path.replace(&format!("{{{}}}", parameter.key), &style::path(parameter, &value)?);
            }
            Place::Query => query.push(only_its_own(api, operation, parameter, style::query(parameter, &value)?)?),
            Place::Cookie => cookies.push(only_its_own(api, operation, parameter, style::query(parameter, &value)?)?.replace('&', "; ")),
            Place::Header => {
                let unusable = || format!("{} can't be part of a header", parameter.name);
                let name = HeaderName::try_from(parameter.key.as_str()).map_err(|_| unusable())?;
                refuse_others(api, operation, parameter, &value)?;
                let written = style::header(parameter, &value)?;
                if written.len() > style::MAX_LENGTH {
                    return Err(style::too_long(parameter));
                }
                headers.insert(name, HeaderValue::from_str(&written).map_err(|_| unusable())?);
            }
        }
    }
    cookies.retain(|cookie| !cookie.is_empty());
    if !cookies.is_empty() {
        headers.insert(COOKIE, HeaderValue::from_str(&cookies.join("; ")).map_err(|_| "a cookie has a character that it can't have")?);
    }

    let url = address(api, operation, &path, &query)?;
    let method = Method::from_bytes(operation.method.as_bytes()).map_err(|_| "the method is not one of HTTP's")?;
    let mut request = Request::new(method, url);
    *request.headers_mut() = headers;
    request.headers_mut().entry(ACCEPT).or_insert(HeaderValue::from_static("application/json, */*;q=0.5"));
    match (&operation.body, body) {
        (Some(expected), Some(body)) => put_body(api, expected, body, &mut request)?,
        (Some(expected), None) if expected.required => return Err("the body is missing: it is the second argument".into()),
        (None, Some(_)) => return Err("it takes no body".into()),
        _ => {}
    }
    Ok(request)
}

/// Parameters may be given by the API's own names too, where those are nobody else's.
fn by_name(api: &Api, operation: &Operation, given: &mut Map<String, Value>) {
    for parameter in api.visible(operation) {
        let is_a_name = operation.parameters.iter().any(|other| other.name == parameter.key);
        if !is_a_name
            && !given.contains_key(&parameter.name)
            && let Some(value) = given.remove(&parameter.key)
        {
            given.insert(parameter.name.clone(), value);
        }
    }
}

/// The first argument is the parameters and the second is the body; where there are no parameters, one argument is the body.
fn sort(operation: &Operation, has_parameters: bool, arguments: Vec<FunctionValue>) -> Result<Arguments, String> {
    let mut arguments = arguments.into_iter().map(|value| if is_null(&value) { None } else { Some(value) });
    let (first, second, third) = (arguments.next().flatten(), arguments.next().flatten(), arguments.next());
    if third.is_some() {
        return Err("it takes two arguments at most: parameters and a body".into());
    }
    if !has_parameters && operation.body.is_some() && second.is_none() {
        return Ok(Arguments { parameters: Map::new(), body: first });
    }
    let parameters = match first {
        None => Map::new(),
        Some(FunctionValue::Json(json)) => match weight::parse(&json).map_err(|error| format!("the parameters: {error}"))? {
            Value::Object(parameters) => parameters,
            // An empty table is written as a list.
            Value::Array(values) if values.is_empty() => Map::new(),
            _ => return Err("the first argument must be a table with the parameters".into()),
        },
        Some(FunctionValue::Bytes(_)) => return Err("the first argument must be a table with the parameters".into()),
    };
    Ok(Arguments { parameters, body: second })
}

/// What a parameter is written as, if none of its keys is that of another: the fields of an object are keys too.
fn only_its_own(api: &Api, operation: &Operation, parameter: &Parameter, pairs: String) -> Result<String, String> {
    if pairs.len() > style::MAX_LENGTH {
        return Err(style::too_long(parameter));
    }
    for (key, _) in url::form_urlencoded::parse(pairs.as_bytes()) {
        refuse_other(api, operation, parameter, &key)?;
    }
    Ok(pairs)
}

/// The same where the fields of an object stand in a path or a header.
fn refuse_others(api: &Api, operation: &Operation, parameter: &Parameter, value: &Value) -> Result<(), String> {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(key, _)| key).try_for_each(|key| refuse_other(api, operation, parameter, key))
}

fn refuse_other(api: &Api, operation: &Operation, parameter: &Parameter, key: &str) -> Result<(), String> {
    // A key such as `filter[kind]` is plainly its own, unless somebody else is called just so.
    let is_own = key.strip_prefix(&parameter.key).is_some_and(|rest| rest.is_empty() || rest.starts_with('['));
    let is_like = |known: &str| if is_own { known == key } else { are_alike(known, key) };
    let is_another = || operation.parameters.iter().any(|other| other.key != parameter.key && is_like(&other.key));
    let is_credential = || api.schemes.iter().filter_map(|(_, scheme)| scheme.key()).any(is_like);
    if is_another() || is_credential() || api.frozen.names().any(|name| name != parameter.name && name != parameter.key && is_like(name)) {
        return Err(format!("{}.{key} would be another parameter", parameter.name));
    }
    Ok(())
}

fn is_null(value: &FunctionValue) -> bool {
    matches!(value, FunctionValue::Json(json) if json.get() == "null")
}

fn value_of(checks: &Checks, parameter: &Parameter, given: &mut Map<String, Value>) -> Result<Option<Value>, String> {
    match given.remove(&parameter.name) {
        None | Some(Value::Null) if parameter.required => Err(format!("the parameter '{}' is missing", parameter.name)),
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let Some(schema) = &parameter.schema else { return Ok(Some(value)) };
            checked(checks, schema, value, &parameter.name).map(Some)
        }
    }
}

/// The address of the operation, which is on the API's own server whatever the parameters are.
fn address(api: &Api, operation: &Operation, path: &str, query: &[String]) -> Result<Url, String> {
    let base = operation.server.as_ref().unwrap_or(&api.base);
    let mut text = format!("{}/{}", base.as_str().trim_end_matches('/'), path.trim_start_matches('/'));
    for (index, pair) in query.iter().filter(|pair| !pair.is_empty()).enumerate() {
        text.push(if index == 0 && !path.contains('?') { '?' } else { '&' });
        text.push_str(pair);
    }
    if text.len() > style::MAX_LENGTH {
        return Err(format!("the parameters are longer than {} bytes when they are written", style::MAX_LENGTH));
    }
    let url = Url::parse(&text).map_err(|_| "the parameters do not make an address")?;
    if url.origin() != base.origin() || !url.username().is_empty() || url.password().is_some() {
        return Err("the parameters lead to another server".into());
    }
    Ok(url)
}

fn put_body(api: &Api, expected: &Body, body: FunctionValue, request: &mut Request) -> Result<(), String> {
    let kind = essence(&expected.media_type);
    let is_form = kind == "application/x-www-form-urlencoded";
    let is_multipart = kind == "multipart/form-data";
    let is_structure = is_json(&kind) || is_form || is_multipart;
    let value = match body {
        FunctionValue::Bytes(_) if is_structure => return Err("the body must be a table, not a buffer".into()),
        FunctionValue::Bytes(bytes) => return put_raw(request, &expected.media_type, bytes),
        FunctionValue::Json(json) => weight::parse(&json).map_err(|error| format!("the body: {error}"))?,
    };
    if !is_structure {
        let Value::String(text) = value else { return Err(format!("the body is {kind}: give a string or a buffer")) };
        return put_raw(request, &expected.media_type, text.into_bytes());
    }
    let value = with_frozen(api, expected, value)?;
    let value = match &expected.schema {
        Some(schema) => checked(&api.checks, schema, value, "body")?,
        None => value,
    };
    if is_json(&kind) {
        return put_raw(request, &expected.media_type, value.to_string().into_bytes());
    }
    let Value::Object(fields) = value else { return Err("the body must be a table of fields".into()) };
    if is_form {
        put_raw(request, &expected.media_type, form(api, expected, &fields)?.into_bytes())
    } else {
        put_parts(api, expected, &fields, request)
    }
}

/// The body with what is frozen of it, or of each of its items.
fn with_frozen(api: &Api, expected: &Body, mut value: Value) -> Result<Value, String> {
    let schema = api.body_schema(expected);
    let items = schema.as_ref().and_then(|schema| schema.get("items"));
    let put = |fields: &mut Map<String, Value>, schema: Option<&Node<'_>>| {
        api.frozen.put_into(fields, schema).map_err(|error| format!("body: {error}"))
    };
    match &mut value {
        Value::Object(fields) => put(fields, schema.as_ref())?,
        Value::Array(values) if values.is_empty() => {
            // An empty table is written as a list.
            let mut fields = Map::new();
            put(&mut fields, schema.as_ref())?;
            if !fields.is_empty() {
                value = Value::Object(fields);
            }
        }
        Value::Array(values) => {
            for item in values {
                if let Value::Object(fields) = item {
                    put(fields, items.as_ref())?;
                }
            }
        }
        _ => {}
    }
    Ok(value)
}

/// Bytes of a form, and its parts: a name that is long is written for each of its values.
const MAX_FORM: usize = 8 << 20;
const MAX_PARTS: usize = 1000;

/// A form in the way of a query: a list is its field several times, an object is JSON, if the specification says nothing else.
fn form(api: &Api, expected: &Body, fields: &Map<String, Value>) -> Result<String, String> {
    let mut pairs: Vec<String> = Vec::new();
    let mut length = 0;
    for (name, value) in fields {
        if let Some(styled) = expected.styles.iter().find(|parameter| parameter.key == *name) {
            let written = style::query(styled, value)?;
            for (key, _) in url::form_urlencoded::parse(written.as_bytes()) {
                if key != *name && (fields.contains_key(key.as_ref()) || api.frozen.has_like(&key)) {
                    return Err(format!("body.{name}.{key} would be another field"));
                }
            }
            length += written.len();
            pairs.push(written);
            continue;
        }
        for value in several(value) {
            let pair = url::form_urlencoded::Serializer::new(String::new()).append_pair(name, &text_of(value)).finish();
            length += pair.len();
            if length > MAX_FORM {
                return Err(format!("body: it is longer than {MAX_FORM} bytes when it is written"));
            }
            pairs.push(pair);
        }
    }
    Ok(pairs.join("&"))
}

fn put_parts(api: &Api, expected: &Body, fields: &Map<String, Value>, request: &mut Request) -> Result<(), String> {
    let mut form = multipart::Form::new();
    let (mut count, mut length) = (0, 0);
    for (name, value) in fields {
        for value in several(value) {
            let text = text_of(value);
            count += 1;
            length += name.len() + text.len();
            if count > MAX_PARTS || length > MAX_FORM {
                return Err(format!("body: it has more than {MAX_PARTS} parts, or {MAX_FORM} bytes"));
            }
            let mut part = multipart::Part::text(text);
            if expected.files.contains(name) {
                // Without a name, a server takes it for a field.
                part = part.file_name(name.clone());
            }
            if value.is_object() {
                part = part.mime_str("application/json").map_err(|_| "JSON has no type")?;
            }
            form = form.part(name.clone(), part);
        }
    }
    // The only way to a form's boundary and body is by a request of its own.
    let built = api.egress.client()?.request(request.method().clone(), request.url().clone()).multipart(form).build();
    let mut built = built.map_err(|_| "the fields do not make a form")?;
    for name in [CONTENT_TYPE, CONTENT_LENGTH] {
        if let Some(value) = built.headers_mut().remove(&name) {
            request.headers_mut().insert(name, value);
        }
    }
    *request.body_mut() = built.body_mut().take();
    Ok(())
}

fn several(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn put_raw(request: &mut Request, media_type: &str, bytes: Vec<u8>) -> Result<(), String> {
    // A range such as `image/*` is none to send.
    let media_type = if media_type.contains('*') { "application/octet-stream" } else { media_type };
    let value = HeaderValue::from_str(media_type).map_err(|_| "the type of the body can't be part of a header")?;
    request.headers_mut().insert(CONTENT_TYPE, value);
    *request.body_mut() = Some(bytes.into());
    Ok(())
}
