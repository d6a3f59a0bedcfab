//! `toolscript:sandbox/tools`: functions of the host's that a script calls as `sdk.…`.

use super::{State, begin};
use futures_util::{StreamExt as _, future::join_all, stream};
use serde_json::value::RawValue;
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use wasmtime::{
    StoreContextMut,
    component::{ComponentType, Lift, Linker, Lower, WasmList, WasmStr},
};

/// Bytes of a call's arguments, all calls that are made at once together, which the host copies. Each value counts as many more as the
/// host has for one that is empty.
const MAX_ARGUMENTS: usize = 8 << 20;
const VALUE: usize = size_of::<FunctionValue>();

/// Bytes that an answer may have, which the guest must have room for.
pub const MAX_ANSWER: usize = 8 << 20;

/// Calls of one script that are under way at a time.
const AT_ONCE: usize = 16;

/// Bytes of the text of an error.
const MAX_ERROR: usize = 8 << 10;

/// Functions that scripts may call.
///
/// A call is made on behalf of a script: whatever is in its arguments was written by a model. It ends with the script's deadline, by
/// its future being dropped.
pub trait FunctionProvider: Send + Sync {
    /// The names of all functions, sorted: identifiers joined by dots, none of which is another's beginning.
    fn names(&self) -> Vec<String>;

    /// Calls one of them. An error is the text that the script raises: it must hold nothing of the host's.
    fn call(&self, call: FunctionCall) -> Pin<Box<dyn Future<Output = Result<FunctionResponse, String>> + Send + '_>>;

    /// Functions whose documentation matches, best first, as a JSON array.
    fn search(&self, query: &str) -> String {
        let _ = query;
        "[]".into()
    }

    /// The documentation of one function, or why there is none.
    ///
    /// # Errors
    ///
    /// When there is none.
    fn docs(&self, name: &str) -> Result<String, String> {
        let is_there = self.names().iter().any(|known| known == name);
        Err(if is_there { format!("{name}: there is no documentation") } else { format!("there is no function '{name}'") })
    }
}

impl<T: FunctionProvider + ?Sized> FunctionProvider for Arc<T> {
    fn names(&self) -> Vec<String> {
        (**self).names()
    }

    fn call(&self, call: FunctionCall) -> Pin<Box<dyn Future<Output = Result<FunctionResponse, String>> + Send + '_>> {
        (**self).call(call)
    }

    fn search(&self, query: &str) -> String {
        (**self).search(query)
    }

    fn docs(&self, name: &str) -> Result<String, String> {
        (**self).docs(name)
    }
}

/// A call of a function.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The full name, without `sdk.`.
    pub name: String,
    /// The arguments, in order.
    pub arguments: Vec<FunctionValue>,
    /// Bytes that the answer may have.
    pub room: ResponseBudget,
}

/// Bytes that the answers to calls may have which are made at once, all together. A function whose answer grows as it comes takes from it
/// before it keeps more, so that none holds what will be refused.
#[derive(Clone, Debug)]
pub struct ResponseBudget(Arc<AtomicUsize>);

impl ResponseBudget {
    fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(MAX_ANSWER)))
    }

    /// Takes so many bytes.
    ///
    /// # Errors
    ///
    /// When there are fewer left; what the script is to be told.
    pub fn take(&self, bytes: usize) -> Result<(), String> {
        let taken = self.0.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(drop).map_err(|_| format!("the answer is too large: at most {MAX_ANSWER} bytes are allowed at once"))
    }
}

/// A value on its way in or out.
#[derive(Clone, Debug)]
pub enum FunctionValue {
    /// JSON text that was checked.
    Json(Box<RawValue>),
    /// Bytes as they are: a buffer of the script's, or a string for it.
    Bytes(Vec<u8>),
}

/// What a function gives back.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FunctionResponse {
    /// The first result.
    pub body: FunctionValue,
    /// The second result, a JSON object.
    pub details: Option<Box<RawValue>>,
}

