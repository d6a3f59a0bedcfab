//! The part of `Sandbox` that is written in Rust. `toolscript._sandbox` documents the methods.

use crate::{
    check,
    engine::{Engine, default_engine},
    errors, file_results,
    functions::{FunctionTable, RunFunctions},
    job::{Completion, execute},
    limits::{Limits, Size, seconds},
    listener::PythonListener,
    python_function::PythonFunction,
    run,
    run_state::RunState,
    sources::{FunctionSource, SourceProvider},
};
use pyo3::{PyClass, PyTraverseError, PyVisit, exceptions::PyValueError, prelude::*, types::PyBytes};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};
use toolscript::{
    CancellationToken, Files, RunOptions, Script,
    engine::{IoErrorMode, IoOptions, RunQuota},
    files::{DirectoryError, FileError, GlobQuery, GrepQuery, WriteMode},
    mcp::script_description,
    sandbox::ExecOptions,
    sdk::Sdk,
};

/// Stops runs from another thread.
#[pyclass(frozen, module = "toolscript")]
#[derive(Default)]
pub struct Cancellation {
    token: CancellationToken,
}

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops the runs that were given this object. They raise ``ScriptError`` with the kind ``"cancelled"``.
    fn cancel(&self) {
        self.token.cancel();
    }

    /// ``True`` after ``cancel`` was called.
    #[getter]
    fn cancelled(&self) -> bool {
        self.token.is_cancelled()
    }
}

/// The options of a run.
#[derive(FromPyObject)]
struct RunArguments<'py> {
    arguments: Vec<String>,
    limits: Option<Bound<'py, Limits>>,
    timeout: Option<f64>,
    on_print: Option<Py<PyAny>>,
    on_progress: Option<Py<PyAny>>,
    seed: Option<u64>,
    check: String,
    credentials: BTreeMap<String, String>,
    env: Option<BTreeMap<String, String>>,
    cancellation: Option<Bound<'py, Cancellation>>,
    /// The event loop that executes functions.
    caller: Option<Py<PyAny>>,
}

impl RunArguments<'_> {
    /// Returns the state of a new run.
    fn state(&self) -> Arc<RunState> {
        let mut state = RunState::default();
        if let Some(cancellation) = &self.cancellation {
            state.cancellation = cancellation.get().token.child_token();
        }
        Arc::new(state)
    }
}

/// An engine, a directory and functions.
#[pyclass(frozen)]
pub struct SandboxCore {
    engine: OnceLock<toolscript::Engine>,
    io: Option<IoOptions>,
    limits: toolscript::Limits,
    working_directory: Option<String>,
    sandbox: OnceLock<toolscript::Sandbox>,
    quota: Option<RunQuota>,
    functions: Mutex<Arc<FunctionTable>>,
}

impl SandboxCore {
    fn engine(&self, py: Python<'_>) -> PyResult<toolscript::Engine> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine.clone());
        }
        let engine = default_engine(py)?;
        Ok(self.engine.get_or_init(|| engine).clone())
    }

    /// Returns the sandbox of the library, which has the file operations.
    fn sandbox(&self, py: Python<'_>) -> PyResult<toolscript::Sandbox> {
        if let Some(sandbox) = self.sandbox.get() {
            return Ok(sandbox.clone());
        }
        let io = self.io.clone().ok_or_else(|| errors::no_directory(py))?;
        let mut sandbox = toolscript::Sandbox::new(self.engine(py)?, io).with_limits(self.limits.clone());
        if let Some(quota) = &self.quota {
            sandbox = sandbox.with_quota(quota.clone());
        }
        if let Some(directory) = &self.working_directory {
            sandbox = sandbox.with_working_directory(directory).map_err(|error| errors::file_error(py, &error))?;
        }
        Ok(self.sandbox.get_or_init(|| sandbox).clone())
    }

    fn functions(&self) -> MutexGuard<'_, Arc<FunctionTable>> {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the options of a run for the engine.
    fn run_options(&self, py: Python<'_>, options: RunArguments<'_>, state: &Arc<RunState>) -> PyResult<RunOptions> {
        let mut limits = options.limits.map_or_else(|| self.limits.clone(), |limits| limits.get().limits.clone());
        limits.timeout = options.timeout.map_or(Ok(limits.timeout), seconds)?;
        let mut run = RunOptions::default().with_limits(limits).with_cancellation(state.cancellation.clone());
        if let Some(io) = &self.io {
            let mut io = io.clone();
            // Paths of scripts start at the working directory.
            io.files = self.sandbox(py)?.files().clone();
            run.io = Some(io);
        }
        run.seed = options.seed;
        run.quota = self.quota.clone();
        run.check = check::mode(&options.check).ok_or_else(|| PyValueError::new_err("check must be 'off', 'errors' or 'warn'"))?;
        if options.on_print.is_some() || options.on_progress.is_some() {
            let (on_print, on_progress) = (options.on_print, options.on_progress);
            run.listener = Some(Arc::new(PythonListener { on_print, on_progress, state: Arc::clone(state) }));
        }
        if let Some(functions) = self.run_functions(options.credentials, state, options.caller)? {
            run = run.with_functions(functions);
        }
        Ok(run)
    }

    /// Returns the functions of a run, or `None` if the sandbox has none.
    fn run_functions(
        &self,
        credentials: BTreeMap<String, String>,
        state: &Arc<RunState>,
        caller: Option<Py<PyAny>>,
    ) -> PyResult<Option<RunFunctions>> {
        let table = Arc::clone(&self.functions());
        let sources = SourceProvider::prepare(table.sources(), credentials)?;
        let is_empty = table.is_empty();
        let functions = RunFunctions { table, sources, state: Arc::clone(state), caller: caller.map(Arc::new) };
        Ok(if is_empty { None } else { Some(functions) })
    }
}

