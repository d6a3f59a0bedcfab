//! Functions of an embedder, implemented as closures.

use super::bridge::{FunctionCall, FunctionError, FunctionProvider, FunctionResponse, FunctionValue, JsonValue};
use futures_util::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use std::{any::Any, collections::BTreeMap, fmt, future::ready, sync::Arc};

type ResponseFuture = BoxFuture<'static, Result<FunctionResponse, FunctionError>>;
type Function = Arc<dyn Fn(Box<RawValue>) -> ResponseFuture + Send + Sync>;

/// The total size of bytes inside the tables of one argument. Each byte becomes a JSON number, which needs many times its memory.
const MAX_NESTED_BYTES: usize = 1 << 20;

/// Members of the `sdk` table that are not functions of a provider.
pub(crate) const RESERVED_NAMES: [&str; 4] = ["all", "docs", "response", "search"];

/// A set of named closures that scripts call as `sdk.name(...)`. Pass it to
/// [`RunOptions::with_functions`](crate::RunOptions::with_functions).
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use toolscript::Functions;
///
/// #[derive(Deserialize)]
/// struct Query {
///     city: String,
/// }
///
/// #[derive(Serialize)]
/// struct Weather {
///     degrees: i32,
/// }
///
/// let functions = Functions::new()
///     .with_function("weather.today", |query: Query| match query.city.as_str() {
///         "Oslo" => Ok(Weather { degrees: -3 }),
///         other => Err(format!("there is no weather in {other}")),
///     })?
///     .with_async_function("wait", |milliseconds: u64| async move {
///         tokio::time::sleep(std::time::Duration::from_millis(milliseconds)).await;
///         Ok::<_, String>(())
///     })?;
/// # Ok::<(), toolscript::functions::InvalidFunctionName>(())
/// ```
#[derive(Clone, Default)]
pub struct Functions {
    functions: BTreeMap<String, Function>,
}

/// The reason why a function can't have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidFunctionName {
    /// The name does not consist of identifiers joined by dots.
    #[error("invalid function name '{name}': use letters, digits and underscores, joined by dots")]
    Syntax {
        /// The rejected name.
        name: String,
    },
    /// The first identifier is a built-in member of `sdk`.
    #[error("invalid function name '{name}': sdk.all, sdk.docs, sdk.response and sdk.search are reserved")]
    Reserved {
        /// The rejected name.
        name: String,
    },
    /// Another function has the same name, or one name is a prefix of the other.
    #[error("invalid function name '{name}': it conflicts with '{existing}'")]
    Conflict {
        /// The rejected name.
        name: String,
        /// The name of the other function.
        existing: String,
    },
}

impl Functions {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function that scripts call as `sdk.name(...)`.
    ///
    /// The arguments of the call are deserialized: a single argument as it is, no argument as null, several as an array. Bytes that are
    /// not UTF-8 are an array of numbers. The return
    /// value is serialized, and an error is raised in the script; a [`FunctionError`](crate::functions::FunctionError) also carries data.
    /// The closure must not block, because it runs on the thread that polls the run.
    ///
    /// # Errors
    ///
    /// Returns an error if the name does not consist of identifiers joined by dots, is reserved, or conflicts with another name.
    pub fn with_function<A, R, E>(
        self,
        name: &str,
        function: impl Fn(A) -> Result<R, E> + Send + Sync + 'static,
    ) -> Result<Self, InvalidFunctionName>
    where
        A: DeserializeOwned,
        R: Serialize,
        E: fmt::Display + 'static,
    {
        let owned_name = name.to_owned();
        self.insert(
            name,
            Arc::new(move |argument| {
                let response = decode(&owned_name, &argument).and_then(|argument| encode(&owned_name, function(argument)));
                Box::pin(ready(response))
            }),
        )
    }

    /// Adds an async function. Its future is dropped when the run ends.
    ///
    /// # Errors
    ///
    /// See [`with_function`](Self::with_function).
    pub fn with_async_function<A, R, E, F>(
        self,
        name: &str,
        function: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Result<Self, InvalidFunctionName>
    where
        A: DeserializeOwned,
        R: Serialize,
        E: fmt::Display + 'static,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        let owned_name = name.to_owned();
        self.insert(
            name,
            Arc::new(move |argument| {
                let name = owned_name.clone();
                match decode(&name, &argument) {
                    Ok(argument) => {
                        let result = function(argument);
                        Box::pin(async move { encode(&name, result.await) })
                    }
                    Err(error) => Box::pin(ready(Err(error))),
                }
            }),
        )
    }

