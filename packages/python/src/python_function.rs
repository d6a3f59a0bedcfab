//! A Python function that scripts call.

use crate::{attach, errors, from_python, functions::words, run_state::RunState, to_python};
use pyo3::{
    exceptions::PyException,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyList, PyTuple},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::oneshot;
use toolscript::functions::{FunctionCall, FunctionError, FunctionResponse, FunctionValue};

/// A Python function, as `toolscript._functions.describe` describes it.
#[derive(FromPyObject)]
pub struct PythonFunction {
    pub name: String,
    pub callable: Py<PyAny>,
    /// It returns a coroutine.
    is_async: bool,
    /// The parameters that can be passed by name.
    keywords: BTreeSet<String>,
    /// The parameters without a default.
    required: Vec<String>,
    /// It takes any parameter by name.
    takes_any_keyword: bool,
    /// The meaning of an empty table as the only argument, which is neither a list nor a dict: `list`, `dict` or `nothing`.
    empty_table: String,
    /// The first line of the docstring.
    pub summary: String,
    /// The signature and the docstring.
    pub docs: String,
}

/// The error of a call that the exit of the interpreter prevents.
const EXITING: &str = "the interpreter is exiting";

/// The arguments of a call in Python.
type Arguments<'py> = (Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>);

impl PythonFunction {
    /// Counts the words that occur in the name or the documentation. The name counts more.
    pub fn score(&self, query: &[String]) -> usize {
        let name: Vec<String> = words(&self.name.replace('_', " ")).collect();
        let docs: Vec<String> = words(&self.docs.replace('_', " ")).collect();
        let in_text = |text: &[String], word: &String| {
            text.iter().any(|known| known.starts_with(word.as_str()) || word.starts_with(known.as_str()) && known.len() > 3)
        };
        query.iter().map(|word| 3 * usize::from(in_text(&name, word)) + usize::from(in_text(&docs, word))).sum()
    }

    /// Calls the function: on an event loop if there is one, otherwise on this thread.
    pub async fn call(
        self: Arc<Self>,
        call: FunctionCall,
        state: Arc<RunState>,
        caller: Option<Arc<Py<PyAny>>>,
    ) -> Result<FunctionResponse, FunctionError> {
        let started = attach::attach(|py| {
            let started = match &caller {
                Some(caller) => self.start(py, &call, caller.bind(py), !self.is_async),
                None => self.call_here(py, &call),
            };
            started.map_err(|error| self.failure(py, error, &state))
        });
        let started = started.unwrap_or_else(|| Err(EXITING.into()))?;
        let value = match started {
            Started::Completed(value) => value,
            Started::Pending(mut pending) => match (&mut pending.reply).await {
                Ok(Ok(value)) => {
                    pending.task = None;
                    value
                }
                Ok(Err(error)) => {
                    pending.task = None;
                    return Err(attach::attach(|py| self.failure(py, error, &state)).unwrap_or_else(|| EXITING.into()));
                }
                Err(_) => return Err(format!("{}: the event loop was closed", self.name).into()),
            },
        };
        Ok(FunctionResponse::new(value))
    }

    /// Calls the function on this thread. If it returns a coroutine, the event loop of the module executes it.
    fn call_here(&self, py: Python<'_>, call: &FunctionCall) -> PyResult<Started> {
        let (arguments, keywords) = self.arguments(py, call)?;
        let value = self.callable.bind(py).call(arguments, keywords.as_ref())?;
        if !is_awaitable(&value)? {
            return from_python::function_value(&value).map(Started::Completed);
        }
        static CALLER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let caller = CALLER.import(py, "toolscript._asyncio", "background_caller")?.call0()?;
        Started::on_loop(&caller, PyTuple::new(py, [value])?, false)
    }

    /// Starts the call on an event loop. A plain function is executed on another thread, so that it does not block the loop.
    fn start(&self, py: Python<'_>, call: &FunctionCall, caller: &Bound<'_, PyAny>, in_thread: bool) -> PyResult<Started> {
        let (arguments, keywords) = self.arguments(py, call)?;
        Started::on_loop(caller, (self.callable.bind(py), arguments, keywords).into_pyobject(py)?, in_thread)
    }

