//! Functions of an embedder's own, made of closures.

use crate::engine::bridge::{FunctionCall, FunctionProvider, FunctionResponse, FunctionValue};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};
use std::{collections::BTreeMap, fmt, pin::Pin, sync::Arc};

type Answer = Pin<Box<dyn Future<Output = Result<FunctionResponse, String>> + Send>>;
type Callee = Arc<dyn Fn(Box<RawValue>) -> Answer + Send + Sync>;

/// Names that `sdk` has for itself.
const RESERVED: [&str; 3] = ["all", "docs", "search"];

/// Functions by their names, for [`RunOptions::with_functions`](crate::RunOptions::with_functions).
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use toolscript::Functions;
///
/// #[derive(Deserialize)]
/// struct Place {
///     city: String,
/// }
///
/// #[derive(Serialize)]
/// struct Weather {
///     degrees: i32,
/// }
///
/// let functions = Functions::new()
///     .with("weather.today", |place: Place| match place.city.as_str() {
///         "Oslo" => Ok(Weather { degrees: -3 }),
///         other => Err(format!("there is no weather in {other}")),
///     })?
///     .with_async("wait", |milliseconds: u64| async move {
///         tokio::time::sleep(std::time::Duration::from_millis(milliseconds)).await;
///         Ok::<_, String>(())
///     })?;
/// # Ok::<(), toolscript::functions::InvalidFunction>(())
/// ```
#[derive(Clone, Default)]
pub struct Functions {
    functions: BTreeMap<String, Callee>,
}

/// Why a function can't have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the function '{name}': {reason}")]
pub struct InvalidFunction {
    name: String,
    reason: String,
}

impl Functions {
    /// No functions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These functions and one more, which scripts call as `sdk.` and its name.
    ///
    /// What a script passes becomes the closure's argument by serde: one argument as it is, none as null, several as an array. What it
    /// returns becomes the call's result, and an error is raised in the script. It must not block for long: it holds up the thread that
    /// polls the run.
    ///
    /// # Errors
    ///
    /// When the name is not made of identifiers joined by dots, or is in the way of another.
    pub fn with<A, R, E>(self, name: &str, function: impl Fn(A) -> Result<R, E> + Send + Sync + 'static) -> Result<Self, InvalidFunction>
    where
        A: DeserializeOwned,
        R: Serialize,
        E: fmt::Display,
    {
        let owned = name.to_owned();
        self.insert(
            name,
            Arc::new(move |argument| {
                let reply = decode(&owned, &argument).and_then(|argument| encode(&owned, function(argument)));
                Box::pin(std::future::ready(reply))
            }),
        )
    }

    /// The same for an async closure. Its future is dropped when the script's time is over.
    ///
    /// # Errors
    ///
    /// As [`with`](Self::with).
    pub fn with_async<A, R, E, F>(self, name: &str, function: impl Fn(A) -> F + Send + Sync + 'static) -> Result<Self, InvalidFunction>
    where
        A: DeserializeOwned,
        R: Serialize,
        E: fmt::Display,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        let owned = name.to_owned();
        self.insert(
            name,
            Arc::new(move |argument| {
                let owned = owned.clone();
                match decode(&owned, &argument) {
                    Ok(argument) => {
                        let answer = function(argument);
                        Box::pin(async move { encode(&owned, answer.await) })
                    }
                    Err(error) => Box::pin(std::future::ready(Err(error))),
                }
            }),
        )
    }

    fn insert(mut self, name: &str, callee: Callee) -> Result<Self, InvalidFunction> {
        let invalid = |reason: String| InvalidFunction { name: name.into(), reason };
        if !name.split('.').all(is_identifier) {
            return Err(invalid("a name is made of letters, digits and underscores, joined by dots".into()));
        }
        if name.split('.').next().is_some_and(|first| RESERVED.contains(&first)) {
            return Err(invalid("sdk has such a member of its own".into()));
        }
        let is_in_the_way = |other: &&String| {
            let (short, long) = if other.len() < name.len() { (other.as_str(), name) } else { (name, other.as_str()) };
            long == short || long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'))
        };
        if let Some(other) = self.functions.keys().find(is_in_the_way) {
            return Err(invalid(format!("there is '{other}' already")));
        }
        self.functions.insert(name.to_owned(), callee);
        Ok(self)
    }

    /// Whether there are none.
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

    fn call(&self, call: FunctionCall) -> Pin<Box<dyn Future<Output = Result<FunctionResponse, String>> + Send + '_>> {
        let answer = match self.functions.get(&call.name) {
            Some(function) => one_value(&call).map(|argument| function(argument)),
            None => Err(format!("there is no function '{}'", call.name)),
        };
        match answer {
            Ok(answer) => answer,
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

fn is_identifier(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// All arguments as one value: one is itself, none is null, several are an array.
fn one_value(call: &FunctionCall) -> Result<Box<RawValue>, String> {
    let mut values = Vec::new();
    for argument in &call.arguments {
        values.push(match argument {
            FunctionValue::Json(json) => json.clone(),
            FunctionValue::Bytes(bytes) => to_raw_value(bytes).map_err(|error| format!("{}: {error}", call.name))?,
        });
    }
    let value = match <[_; 1]>::try_from(values) {
        Ok([only]) => Ok(only),
        Err(values) if values.is_empty() => to_raw_value(&()),
        Err(values) => to_raw_value(&values),
    };
    value.map_err(|error| format!("{}: {error}", call.name))
}

fn decode<A: DeserializeOwned>(name: &str, argument: &RawValue) -> Result<A, String> {
    let decoded = serde_json::from_str(argument.get());
    // An empty table is an empty list, or an object without members: only the function knows.
    let decoded = decoded.or_else(|error| if argument.get() == "[]" { serde_json::from_str("{}").map_err(|_| error) } else { Err(error) });
    decoded.map_err(|error| format!("{name}: wrong arguments: {error}"))
}

fn encode<R: Serialize, E: fmt::Display>(name: &str, result: Result<R, E>) -> Result<FunctionResponse, String> {
    let result = result.map_err(|error| format!("{name}: {error}"))?;
    let json = to_raw_value(&result).map_err(|error| format!("{name}: the result can't be written as JSON: {error}"))?;
    Ok(FunctionResponse::new(FunctionValue::Json(json)))
}