#[pymethods]
impl SandboxCore {
    #[new]
    #[pyo3(signature = (directory, engine, limits, max_bytes, max_files, working_directory, io_errors, protect_names, disk_quota, concurrency))]
    #[expect(clippy::too_many_arguments, reason = "the options of a sandbox")]
    fn new(
        py: Python<'_>,
        directory: Option<PathBuf>,
        engine: Option<Bound<'_, Engine>>,
        limits: Option<Bound<'_, Limits>>,
        max_bytes: Option<Size>,
        max_files: Option<u64>,
        working_directory: Option<String>,
        io_errors: &str,
        protect_names: bool,
        disk_quota: Option<Size>,
        concurrency: Option<usize>,
    ) -> PyResult<Self> {
        let mut io = None;
        if let Some(directory) = directory {
            let files = Files::new(&directory).map_err(|error| directory_error(&directory, &error))?;
            let mut options = IoOptions::new(files).with_protected_names(protect_names);
            options.max_bytes = max_bytes.map_or(options.max_bytes, Size::bytes_on_disk);
            options.max_files = max_files.unwrap_or(options.max_files);
            options.errors = match io_errors {
                "raise" => IoErrorMode::Raise,
                "return" => IoErrorMode::Return,
                _ => return Err(PyValueError::new_err("io_errors must be 'raise' or 'return'")),
            };
            if let Some(bytes) = disk_quota {
                let files = options.files.clone();
                options.files =
                    py.detach(|| files.with_disk_quota(bytes.bytes_on_disk())).map_err(|error| errors::file_error(py, &error))?;
            }
            if let Some(directory) = &working_directory {
                // Checks the path. The sandbox sets it.
                options.files.clone().with_working_directory(directory).map_err(|error| errors::file_error(py, &error))?;
            }
            io = Some(options);
        }
        let engine = engine.map_or_else(OnceLock::new, |engine| OnceLock::from(engine.get().engine.clone()));
        Ok(Self {
            engine,
            io,
            limits: limits.map_or_else(toolscript::Limits::default, |limits| limits.get().limits.clone()),
            working_directory,
            sandbox: OnceLock::new(),
            quota: concurrency.map(|runs| RunQuota::new(runs, toolscript::EngineBuilder::DEFAULT_QUEUE_LIMIT)),
            functions: Mutex::default(),
        })
    }

    /// The limits of runs.
    #[getter]
    fn limits(&self) -> Limits {
        Limits { limits: self.limits.clone() }
    }

    fn description(&self) -> String {
        let table = Arc::clone(&self.functions());
        let sdks: Vec<&Sdk> = table.sources().iter().map(|sdk| &**sdk).collect();
        script_description(&self.limits, self.io.as_ref(), &sdks, &table.summaries())
    }

    fn add_function(&self, function: PythonFunction) -> PyResult<()> {
        Arc::make_mut(&mut *self.functions()).insert(function).map_err(PyValueError::new_err)
    }

    fn add_source(&self, source: &Bound<'_, FunctionSource>) {
        Arc::make_mut(&mut *self.functions()).add_source(Arc::clone(&source.get().sdk));
    }

    fn run(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        options: RunArguments<'_>,
        completion: Option<Completion>,
    ) -> PyResult<Py<PyAny>> {
        let mut script = Script::new(source_text(source)?).with_arguments(&options.arguments);
        script.environment = options.env.clone();
        let (state, engine) = (options.state(), self.engine(py)?);
        let run_options = self.run_options(py, options, &state)?;
        let run = async move { engine.run(&script, run_options).await };
        execute(py, completion, Some(Arc::clone(&state)), run, move |py, run| match run {
            Ok(run) => Ok(Py::new(py, run::conclude(py, run, &state)?)?.into_any()),
            Err(error) => Err(errors::run_rejected(py, &error)),
        })
    }

