//! The trait that supplies functions to scripts, and the types of its calls.

use super::{
    function_error::FunctionError,
    value::{FunctionValue, JsonValue},
};
use crate::engine::check::{Definitions, FunctionNames, ScriptWords};
use futures_util::future::BoxFuture;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Total size in bytes of the responses to concurrent calls. The guest must have memory for it.
pub const MAX_RESPONSE: usize = 8 << 20;

/// Supplies functions that scripts call as `sdk.name(...)`.
///
/// A call is made on behalf of a script: its arguments were written by a model and must not be trusted. The future of a call is dropped
/// at the deadline of the run.
pub trait FunctionProvider: Send + Sync {
    /// Returns the names of all functions, sorted. A name consists of identifiers joined by dots. No name is a prefix of another, such
    /// as `a` of `a.b`.
    fn names(&self) -> Vec<String>;

    /// Calls a function. The error is raised in the script.
    fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>>;

    /// Returns the functions whose documentation matches a query, best match first, as a JSON array.
    fn search(&self, query: &str) -> String {
        let _ = query;
        "[]".into()
    }

    /// Returns the documentation of a function.
    ///
    /// # Errors
    ///
    /// Returns a message for the script if there is no such function, or if it has no documentation.
    fn docs(&self, name: &str) -> Result<String, String> {
        let exists = self.names().iter().any(|known| known == name);
        Err(if exists { format!("{name}: there is no documentation") } else { format!("there is no function '{name}'") })
    }

    /// Returns the definitions for the check of a script: the names of all functions, and the types of at least those that the words of the
    /// script mention. By default, only the names are known.
    fn definitions(&self, words: &ScriptWords<'_>) -> Definitions {
        let _ = words;
        Definitions::of_names(FunctionNames::new(self.names().iter().map(String::as_str), []))
    }
}

impl<T: FunctionProvider + ?Sized> FunctionProvider for Arc<T> {
    fn names(&self) -> Vec<String> {
        (**self).names()
    }

    fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        (**self).call(call)
    }

    fn search(&self, query: &str) -> String {
        (**self).search(query)
    }

    fn docs(&self, name: &str) -> Result<String, String> {
        (**self).docs(name)
    }

    fn definitions(&self, words: &ScriptWords<'_>) -> Definitions {
        (**self).definitions(words)
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
    /// The size that the response can have.
    pub budget: ResponseBudget,
}

/// The total size that the responses to concurrent calls can have. Clones refer to the same budget.
///
/// A function that receives its response in parts reserves each part before it stores it. The host then never holds a response that
/// would be rejected.
#[derive(Clone)]
pub struct ResponseBudget {
    remaining: Arc<AtomicUsize>,
}

impl ResponseBudget {
    pub(crate) fn new() -> Self {
        Self { remaining: Arc::new(AtomicUsize::new(MAX_RESPONSE)) }
    }

    /// Reserves a number of bytes.
    ///
    /// # Errors
    ///
    /// Returns a message for the script if the budget does not suffice.
    pub fn reserve(&self, bytes: usize) -> Result<(), String> {
        let reserved = self.remaining.try_update(Ordering::Relaxed, Ordering::Relaxed, |remaining| remaining.checked_sub(bytes));
        reserved.map(drop).map_err(|_| format!("the response is too large: at most {MAX_RESPONSE} bytes are allowed at once"))
    }
}

impl fmt::Debug for ResponseBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBudget").field("remaining", &self.remaining.load(Ordering::Relaxed)).finish()
    }
}

/// The response of a function.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FunctionResponse {
    /// The return value in the script.
    pub body: FunctionValue,
    /// A JSON object such as an HTTP status and headers. Its members are in the table that `sdk.response` returns.
    pub details: Option<JsonValue>,
}

impl FunctionResponse {
    /// Creates a response without details.
    #[must_use]
    pub fn new(body: impl Into<FunctionValue>) -> Self {
        Self { body: body.into(), details: None }
    }

    pub(super) fn size(&self) -> usize {
        self.body.size() + self.details.as_ref().map_or(0, JsonValue::size)
    }
}
