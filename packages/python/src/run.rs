//! `Run`: the outcome of a script and its cost.

use crate::{
    check::{self, Diagnostic},
    errors,
    run_state::RunState,
    to_python,
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};
use toolscript::{engine, files, sandbox};

/// A completed run.
#[pyclass(frozen, get_all, module = "toolscript")]
pub struct Run {
    /// The value that the script returned. Several values are a list, none is ``None``.
    result: Py<PyAny>,
    /// The lines that the script printed.
    logs: Py<PyList>,
    /// The files that the run created, changed or removed, sorted by name.
    files_touched: Py<PyList>,
    /// The cost of the run.
    receipt: Py<Receipt>,
    /// The parts that were truncated by a limit: ``"logs"``.
    truncated: Vec<&'static str>,
    /// The parts of the result that JSON can't represent, with their replacements.
    replaced: Vec<String>,
    /// The errors that were found before the run, with ``check="warn"``.
    diagnostics: Vec<Py<Diagnostic>>,
}

#[pymethods]
impl Run {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (result, logs) = (self.result.bind(py).repr()?, self.logs.bind(py).repr()?);
        Ok(format!("Run(result={result}, logs={logs}, files_touched={})", self.files_touched.bind(py).repr()?))
    }
}

/// A file that a run created, changed or removed.
#[pyclass(frozen, get_all, eq, module = "toolscript")]
#[derive(PartialEq)]
pub struct TouchedFile {
    /// The path, relative to the directory of the sandbox.
    name: String,
    /// ``"write"``, ``"append"`` or ``"remove"``.
    op: &'static str,
    /// The size after the run, or ``None`` if the file was removed.
    bytes: Option<u64>,
    /// The run was stopped before all bytes were written.
    truncated: bool,
}

#[pymethods]
impl TouchedFile {
    fn __repr__(&self) -> String {
        let bytes = self.bytes.map_or_else(|| "None".into(), |bytes| bytes.to_string());
        format!(
            "TouchedFile(name={:?}, op={:?}, bytes={bytes}, truncated={})",
            self.name,
            self.op,
            if self.truncated { "True" } else { "False" }
        )
    }
}

/// The cost of a run.
#[pyclass(frozen, get_all, module = "toolscript")]
pub struct Receipt {
    /// The fuel that the run used, about one unit per instruction.
    fuel: u64,
    /// The wall time in microseconds, without the time in the queue.
    microseconds: u64,
    /// The peak size of all memories in bytes.
    memory_peak: u64,
    /// The size of the log lines in bytes.
    log_bytes: u64,
    /// The size of the result as JSON in bytes.
    result_bytes: u64,
    /// The number of bytes read from files.
    bytes_read: u64,
    /// The number of bytes written to files.
    bytes_written: u64,
    /// The number of files created.
    files_created: u64,
    /// The number of calls from the script to the host.
    host_calls: u64,
    /// The time in microseconds that the calls took.
    host_call_microseconds: u64,
    /// The kind of the limit that stopped the run.
    stopped_by: Option<&'static str>,
}

#[pymethods]
impl Receipt {
    fn __repr__(&self) -> String {
        format!("Receipt(fuel={}, microseconds={}, memory_peak={})", self.fuel, self.microseconds, self.memory_peak)
    }
}

impl From<&engine::Receipt> for Receipt {
    fn from(receipt: &engine::Receipt) -> Self {
        Self {
            fuel: receipt.fuel,
            microseconds: receipt.microseconds,
            memory_peak: receipt.memory_peak,
            log_bytes: receipt.log_bytes,
            result_bytes: receipt.result_bytes,
            bytes_read: receipt.bytes_read,
            bytes_written: receipt.bytes_written,
            files_created: receipt.files_created,
            host_calls: receipt.host_calls.count,
            host_call_microseconds: receipt.host_calls.microseconds,
            stopped_by: receipt.stopped_by.map(toolscript::ErrorKind::name),
        }
    }
}

