//! `toolscript:sandbox/tools`: calls from scripts to the functions of a provider.

use super::{
    Completed, MeteredState, begin_call, define_with_cost,
    function_error::FunctionError,
    provider::{FunctionCall, FunctionProvider, FunctionResponse, MAX_RESPONSE, ResponseBudget},
    value::{Attachment, FunctionValue, JsonValue},
};
use futures_util::{StreamExt as _, future::join_all, stream};
use serde_json::value::RawValue;
use std::sync::Arc;
use wasmtime::{
    StoreContextMut,
    component::{ComponentType, Lift, Linker, Lower, WasmList, WasmStr},
};

/// Total size in bytes of the arguments of concurrent calls, which the host copies. Each value costs [`VALUE_OVERHEAD`] more.
const MAX_ARGUMENTS: usize = 8 << 20;

/// Bytes that the host needs for an empty value or attachment. It bounds their number.
const VALUE_OVERHEAD: usize = size_of::<FunctionValue>();

/// Calls of one script that are executed at the same time. Further calls of the same batch wait.
const MAX_CONCURRENT_CALLS: usize = 16;

/// Size in bytes of the error message of a function. Longer messages are truncated.
const MAX_ERROR: usize = 8 << 10;

/// Size in bytes of a function name or of a search query.
const MAX_NAME: usize = 1024;

/// The functions of one run, and the number of calls that the run can still make.
pub struct RunFunctions {
    provider: Arc<dyn FunctionProvider>,
    calls_left: u64,
    max_calls: u64,
}

impl RunFunctions {
    pub fn new(provider: Arc<dyn FunctionProvider>, max_calls: u64) -> Self {
        Self { provider, calls_left: max_calls, max_calls }
    }
}

/// Ends a run that makes more calls than its limit allows. wasmtime carries it as the error of the host call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run reached its limit of {0} function calls")]
pub struct CallLimitReached(pub u64);

