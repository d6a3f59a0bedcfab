//! `NativeSandbox`: an engine, a directory and functions. `lib/sandbox.ts` documents the methods.

use crate::{
    check,
    engine::{NativeEngine, default_engine},
    errors::Failure,
    events::{Bridge, Events, Output},
    execution,
    functions::{FunctionTable, RunFunctions, ScriptFunction, function_table, summaries},
    listener::EventListener,
    options::{self, CheckArguments, LimitOptions, RunArguments, SandboxOptions},
    sources::{NativeSource, SourceProvider},
};
use napi::{
    Status,
    bindgen_prelude::{Buffer, Either},
};
use napi_derive::napi;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};
use toolscript::{
    CancellationToken, EngineBuilder, Files, Limits, RunOptions, Script,
    engine::{IoErrorMode, IoOptions, Listener, RunQuota},
    files::DirectoryError,
    functions::FunctionProvider,
    mcp::script_description,
    sandbox::ExecOptions,
    sdk::Sdk,
};

/// A sandbox. Its methods start operations, and events report their ends.
#[napi]
pub struct NativeSandbox {
    pub(crate) events: Arc<Events>,
    core: Arc<OnceLock<Core>>,
    limits: Limits,
    quota: Option<RunQuota>,
    functions: Mutex<FunctionSet>,
}

/// The parts that take time to create.
struct Core {
    engine: toolscript::Engine,
    io: Option<IoOptions>,
    /// The sandbox of the library, which has the file operations.
    sandbox: Option<toolscript::Sandbox>,
}

#[derive(Clone, Default)]
struct FunctionSet {
    table: Arc<FunctionTable>,
    sources: Vec<Arc<Sdk>>,
}

#[napi]
impl NativeSandbox {
    /// Starts to open a sandbox. It must not be used before the operation has ended.
    #[napi(factory)]
    pub fn open(
        bridge: &Bridge,
        operation: u32,
        directory: Option<String>,
        engine: Option<&NativeEngine>,
        options: String,
    ) -> napi::Result<Self> {
        let mut options: SandboxOptions = options::parse(&options)?;
        let limits = std::mem::take(&mut options.limits).apply(Limits::default()).map_err(invalid)?;
        let quota = options.concurrency.map(|runs| RunQuota::new(runs, EngineBuilder::DEFAULT_QUEUE_LIMIT));
        let (core, events) = (Arc::new(OnceLock::new()), Arc::clone(&bridge.events));
        let opened = Arc::clone(&core);
        let engine = engine.map(|engine| engine.engine.clone());
        let (sandbox_limits, sandbox_quota) = (limits.clone(), quota.clone());
        events.spawn(operation, |_| async move {
            let open = move || Core::open(directory, engine, &options, sandbox_limits, sandbox_quota);
            let opening = tokio::task::spawn_blocking(open).await;
            let _ = opened.set(opening.unwrap_or_else(|_| Err(Failure::internal()))?);
            Output::json(&())
        })?;
        Ok(Self { events, core, limits, quota, functions: Mutex::default() })
    }

    /// Sets the JavaScript functions: a JSON array of names and descriptions.
    #[napi]
    pub fn set_functions(&self, functions: String) -> napi::Result<()> {
        let functions: Vec<ScriptFunction> = options::parse(&functions)?;
        self.functions().table = Arc::new(function_table(functions).map_err(invalid)?);
        Ok(())
    }

    /// Adds the functions of an API or an MCP server.
    #[napi]
    pub fn add_source(&self, source: &NativeSource) -> napi::Result<()> {
        let sdk = source.sdk()?;
        self.functions().sources.push(sdk);
        Ok(())
    }

    /// The identifier, and the directory that relative paths start at.
    #[napi]
    pub fn describe(&self) -> napi::Result<Vec<String>> {
        let sandbox = self.core()?.sandbox.as_ref();
        Ok(sandbox.map_or_else(Vec::new, |sandbox| vec![sandbox.id().to_owned(), sandbox.working_directory().to_owned()]))
    }

    /// Describes scripts for a model: the language, the functions, the files and the limits, some of which can be given.
    #[napi]
    pub fn description(&self, limits: String) -> napi::Result<String> {
        let limits: LimitOptions = options::parse(&limits)?;
        let limits = limits.apply(self.limits.clone()).map_err(invalid)?;
        let FunctionSet { table, sources } = self.functions().clone();
        let sdks: Vec<&Sdk> = sources.iter().map(|sdk| &**sdk).collect();
        Ok(script_description(&limits, self.core()?.io.as_ref(), &sdks, &summaries(&table)))
    }

    /// Starts to look for mistakes in a script without running it.
    #[napi]
    pub fn check(&self, operation: u32, source: Either<String, Buffer>, options: String) -> napi::Result<()> {
        let options: CheckArguments = options::parse(&options)?;
        let core = self.core()?;
        let (engine, has_io, limits) = (core.engine.clone(), core.io.is_some(), self.limits.clone());
        let functions = self.run_functions(operation, BTreeMap::new())?;
        let mut script = Script::new(bytes(source));
        script.environment = options.env;
        self.events.spawn(operation, |cancellation| async move {
            Output::json(&check::check(engine, script, functions.as_deref(), has_io, limits, cancellation).await?)
        })
    }