/// The output and the exit code of a script or a command.
#[pyclass(frozen, get_all, module = "toolscript")]
pub struct Execution {
    /// The log lines, followed by a line with the result as JSON or by the error.
    output: String,
    /// The log lines and the result.
    stdout: String,
    /// The error with its traceback.
    stderr: String,
    /// 0 success, 1 script error, 2 invalid command, 3 limit exceeded, 130 cancelled.
    exit_code: u8,
    /// The output was truncated by a limit.
    truncated: bool,
    /// The files that the run created, changed or removed, sorted by name.
    files_touched: Py<PyList>,
    /// The cost of the run, or ``None`` if the script did not run.
    receipt: Option<Py<Receipt>>,
}

#[pymethods]
impl Execution {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Execution(exit_code={}, output={})", self.exit_code, (&self.output).into_pyobject(py)?.repr()?))
    }
}

impl Execution {
    /// Converts an execution, or raises the exception that stopped it.
    pub fn new(py: Python<'_>, execution: sandbox::Execution, state: &RunState) -> PyResult<Self> {
        if let Some(raised) = state.take_raised() {
            return Err(raised);
        }
        let (stdout, stderr) = (execution.stdout().to_owned(), execution.stderr().to_owned());
        let touched = execution.run.as_ref().map_or(&[][..], |run| &run.outcome.files_touched);
        let files_touched = touched_files(py, touched)?.unbind();
        let receipt = execution.run.as_ref().map(|run| Py::new(py, Receipt::from(&run.receipt))).transpose()?;
        let sandbox::Execution { output, exit_code, truncated, .. } = execution;
        Ok(Self { output, stdout, stderr, exit_code, truncated, files_touched, receipt })
    }
}

/// Returns the run, or raises `ScriptError` or the exception that stopped it.
pub fn conclude(py: Python<'_>, run: engine::Run, state: &RunState) -> PyResult<Run> {
    if let Some(raised) = state.take_raised() {
        return Err(raised);
    }
    let (outcome, receipt) = (run.outcome, Receipt::from(&run.receipt));
    match &outcome.result {
        Ok(json) => Ok(Run {
            result: to_python::decode(py, json.get())?.unbind(),
            logs: PyList::new(py, &outcome.logs)?.unbind(),
            files_touched: touched_files(py, &outcome.files_touched)?.unbind(),
            receipt: Py::new(py, receipt)?,
            diagnostics: check::diagnostics(py, &outcome.diagnostics)?,
            truncated: outcome.truncated,
            replaced: outcome.replaced,
        }),
        Err(error) => {
            let raised = script_error(py, error, &outcome, receipt)?;
            if let Some(cause) = state.take_cause(&error.message) {
                raised.set_cause(py, Some(cause));
            }
            Err(raised)
        }
    }
}

/// Returns the exception for the error that ended a run.
fn script_error(py: Python<'_>, error: &toolscript::ScriptError, outcome: &toolscript::Outcome, receipt: Receipt) -> PyResult<PyErr> {
    let details = PyDict::new(py);
    details.set_item("kind", error.kind.name())?;
    details.set_item("line", line(error))?;
    details.set_item("traceback", &error.traceback)?;
    details.set_item("logs", &outcome.logs)?;
    details.set_item("files_touched", touched_files(py, &outcome.files_touched)?)?;
    details.set_item("receipt", Py::new(py, receipt)?)?;
    details.set_item("truncated", &outcome.truncated)?;
    details.set_item("diagnostics", check::diagnostics(py, &error.diagnostics)?)?;
    Ok(PyErr::from_value(errors::script_error_class(py)?.call((&error.message,), Some(&details))?))
}

/// Returns the line of the script at which an error was raised: of the first mistake of a check, or from the message or the traceback.
fn line(error: &toolscript::ScriptError) -> Option<u32> {
    let number = |text: &str| {
        let digits = text.strip_prefix("script:")?;
        digits.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    };
    error
        .diagnostics
        .first()
        .map(|found| found.line)
        .or_else(|| number(&error.message))
        .or_else(|| error.traceback.as_ref()?.lines().find_map(number))
}

fn touched_files<'py>(py: Python<'py>, touched: &[files::TouchedFile]) -> PyResult<Bound<'py, PyList>> {
    let convert = |file: &files::TouchedFile| TouchedFile {
        name: file.name.clone(),
        op: file.op.name(),
        bytes: file.bytes,
        truncated: file.truncated,
    };
    PyList::new(py, touched.iter().map(|file| Py::new(py, convert(file))).collect::<PyResult<Vec<_>>>()?)
}