    fn insert(mut self, name: &str, function: Function) -> Result<Self, InvalidFunctionName> {
        let name = name.to_owned();
        if !name.split('.').all(is_identifier) {
            return Err(InvalidFunctionName::Syntax { name });
        }
        if name.split('.').next().is_some_and(|first| RESERVED_NAMES.contains(&first)) {
            return Err(InvalidFunctionName::Reserved { name });
        }
        if let Some(existing) = self.functions.keys().find(|existing| conflict(existing, &name)).cloned() {
            return Err(InvalidFunctionName::Conflict { name, existing });
        }
        self.functions.insert(name, function);
        Ok(self)
    }

    /// Returns `true` if the set contains no functions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.functions.keys()).finish()
    }
}

impl FunctionProvider for Functions {
    fn names(&self) -> Vec<String> {
        self.functions.keys().cloned().collect()
    }

    fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        let response = match self.functions.get(&call.name) {
            Some(function) => combine_arguments(&call).map(|argument| function(argument)),
            None => Err(format!("there is no function '{}'", call.name).into()),
        };
        response.unwrap_or_else(|error| Box::pin(ready(Err(error))))
    }
}

/// Returns `true` if two names are equal, or if one is the table that contains the other.
fn conflict(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn is_identifier(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns the arguments as one JSON value: a single argument as it is, no argument as null, several as an array.
fn combine_arguments(call: &FunctionCall) -> Result<Box<RawValue>, FunctionError> {
    let mut values = Vec::new();
    for argument in &call.arguments {
        values.push(match argument {
            FunctionValue::Json(json) => with_byte_arrays(json).map_err(|error| format!("{}: {error}", call.name))?,
            FunctionValue::Bytes(bytes) => to_raw_value(bytes).map_err(|error| format!("{}: {error}", call.name))?,
        });
    }
    let value = match <[_; 1]>::try_from(values) {
        Ok([only]) => Ok(only),
        Err(values) if values.is_empty() => to_raw_value(&()),
        Err(values) => to_raw_value(&values),
    };
    value.map_err(|error| format!("{}: {error}", call.name).into())
}

/// Returns the text of a value, with an array of numbers at the location of each attachment. It deserializes as `Vec<u8>`.
fn with_byte_arrays(json: &JsonValue) -> Result<Box<RawValue>, String> {
    if json.attachments.is_empty() {
        return Ok(json.text.clone());
    }
    if json.attachments.iter().map(|attachment| attachment.bytes.len()).sum::<usize>() > MAX_NESTED_BYTES {
        return Err(format!(
            "a table contains more than {MAX_NESTED_BYTES} bytes that are not UTF-8; pass a buffer as an argument instead"
        ));
    }
    let invalid = |error: serde_json::Error| format!("invalid arguments: {error}");
    let mut value: Value = serde_json::from_str(json.text.get()).map_err(invalid)?;
    for attachment in &json.attachments {
        if let Some(location) = value.pointer_mut(&attachment.pointer) {
            *location = attachment.bytes.as_slice().into();
        }
    }
    to_raw_value(&value).map_err(invalid)
}

fn decode<A: DeserializeOwned>(name: &str, argument: &RawValue) -> Result<A, FunctionError> {
    let decoded = serde_json::from_str(argument.get());
    // An empty Luau table arrives as an empty array. If the function expects an object, it is an empty object.
    let decoded = decoded.or_else(|error| if argument.get() == "[]" { serde_json::from_str("{}").map_err(|_| error) } else { Err(error) });
    decoded.map_err(|error| format!("{name}: invalid arguments: {error}").into())
}

fn encode<R: Serialize, E: fmt::Display + 'static>(name: &str, result: Result<R, E>) -> Result<FunctionResponse, FunctionError> {
    let result = result.map_err(|error| into_function_error(&error).of_function(name))?;
    let json = to_raw_value(&result).map_err(|error| format!("{name}: the result can't be written as JSON: {error}"))?;
    Ok(FunctionResponse::new(json))
}

/// Keeps the data of a [`FunctionError`]. Any other error is its message.
fn into_function_error<E: fmt::Display + 'static>(error: &E) -> FunctionError {
    match (error as &dyn Any).downcast_ref::<FunctionError>() {
        Some(error) => error.clone(),
        None => error.to_string().into(),
    }
}