    /// Starts a run.
    #[napi]
    pub fn run(&self, operation: u32, source: Either<String, Buffer>, options: String) -> napi::Result<()> {
        let options: RunArguments = options::parse(&options)?;
        let core = self.core()?;
        let engine = core.engine.clone();
        let listener = self.listener(operation, &options);
        let functions = self.run_functions(operation, options.credentials)?;
        let mut run = RunOptions::default().with_limits(options.limits.apply(self.limits.clone()).map_err(invalid)?);
        run.io = core.io.clone();
        run.seed = options.seed;
        run.quota = self.quota.clone();
        run.listener = listener;
        run.functions = functions;
        run.check = options.check;
        let mut script = Script::new(bytes(source)).with_arguments(options.arguments);
        script.environment = options.env;
        self.events.spawn(operation, |cancellation| async move {
            run.cancellation = cancellation;
            execution::run(&engine.run(&script, run).await?)
        })
    }

    /// Starts a command, or a script that is executed like a command.
    #[napi]
    pub fn execute(&self, operation: u32, command: String, is_script: bool, options: String) -> napi::Result<()> {
        let options: RunArguments = options::parse(&options)?;
        let sandbox = self.sandbox()?;
        let listener = self.listener(operation, &options);
        let limits = options.limits.apply(self.limits.clone()).map_err(invalid)?;
        let mut exec = ExecOptions::default().with_arguments(options.arguments).with_timeout(limits.timeout);
        exec.listener = listener;
        exec.environment = options.env;
        exec.working_directory = options.working_directory;
        exec.functions = self.run_functions(operation, options.credentials)?;
        self.events.spawn(operation, |cancellation| async move {
            let sandbox = sandbox?.with_limits(limits);
            exec.cancellation = cancellation;
            let done = if is_script { sandbox.exec(command, exec).await } else { sandbox.execute_with(&command, exec).await };
            execution::command(&done)
        })
    }
}

impl NativeSandbox {
    fn core(&self) -> napi::Result<&Core> {
        self.core.get().ok_or_else(|| napi::Error::from_reason("the sandbox is not open"))
    }

    /// Returns the sandbox of the library, or the error that there is no directory.
    pub(crate) fn sandbox(&self) -> napi::Result<Result<toolscript::Sandbox, Failure>> {
        Ok(self.core()?.sandbox.clone().ok_or_else(Failure::no_directory))
    }

    fn functions(&self) -> MutexGuard<'_, FunctionSet> {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listener(&self, operation: u32, options: &RunArguments) -> Option<Arc<dyn Listener>> {
        (options.on_print || options.on_progress).then(|| {
            Arc::new(EventListener {
                events: Arc::clone(&self.events),
                operation,
                on_print: options.on_print,
                on_progress: options.on_progress,
                latest_progress: Arc::default(),
            }) as Arc<dyn Listener>
        })
    }

    fn run_functions(&self, operation: u32, credentials: BTreeMap<String, String>) -> napi::Result<Option<Arc<dyn FunctionProvider>>> {
        let FunctionSet { table, sources } = self.functions().clone();
        let sources = SourceProvider::prepare(&sources, credentials).map_err(invalid)?;
        if table.is_empty() && sources.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(RunFunctions { table, sources, events: Arc::clone(&self.events), operation })))
    }
}

impl Core {
    fn open(
        directory: Option<String>,
        engine: Option<toolscript::Engine>,
        options: &SandboxOptions,
        limits: Limits,
        quota: Option<RunQuota>,
    ) -> Result<Self, Failure> {
        let engine = engine.map_or_else(default_engine, Ok)?;
        let Some(directory) = directory else { return Ok(Self { engine, io: None, sandbox: None }) };
        let files = Files::new(&directory).map_err(|error| directory_error(&directory, &error))?;
        let mut io = IoOptions::new(files).with_protected_names(options.protect_names);
        io.max_bytes = options.max_bytes.unwrap_or(io.max_bytes);
        io.max_files = options.max_files.unwrap_or(io.max_files);
        io.errors = if options.return_io_errors { IoErrorMode::Return } else { IoErrorMode::Raise };
        if let Some(bytes) = options.disk_quota {
            io.files = io.files.with_disk_quota(bytes)?;
        }
        let mut sandbox = toolscript::Sandbox::new(engine.clone(), io.clone()).with_limits(limits);
        if let Some(quota) = quota {
            sandbox = sandbox.with_quota(quota);
        }
        if let Some(directory) = &options.working_directory {
            sandbox = sandbox.with_working_directory(directory)?;
        }
        // Paths of scripts start at the working directory.
        io.files = sandbox.files().clone();
        Ok(Self { engine, io: Some(io), sandbox: Some(sandbox) })
    }
}

/// Waits for a file operation, unless it is cancelled first.
pub async fn cancellable<T>(
    cancellation: CancellationToken,
    operation: impl Future<Output = Result<T, toolscript::files::FileError>>,
) -> Result<T, Failure> {
    tokio::select! {
        result = operation => Ok(result?),
        () = cancellation.cancelled() => Err(toolscript::files::FileError::Interrupted.into()),
    }
}

pub fn bytes(contents: Either<String, Buffer>) -> Vec<u8> {
    match contents {
        Either::A(text) => text.into_bytes(),
        Either::B(buffer) => buffer.to_vec(),
    }
}

fn invalid(message: String) -> napi::Error {
    napi::Error::new(Status::InvalidArg, message)
}

fn directory_error(directory: &str, error: &DirectoryError) -> Failure {
    let failure = Failure::with_causes("argument", error);
    Failure::argument(format!("{directory}: {}", failure.message))
}
