//! The error of a function, with the data that scripts can read from it.

use super::value::FunctionValue;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::{collections::BTreeMap, fmt};

/// The error of a function. A script raises it as an error value with these fields.
///
/// A plain message converts with `From`, so `?` and `.into()` work on a `String` or `&str`.
///
/// ```
/// use toolscript::functions::FunctionError;
///
/// let plain = FunctionError::from("there is no weather in Atlantis");
/// let busy = FunctionError::from("too many requests").with_status(429).with_retry_after(2.5);
/// assert_eq!((plain.status, busy.status), (None, Some(429)));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FunctionError {
    /// The message, in one line. It must not contain secrets or paths of the host.
    pub message: String,
    /// The HTTP status, or a similar number. `sdk.response` returns an error with a status instead of raising it.
    pub status: Option<u16>,
    /// The headers of the response, by name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body of the response.
    pub body: Option<Box<FunctionValue>>,
    /// The number of seconds after which another attempt may succeed.
    pub retry_after: Option<f64>,
    /// The full name of the function, if the call may have used a short name.
    pub(super) name: Option<String>,
}

impl FunctionError {
    /// Sets the status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets the headers, by name in lower case.
    #[must_use]
    pub fn with_headers(mut self, headers: BTreeMap<String, String>) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<FunctionValue>) -> Self {
        self.body = Some(Box::new(body.into()));
        self
    }

    /// Sets the number of seconds after which another attempt may succeed.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: f64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Sets the full name of the function, and puts it in front of the message.
    pub(crate) fn of_function(mut self, name: &str) -> Self {
        self.message = format!("{name}: {}", self.message);
        self.name = Some(name.to_owned());
        self
    }

    /// Returns the status, the headers and the time of the next attempt as a JSON object, if there are any.
    pub(super) fn details(&self) -> Option<Box<RawValue>> {
        #[derive(Serialize)]
        struct Details<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            status: Option<u16>,
            #[serde(skip_serializing_if = "Option::is_none")]
            headers: Option<&'a BTreeMap<String, String>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            retry_after: Option<f64>,
        }
        let headers = (self.status.is_some() || !self.headers.is_empty()).then_some(&self.headers);
        let retry_after = self.retry_after.filter(|seconds| seconds.is_finite());
        let details = Details { status: self.status, headers, retry_after };
        (headers.is_some() || retry_after.is_some()).then(|| to_raw_value(&details).ok()).flatten()
    }
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FunctionError {}

impl From<String> for FunctionError {
    fn from(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}

impl From<&str> for FunctionError {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}