    /// Converts the arguments: a single table with the names of parameters becomes keyword arguments, others are positional.
    fn arguments<'py>(&self, py: Python<'py>, call: &FunctionCall) -> PyResult<Arguments<'py>> {
        if let [only] = &call.arguments[..] {
            let value = to_python::argument(py, only)?;
            if let Ok(dict) = value.cast::<PyDict>()
                && self.takes_keywords(dict)?
            {
                return Ok((PyTuple::empty(py), Some(dict.clone())));
            }
            if value.cast::<PyList>().is_ok_and(|list| list.is_empty()) {
                match self.empty_table.as_str() {
                    "nothing" => return Ok((PyTuple::empty(py), None)),
                    "dict" => return Ok((PyTuple::new(py, [PyDict::new(py)])?, None)),
                    _ => {}
                }
            }
            return Ok((PyTuple::new(py, [value])?, None));
        }
        let values = call.arguments.iter().map(|value| to_python::argument(py, value)).collect::<PyResult<Vec<_>>>()?;
        Ok((PyTuple::new(py, values)?, None))
    }

    /// Returns `true` if all keys are parameters, and all parameters without a default are keys.
    fn takes_keywords(&self, dict: &Bound<'_, PyDict>) -> PyResult<bool> {
        for key in dict.keys() {
            if !self.takes_any_keyword && !self.keywords.contains(key.extract::<&str>()?) {
                return Ok(false);
            }
        }
        self.required.iter().try_fold(true, |all, name| Ok(all && dict.contains(name)?))
    }

    /// Converts an exception to an error of the script. An exception that is not an `Exception`, such as `KeyboardInterrupt`, stops the run.
    fn failure(&self, py: Python<'_>, error: PyErr, state: &RunState) -> FunctionError {
        if !error.is_instance_of::<PyException>(py) {
            state.stop(error);
            return "the run was stopped".into();
        }
        let failure = self.describe(py, &error).unwrap_or_else(|_| format!("{}: the function failed", self.name).into());
        state.add_cause(&failure.message, error);
        failure
    }

    fn describe(&self, py: Python<'_>, error: &PyErr) -> PyResult<FunctionError> {
        let value = error.value(py);
        if !value.is_instance(errors::function_error_class(py)?)? {
            let (class, text) = (value.get_type().name()?.to_string(), value.str()?.to_string());
            let separator = if text.is_empty() { "" } else { ": " };
            return Ok(format!("{}: {class}{separator}{text}", self.name).into());
        }
        let mut failure = FunctionError::from(format!("{}: {}", self.name, value.str()?));
        failure.status = value.getattr("status")?.extract()?;
        failure.retry_after = value.getattr("retry_after")?.extract()?;
        failure.headers = value.getattr("headers")?.extract::<Option<BTreeMap<String, String>>>()?.unwrap_or_default();
        let body = value.getattr("body")?;
        if !body.is_none() {
            failure = failure.with_body(from_python::function_value(&body)?);
        }
        Ok(failure)
    }
}

/// Returns `true` for a coroutine and other awaitable objects.
fn is_awaitable(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_simple = value.is_none() || value.is_instance_of::<PyDict>() || value.is_instance_of::<PyList>();
    Ok(!is_simple && value.get_type().hasattr("__await__")?)
}

/// A call that was started.
enum Started {
    Completed(FunctionValue),
    Pending(Pending),
}

impl Started {
    /// Starts a call on the loop of a caller, which resolves a [`Reply`].
    ///
    /// `call` is a coroutine, or a function with its arguments and keyword arguments.
    fn on_loop<'py>(caller: &Bound<'py, PyAny>, call: Bound<'py, PyTuple>, in_thread: bool) -> PyResult<Self> {
        let (sender, reply) = oneshot::channel();
        let resolver = Reply { sender: Mutex::new(Some(sender)) };
        let task = caller.call_method1("start", (resolver, call, in_thread))?.unbind();
        Ok(Self::Pending(Pending { reply, task: Some(task) }))
    }
}

/// A call on an event loop. It is cancelled if the run ends before it.
struct Pending {
    reply: oneshot::Receiver<PyResult<FunctionValue>>,
    task: Option<Py<PyAny>>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            // The loop may be closed, and the interpreter may be exiting.
            attach::attach(|py| task.call_method0(py, "cancel").is_ok());
        }
    }
}

/// Receives the result of a call on an event loop.
#[pyclass(frozen)]
pub struct Reply {
    sender: Mutex<Option<oneshot::Sender<PyResult<FunctionValue>>>>,
}

impl Reply {
    fn send(&self, result: PyResult<FunctionValue>) {
        if let Some(sender) = self.sender.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The run may have ended.
            let _ = sender.send(result);
        }
    }
}

#[pymethods]
impl Reply {
    fn resolve(&self, value: &Bound<'_, PyAny>) {
        self.send(from_python::function_value(value));
    }

    fn reject(&self, error: Bound<'_, PyAny>) {
        self.send(Err(PyErr::from_value(error)));
    }
}