#[derive(ComponentType, Lift)]
#[component(record)]
struct ArgumentAttachment {
    pointer: WasmStr,
    content: WasmList<u8>,
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct ArgumentDocument {
    json: WasmStr,
    attachments: WasmList<ArgumentAttachment>,
}

#[derive(ComponentType, Lift)]
#[component(variant)]
enum ArgumentValue {
    #[component(name = "json")]
    Json(ArgumentDocument),
    #[component(name = "bytes")]
    Bytes(WasmList<u8>),
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct Invocation {
    name: WasmStr,
    arguments: WasmList<ArgumentValue>,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct ReplyAttachment {
    pointer: String,
    content: Vec<u8>,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct ReplyDocument {
    json: String,
    attachments: Vec<ReplyAttachment>,
}

impl From<JsonValue> for ReplyDocument {
    fn from(value: JsonValue) -> Self {
        let attachment = |Attachment { pointer, bytes }| ReplyAttachment { pointer, content: bytes };
        Self { json: String::from(Box::<str>::from(value.text)), attachments: value.attachments.into_iter().map(attachment).collect() }
    }
}

#[derive(ComponentType, Lower)]
#[component(variant)]
enum ReplyValue {
    #[component(name = "json")]
    Json(ReplyDocument),
    #[component(name = "bytes")]
    Bytes(Vec<u8>),
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Reply {
    body: ReplyValue,
    details: Option<ReplyDocument>,
}

impl From<FunctionResponse> for Reply {
    fn from(response: FunctionResponse) -> Self {
        Self { body: response.body.into(), details: response.details.map(ReplyDocument::from) }
    }
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Failure {
    name: Option<String>,
    message: String,
    body: Option<ReplyValue>,
    details: Option<ReplyDocument>,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { name: None, message, body: None, details: None }
    }
}

impl Failure {
    /// Converts an error. If its data exceeds the remaining size, only the message is kept. Returns the size of the data too.
    fn new(error: FunctionError, remaining: &mut usize) -> (Self, usize) {
        let details = error.details().map(JsonValue::from);
        let size = error.body.as_ref().map_or(0, |body| body.size()) + details.as_ref().map_or(0, JsonValue::size);
        let (name, message) = (error.name, truncate_error(error.message));
        match remaining.checked_sub(size) {
            Some(rest) => {
                *remaining = rest;
                (
                    Self { name, message, body: error.body.map(|body| ReplyValue::from(*body)), details: details.map(ReplyDocument::from) },
                    size,
                )
            }
            None => (Self { name, ..Self::from(message) }, 0),
        }
    }
}

impl From<FunctionValue> for ReplyValue {
    fn from(value: FunctionValue) -> Self {
        match value {
            FunctionValue::Json(json) => Self::Json(json.into()),
            FunctionValue::Bytes(bytes) => Self::Bytes(bytes),
        }
    }
}

/// The replies and failures in the order of the calls, or the reason why no call was made.
type Replies = Result<Vec<Result<Reply, Box<Failure>>>, String>;

pub fn add_to_linker<T: MeteredState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut tools = linker.instance("toolscript:sandbox/tools@0.3.0")?;
    define_with_cost(&mut tools, "names", |store, (): ()| {
        let names = provider(store).map(FunctionProvider::names).unwrap_or_default();
        Completed { bytes: names.iter().map(String::len).sum(), results: (names,) }
    })?;
    tools.func_wrap_async("call", |mut store, (invocations,): (WasmList<Invocation>,)| {
        Box::new(async move {
            let started = begin_call(&mut store).await?;
            let Completed { results, bytes } = call(&mut store, &invocations).await?;
            T::end_call(&mut store, started.elapsed(), bytes)?;
            Ok((results,))
        })
    })?;
    define_with_cost(&mut tools, "search", |store, (query,): (WasmStr,)| {
        let found = match (provider(store), copy_name(store, &query)) {
            (Some(provider), Ok(query)) => provider.search(&query),
            _ => "[]".into(),
        };
        Completed { bytes: found.len(), results: (found,) }
    })?;
    define_with_cost(&mut tools, "docs", |store, (name,): (WasmStr,)| {
        let docs = match provider(store) {
            Some(provider) => copy_name(store, &name).and_then(|name| provider.docs(&name)),
            None => Err(no_functions()),
        };
        Completed { bytes: docs.as_ref().map_or(0, String::len), results: (docs.map_err(truncate_error),) }
    })
}

fn provider<'a, T: MeteredState>(store: &'a StoreContextMut<'_, T>) -> Option<&'a dyn FunctionProvider> {
    store.data().as_ref().functions.as_ref().map(|functions| &*functions.provider)
}

/// Makes the calls concurrently. If they exceed a limit, none is made. The limit on their number ends the run.
async fn call<T: MeteredState>(
    store: &mut StoreContextMut<'_, T>,
    invocations: &WasmList<Invocation>,
) -> wasmtime::Result<Completed<Replies>> {
    let rejected = |error: String, bytes: usize| Ok(Completed { results: Err(error), bytes });
    let Some(functions) = &store.data().as_ref().functions else { return rejected(no_functions(), 0) };
    let count = invocations.len() as u64;
    if count > functions.calls_left {
        return Err(CallLimitReached(functions.max_calls).into());
    }
    let provider = Arc::clone(&functions.provider);
    let mut bytes = 0;
    let mut calls = Vec::new();
    let budget = ResponseBudget::new();
    for index in 0..invocations.len() {
        let Some(invocation) = invocations.get(&mut *store, index) else { break };
        match copy_call(store, &invocation?, &budget, &mut bytes)? {
            Ok(call) => calls.push(call),
            Err(error) => return rejected(error, bytes),
        }
    }
    if let Some(functions) = &mut store.data_mut().as_mut().functions {
        functions.calls_left = functions.calls_left.saturating_sub(count);
    }
    let futures: Vec<_> = calls.into_iter().map(|call| provider.call(call)).collect();
    // A single call, the most common case, needs no stream.
    let responses: Vec<_> =
        if futures.len() == 1 { join_all(futures).await } else { stream::iter(futures).buffered(MAX_CONCURRENT_CALLS).collect().await };
    // Providers need not use the budget, so the host checks the responses again.
    let mut remaining = MAX_RESPONSE;
    let replies = responses.into_iter().map(|response| {
        let response = response.map_err(|error| {
            let (failure, size) = Failure::new(error, &mut remaining);
            bytes += size;
            Box::new(failure)
        })?;
        let size = response.size();
        bytes += size;
        let too_large = || format!("the response is {size} bytes; at most {MAX_RESPONSE} are allowed at once");
        remaining = remaining.checked_sub(size).ok_or_else(|| Box::new(Failure::from(too_large())))?;
        Ok(Reply::from(response))
    });
    let results = Ok(replies.collect());
    Ok(Completed { results, bytes })
}

/// Copies a call out of guest memory, and adds its size to `bytes`. Returns the inner error if it is too large or has invalid JSON.
fn copy_call<T: MeteredState>(
    store: &mut StoreContextMut<'_, T>,
    invocation: &Invocation,
    budget: &ResponseBudget,
    bytes: &mut usize,
) -> wasmtime::Result<Result<FunctionCall, String>> {
    let name = match copy_name(store, &invocation.name) {
        Ok(name) => name,
        Err(error) => return Ok(Err(error)),
    };
    let mut arguments = Vec::new();
    for index in 0..invocation.arguments.len() {
        let Some(value) = invocation.arguments.get(&mut *store, index) else { break };
        match copy_value(store, &value?, bytes)? {
            Ok(value) => arguments.push(value),
            Err(reason) => return Ok(Err(format!("{name}: {}", reason.describe(index + 1)))),
        }
    }
    Ok(Ok(FunctionCall { name, arguments, budget: budget.clone() }))
}

/// The reason why an argument was not copied.
enum InvalidValue {
    TooLarge,
    NotJson(serde_json::Error),
}

impl InvalidValue {
    fn describe(&self, argument: usize) -> String {
        match self {
            Self::TooLarge => format!("the arguments are more than {MAX_ARGUMENTS} bytes"),
            Self::NotJson(error) => format!("argument {argument} is not JSON: {error}"),
        }
    }
}

/// Copies an argument out of guest memory. Adds its size to `bytes` before each copy, and stops at the limit.
fn copy_value<T: MeteredState>(
    store: &mut StoreContextMut<'_, T>,
    value: &ArgumentValue,
    bytes: &mut usize,
) -> wasmtime::Result<Result<FunctionValue, InvalidValue>> {
    let mut reserve = |size: usize| {
        *bytes = bytes.saturating_add(size);
        *bytes <= MAX_ARGUMENTS
    };
    let document = match value {
        ArgumentValue::Bytes(content) => {
            let is_allowed = reserve(VALUE_OVERHEAD + content.len());
            return Ok(if is_allowed {
                Ok(FunctionValue::Bytes(content.as_le_slice(&*store).to_vec()))
            } else {
                Err(InvalidValue::TooLarge)
            });
        }
        ArgumentValue::Json(document) => document,
    };
    // The guest encodes strings as UTF-8, so this borrows the text from guest memory.
    let text = document.json.to_str(&*store)?;
    if !reserve(VALUE_OVERHEAD + text.len()) {
        return Ok(Err(InvalidValue::TooLarge));
    }
    let text = match RawValue::from_string(text.into_owned()) {
        Ok(text) => text,
        Err(error) => return Ok(Err(InvalidValue::NotJson(error))),
    };
    let mut attachments = Vec::new();
    for index in 0..document.attachments.len() {
        let Some(attachment) = document.attachments.get(&mut *store, index) else { break };
        let ArgumentAttachment { pointer, content } = attachment?;
        let pointer = pointer.to_str(&*store)?;
        if !reserve(VALUE_OVERHEAD + pointer.len() + content.len()) {
            return Ok(Err(InvalidValue::TooLarge));
        }
        attachments.push(Attachment { pointer: pointer.into_owned(), bytes: content.as_le_slice(&*store).to_vec() });
    }
    Ok(Ok(FunctionValue::Json(JsonValue::from(text).with_attachments(attachments))))
}

/// Copies a function name or a search query out of guest memory.
fn copy_name<T: MeteredState>(store: &StoreContextMut<'_, T>, name: &WasmStr) -> Result<String, String> {
    match name.to_str(store) {
        Ok(name) if name.len() <= MAX_NAME => Ok(name.into_owned()),
        _ => Err("the name of the function is too long, or not UTF-8".into()),
    }
}

fn truncate_error(mut error: String) -> String {
    error.truncate(error.floor_char_boundary(MAX_ERROR));
    error
}

/// The error for a guest that violates the contract: without functions, it must not call this interface.
fn no_functions() -> String {
    "there are no functions".into()
}