impl FunctionResponse {
    /// A reply with one result.
    #[must_use]
    pub fn new(body: FunctionValue) -> Self {
        Self { body, details: None }
    }

    fn size(&self) -> usize {
        let body = match &self.body {
            FunctionValue::Json(json) => json.get().len(),
            FunctionValue::Bytes(bytes) => bytes.len(),
        };
        body + self.details.as_ref().map_or(0, |details| details.get().len())
    }
}

/// The functions of one run, and how often they may still be called.
pub struct RunFunctions {
    pub tools: Arc<dyn FunctionProvider>,
    pub calls_left: u64,
    pub max_calls: u64,
}

impl RunFunctions {
    /// Functions that may be called so often.
    pub fn new(tools: Arc<dyn FunctionProvider>, max_calls: u64) -> Self {
        Self { tools, calls_left: max_calls, max_calls }
    }
}

#[derive(ComponentType, Lift)]
#[component(variant)]
enum ValueIn {
    #[component(name = "json")]
    Json(WasmStr),
    #[component(name = "bytes")]
    Bytes(WasmList<u8>),
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct Invocation {
    name: WasmStr,
    arguments: WasmList<ValueIn>,
}

#[derive(ComponentType, Lower)]
#[component(variant)]
enum ValueOut {
    #[component(name = "json")]
    Json(String),
    #[component(name = "bytes")]
    Bytes(Vec<u8>),
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Reply {
    body: ValueOut,
    details: Option<String>,
}

impl From<FunctionResponse> for Reply {
    fn from(reply: FunctionResponse) -> Self {
        let body = match reply.body {
            FunctionValue::Json(json) => ValueOut::Json(String::from(Box::<str>::from(json))),
            FunctionValue::Bytes(bytes) => ValueOut::Bytes(bytes),
        };
        Self { body, details: reply.details.map(|details| String::from(Box::<str>::from(details))) }
    }
}

/// Replies and errors in the order of the calls, or why none was made.
type Answers = Result<Vec<Result<Reply, String>>, String>;

pub fn add_to_linker<T: State>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut tools = linker.instance("toolscript:sandbox/tools@0.1.0")?;
    tools.func_wrap_async("names", |mut store, ()| {
        Box::new(async move {
            let began = begin(&mut store).await?;
            let names = store.data().as_ref().tools.as_ref().map(|toolbox| toolbox.tools.names()).unwrap_or_default();
            T::end_call(&mut store, began.elapsed(), names.iter().map(String::len).sum())?;
            Ok((names,))
        })
    })?;
    tools.func_wrap_async("call", |mut store, (calls,): (WasmList<Invocation>,)| {
        Box::new(async move {
            let began = begin(&mut store).await?;
            let (answers, moved) = call(&mut store, &calls).await?;
            T::end_call(&mut store, began.elapsed(), moved)?;
            Ok((answers,))
        })
    })?;
    tools.func_wrap_async("search", |mut store, (query,): (WasmStr,)| {
        Box::new(async move {
            let began = begin(&mut store).await?;
            let query = take_name(&store, &query);
            let found = match (&store.data().as_ref().tools, query) {
                (Some(toolbox), Ok(query)) => toolbox.tools.search(&query),
                _ => "[]".into(),
            };
            T::end_call(&mut store, began.elapsed(), found.len())?;
            Ok((found,))
        })
    })?;
    tools.func_wrap_async("docs", |mut store, (name,): (WasmStr,)| {
        Box::new(async move {
            let began = begin(&mut store).await?;
            let name = take_name(&store, &name);
            let docs = match &store.data().as_ref().tools {
                Some(toolbox) => name.and_then(|name| toolbox.tools.docs(&name)),
                None => Err(no_functions()),
            };
            T::end_call(&mut store, began.elapsed(), docs.as_ref().map_or(0, String::len))?;
            Ok((docs.map_err(shortened),))
        })
    })
}

/// Makes the calls, all at once; also the bytes that were moved.
async fn call<T: State>(store: &mut StoreContextMut<'_, T>, calls: &WasmList<Invocation>) -> wasmtime::Result<(Answers, usize)> {
    let Some(toolbox) = &mut store.data_mut().as_mut().tools else { return Ok((Err(no_functions()), 0)) };
    let count = calls.len() as u64;
    if count > toolbox.calls_left {
        return Ok((Err(format!("too many calls of functions (max {})", toolbox.max_calls)), 0));
    }
    let tools = Arc::clone(&toolbox.tools);
    let mut moved = 0;
    let mut taken = Vec::new();
    let room = ResponseBudget::new();
    for index in 0..calls.len() {
        let Some(invocation) = calls.get(&mut *store, index) else { break };
        match take(store, &invocation?, &room, &mut moved)? {
            Ok(call) => taken.push(call),
            Err(refusal) => return Ok((Err(refusal), moved)),
        }
    }
    if let Some(toolbox) = &mut store.data_mut().as_mut().tools {
        toolbox.calls_left = toolbox.calls_left.saturating_sub(count);
    }
    let under_way: Vec<_> = taken.into_iter().map(|call| tools.call(call)).collect();
    let replies: Vec<_> =
        if under_way.len() == 1 { join_all(under_way).await } else { stream::iter(under_way).buffered(AT_ONCE).collect().await };
    let mut room = MAX_ANSWER;
    let answers = replies.into_iter().map(|reply| {
        let reply = reply.map_err(shortened)?;
        let size = reply.size();
        moved += size;
        room = room.checked_sub(size).ok_or_else(|| format!("the answer is {size} bytes; at most {MAX_ANSWER} are allowed at once"))?;
        Ok(Reply::from(reply))
    });
    Ok((Ok(answers.collect()), moved))
}

/// A copy of a call, if it is not too large and what it says is JSON is JSON.
fn take<T: State>(
    store: &mut StoreContextMut<'_, T>,
    invocation: &Invocation,
    room: &ResponseBudget,
    moved: &mut usize,
) -> wasmtime::Result<Result<FunctionCall, String>> {
    let name = match take_name(store, &invocation.name) {
        Ok(name) => name,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut arguments = Vec::new();
    for index in 0..invocation.arguments.len() {
        let Some(value) = invocation.arguments.get(&mut *store, index) else { break };
        let value = value?;
        *moved += VALUE;
        *moved += match &value {
            // A character of another encoding than the guest's would be as long, or shorter.
            ValueIn::Json(text) => text.to_str(&*store)?.len(),
            ValueIn::Bytes(bytes) => bytes.len(),
        };
        if *moved > MAX_ARGUMENTS {
            return Ok(Err(format!("{name}: the arguments are more than {MAX_ARGUMENTS} bytes")));
        }
        arguments.push(match value {
            ValueIn::Json(text) => {
                let text = text.to_str(&*store)?.into_owned();
                match RawValue::from_string(text) {
                    Ok(json) => FunctionValue::Json(json),
                    Err(error) => return Ok(Err(format!("{name}: argument {} is not JSON: {error}", index + 1))),
                }
            }
            ValueIn::Bytes(bytes) => FunctionValue::Bytes(bytes.as_le_slice(&*store).to_vec()),
        });
    }
    Ok(Ok(FunctionCall { name, arguments, room: room.clone() }))
}

/// Bytes of a name, or of a question.
const MAX_NAME: usize = 1024;

fn take_name<T: State>(store: &StoreContextMut<'_, T>, name: &WasmStr) -> Result<String, String> {
    match name.to_str(store) {
        Ok(name) if name.len() <= MAX_NAME => Ok(name.into_owned()),
        _ => Err("the name of the function is too long, or not UTF-8".into()),
    }
}

fn shortened(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_ERROR));
    text
}

/// A guest that breaks the contract: its scripts have no `sdk`.
fn no_functions() -> String {
    "there are no functions".into()
}
