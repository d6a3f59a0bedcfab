//! `Limits`: the limits of a run.

use pyo3::{exceptions::PyValueError, prelude::*};
use std::time::Duration;

/// The limits of a run. All of them have a default, and a script can't raise them.
///
/// Sizes are bytes, or texts such as ``"64MiB"``. ``timeout`` is in seconds.
///
/// - ``timeout``: wall time, 30 s
/// - ``fuel``: about one unit per instruction; by default it scales with the timeout
/// - ``memory``: 64 MiB
/// - ``script``, ``logs``, ``result``: 1 MiB each
/// - ``api_calls``: 1,000 calls of functions
#[pyclass(frozen, eq, module = "toolscript")]
#[derive(Clone, PartialEq)]
pub struct Limits {
    pub limits: toolscript::Limits,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, timeout = None, memory = None, fuel = None, script = None, logs = None, result = None, api_calls = None))]
    fn new(
        timeout: Option<f64>,
        memory: Option<Size>,
        fuel: Option<u64>,
        script: Option<Size>,
        logs: Option<Size>,
        result: Option<Size>,
        api_calls: Option<u64>,
    ) -> PyResult<Self> {
        let mut limits = toolscript::Limits::default();
        limits.timeout = timeout.map_or(Ok(limits.timeout), seconds)?;
        limits.fuel = fuel.or(limits.fuel);
        limits.memory = memory.map_or(limits.memory, Size::bytes);
        limits.script = script.map_or(limits.script, Size::bytes);
        limits.logs = logs.map_or(limits.logs, Size::bytes);
        limits.result = result.map_or(limits.result, Size::bytes);
        limits.api_calls = api_calls.unwrap_or(limits.api_calls);
        limits.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { limits })
    }

    /// The wall time in seconds.
    #[getter]
    fn timeout(&self) -> f64 {
        self.limits.timeout.as_secs_f64()
    }

    /// The fuel of a run: as given, or derived from the timeout.
    #[getter]
    fn fuel(&self) -> u64 {
        self.limits.effective_fuel()
    }

    /// The size of all memories in bytes.
    #[getter]
    fn memory(&self) -> usize {
        self.limits.memory
    }

    /// The size of the script in bytes.
    #[getter]
    fn script(&self) -> usize {
        self.limits.script
    }

    /// The size of the log lines in bytes.
    #[getter]
    fn logs(&self) -> usize {
        self.limits.logs
    }

    /// The size of the result in bytes.
    #[getter]
    fn result(&self) -> usize {
        self.limits.result
    }

    /// The number of function calls.
    #[getter]
    fn api_calls(&self) -> u64 {
        self.limits.api_calls
    }

    fn __repr__(&self) -> String {
        let toolscript::Limits { memory, script, logs, result, api_calls, .. } = self.limits;
        let (timeout, fuel) = (self.timeout(), self.fuel());
        format!(
            "Limits(timeout={timeout}, memory={memory}, fuel={fuel}, script={script}, logs={logs}, result={result}, api_calls={api_calls})"
        )
    }
}

/// Converts a number of seconds. A negative number, infinity and NaN are rejected.
pub fn seconds(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|_| PyValueError::new_err("timeout must be more than 0 and at most 86400 seconds"))
}

/// A size: bytes, or a text with a unit.
pub struct Size(u64);

impl Size {
    /// Returns the size in bytes.
    pub fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// Returns the size in bytes.
    pub fn bytes_on_disk(self) -> u64 {
        self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for Size {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<&str>() {
            Ok(text) => {
                let invalid = || {
                    PyValueError::new_err(format!("invalid size {text:?}; write bytes, or a size such as \"512KiB\", \"64MiB\" or \"1GB\""))
                };
                parse_size(text).map(Self).ok_or_else(invalid)
            }
            Err(_) => object.extract().map(Self),
        }
    }
}

/// The units of sizes, in lower case.
const UNITS: [(&str, u64); 12] = [
    ("", 1),
    ("b", 1),
    ("k", 1000),
    ("kb", 1000),
    ("m", 1_000_000),
    ("mb", 1_000_000),
    ("g", 1_000_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

/// Parses a size such as `64MiB`. Returns `None` if it is invalid or too large.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let factor = UNITS.iter().find(|known| known.0 == unit)?.1;
    number.parse::<u64>().ok()?.checked_mul(factor)
}