    /// Finds mistakes in a script. `has_environment` is true if the script will have the table `env`.
    fn check(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        has_environment: bool,
        completion: Option<Completion>,
    ) -> PyResult<Py<PyAny>> {
        let mut script = Script::new(source_text(source)?);
        script.environment = has_environment.then(BTreeMap::new);
        let functions = self.run_functions(BTreeMap::new(), &Arc::default(), None)?;
        let check = check::check(self.engine(py)?, script, functions, self.io.is_some(), self.limits.clone());
        execute(py, completion, None, check, |py, checked| {
            let found = checked.map_err(|error| errors::check_rejected(py, &error))?;
            let found = found.into_iter().map(|diagnostic| Py::new(py, diagnostic)).collect::<PyResult<Vec<_>>>()?;
            Ok(found.into_pyobject(py)?.into_any().unbind())
        })
    }

    /// Runs source text, or a command if `is_command` is true, and returns its output and its exit code.
    fn exec(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        is_command: bool,
        working_directory: Option<String>,
        options: RunArguments<'_>,
        completion: Option<Completion>,
    ) -> PyResult<Py<PyAny>> {
        let (sandbox, source, state) = (self.sandbox(py)?, source_text(source)?, options.state());
        let mut exec = ExecOptions::default().with_arguments(&options.arguments).with_cancellation(state.cancellation.clone());
        exec.environment = options.env.clone();
        exec.working_directory = working_directory;
        exec.timeout = options.timeout.map(seconds).transpose()?;
        let run = self.run_options(py, options, &state)?;
        (exec.functions, exec.listener) = (run.functions, run.listener);
        let execution = async move {
            match String::from_utf8(source) {
                Ok(command) if is_command => sandbox.execute_with(&command, exec).await,
                Ok(source) => sandbox.exec(source, exec).await,
                Err(error) => sandbox.exec(error.into_bytes(), exec).await,
            }
        };
        execute(py, completion, Some(Arc::clone(&state)), execution, move |py, execution| {
            object(py, run::Execution::new(py, execution, &state)?)
        })
    }

    fn read(&self, py: Python<'_>, path: String, offset: u64, limit: Option<u64>, completion: Option<Completion>) -> PyResult<Py<PyAny>> {
        let sandbox = self.sandbox(py)?;
        let read = async move { sandbox.read(&path, offset, limit).await };
        execute(py, completion, None, read, |py, read| file_results::contents(py, raise(py, read)?))
    }

    fn read_bytes(&self, py: Python<'_>, path: String, completion: Option<Completion>) -> PyResult<Py<PyAny>> {
        let sandbox = self.sandbox(py)?;
        let read = async move { sandbox.read_raw(&path).await };
        execute(py, completion, None, read, |py, read| Ok(PyBytes::new(py, &raise(py, read)?).into_any().unbind()))
    }

    fn write(
        &self,
        py: Python<'_>,
        path: String,
        contents: &Bound<'_, PyAny>,
        mode: &str,
        completion: Option<Completion>,
    ) -> PyResult<Py<PyAny>> {
        let mode = match mode {
            "create" => WriteMode::Create,
            "overwrite" => WriteMode::Overwrite,
            "append" => WriteMode::Append,
            _ => return Err(PyValueError::new_err("mode must be 'create', 'overwrite' or 'append'")),
        };
        let (sandbox, contents) = (self.sandbox(py)?, source_text(contents)?);
        let write = async move { sandbox.write(&path, contents, mode).await };
        execute(py, completion, None, write, |py, written| object(py, file_results::WriteResult::from(raise(py, written)?)))
    }

    fn edit(
        &self,
        py: Python<'_>,
        path: String,
        old: String,
        new: String,
        all: bool,
        completion: Option<Completion>,
    ) -> PyResult<Py<PyAny>> {
        let sandbox = self.sandbox(py)?;
        let edit = async move { sandbox.edit(&path, &old, &new, all).await };
        execute(py, completion, None, edit, |py, edited| object(py, file_results::EditResult::from(raise(py, edited)?)))
    }

    fn list(&self, py: Python<'_>, path: String, completion: Option<Completion>) -> PyResult<Py<PyAny>> {
        let sandbox = self.sandbox(py)?;
        let list = async move { sandbox.list(&path).await };
        execute(py, completion, None, list, |py, listed| {
            Ok(file_results::entries(py, raise(py, listed)?)?.into_pyobject(py)?.into_any().unbind())
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the options of a search")]
    fn glob(
        &self,
        py: Python<'_>,
        pattern: String,
        path: String,
        hidden: bool,
        files_only: bool,
        max_results: Option<usize>,
        completion: Option<Completion>,
    ) -> PyResult<Py<PyAny>> {
        let mut query = GlobQuery::new(pattern).with_path(path).with_hidden(hidden).with_files_only(files_only);
        query.max_results = max_results.unwrap_or(query.max_results);
        let sandbox = self.sandbox(py)?;
        let glob = async move { sandbox.glob(query).await };
        execute(py, completion, None, glob, |py, found| object(py, file_results::glob(py, raise(py, found)?)?))
    }

    #[expect(clippy::too_many_arguments, reason = "the options of a search")]
    fn grep(
        &self,
        py: Python<'_>,
        pattern: String,
        path: String,
        glob: Option<String>,
        regex: bool,
        hidden: bool,
        context: usize,
        max_matches: Option<usize>,
        completion: Option<Completion>,
    ) -> PyResult<Py<PyAny>> {
        let mut query = GrepQuery::new(pattern).with_path(path).with_regex(regex).with_hidden(hidden).with_context(context);
        query.glob = glob;
        query.max_matches = max_matches.unwrap_or(query.max_matches);
        let sandbox = self.sandbox(py)?;
        let grep = async move { sandbox.grep(query).await };
        execute(py, completion, None, grep, |py, found| object(py, file_results::grep(py, raise(py, found)?)?))
    }

    fn remove(&self, py: Python<'_>, path: String, completion: Option<Completion>) -> PyResult<Py<PyAny>> {
        let sandbox = self.sandbox(py)?;
        let remove = async move { sandbox.remove(&path).await };
        execute(py, completion, None, remove, |py, removed| Ok(raise(py, removed)?.into_pyobject(py)?.into_any().unbind()))
    }

    fn delete(&self, py: Python<'_>, path: String, completion: Option<Completion>) -> PyResult<Py<PyAny>> {
        let sandbox = self.sandbox(py)?;
        let delete = async move { sandbox.delete(&path).await };
        execute(py, completion, None, delete, |py, deleted| object(py, file_results::DeleteResult::from(raise(py, deleted)?)))
    }

    fn upload(&self, py: Python<'_>, files: Vec<(String, Bound<'_, PyAny>)>, completion: Option<Completion>) -> PyResult<Py<PyAny>> {
        let files = files.into_iter().map(|(path, contents)| Ok((path, source_text(&contents)?))).collect::<PyResult<Vec<_>>>()?;
        let sandbox = self.sandbox(py)?;
        let upload = async move { sandbox.upload(files).await };
        execute(py, completion, None, upload, |py, uploaded| {
            let each = uploaded.into_iter().map(|result| match result {
                Ok(written) => object(py, file_results::WriteResult::from(written)),
                Err(error) => Ok(errors::file_error(py, &error).into_value(py).into_any()),
            });
            Ok(each.collect::<PyResult<Vec<_>>>()?.into_pyobject(py)?.into_any().unbind())
        })
    }

    fn download(&self, py: Python<'_>, paths: Vec<String>, completion: Option<Completion>) -> PyResult<Py<PyAny>> {
        let sandbox = self.sandbox(py)?;
        let download = async move { sandbox.download(paths).await };
        execute(py, completion, None, download, |py, downloaded| {
            let each = downloaded.into_iter().map(|result| match result {
                Ok(bytes) => PyBytes::new(py, &bytes).into_any().unbind(),
                Err(error) => errors::file_error(py, &error).into_value(py).into_any(),
            });
            Ok(each.collect::<Vec<_>>().into_pyobject(py)?.into_any().unbind())
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // The lock is held only by threads that have the GIL, and so does this one.
        self.functions.try_lock().map_or(Ok(()), |functions| functions.traverse(&visit))
    }

    fn __clear__(&self) {
        // Dropped after the lock is released: the functions may have finalizers that use this sandbox.
        let functions = std::mem::take(&mut *self.functions());
        drop(functions);
    }
}

fn object<T: PyClass + Into<PyClassInitializer<T>>>(py: Python<'_>, value: T) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, value)?.into_any())
}

fn raise<T>(py: Python<'_>, result: Result<T, FileError>) -> PyResult<T> {
    result.map_err(|error| errors::file_error(py, &error))
}

/// Returns the bytes of a `str`, encoded as UTF-8, or of a bytes-like object.
fn source_text(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match object.extract::<&str>() {
        Ok(text) => Ok(text.as_bytes().to_vec()),
        Err(_) => object.extract(),
    }
}

/// Returns the exception for a directory that can't be used.
fn directory_error(directory: &std::path::Path, error: &DirectoryError) -> PyErr {
    match error {
        DirectoryError::Unusable(cause) => match cause.raw_os_error() {
            Some(number) => pyo3::exceptions::PyOSError::new_err((number, format!("{error}: {cause}"), directory.to_path_buf())),
            None => PyValueError::new_err(format!("{}: {error}: {cause}", directory.display())),
        },
        other => PyValueError::new_err(format!("{}: {other}", directory.display())),
    }
}
