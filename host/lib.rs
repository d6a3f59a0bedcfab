//! Runs scripts that language models write: Luau inside WebAssembly, metered and boxed in.
//!
//! # Running a script
//!
//! An [`Engine`] is built once and shared. Each run gets a fresh instance of the guest (Luau's compiler and VM, compiled to a
//! WASI component), which is dropped afterwards: nothing of one script is there for the next.
//!
//! ```
//! use toolscript::{Engine, RunOptions, Script};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new()?;
//! let script = Script::new("print('hello') return { sum = 1 + tonumber(...) }").with_arguments(["41"]);
//! let run = engine.run(&script, RunOptions::default()).await?;
//!
//! assert_eq!(run.outcome.logs, ["hello"]);
//! assert_eq!(run.outcome.result.as_ref().unwrap().get(), r#"{"sum":42}"#);
//! # Ok(())
//! # }
//! ```
//!
//! # Limits
//!
//! [`Limits`] bound fuel, wall time, memory and what a script says and returns; all are on by default. A limit, a
//! [cancellation](RunOptions::cancellation) or the end of the caller's future stops a script at once, and no script can catch it.
//!
//! ```
//! use toolscript::{Engine, ErrorKind, Limits, RunOptions, Script};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut limits = Limits::default();
//! limits.fuel = Some(1_000_000);
//! let options = RunOptions::default().with_limits(limits);
//! let run = Engine::new()?.run(&Script::new("print(1) while true do end"), options).await?;
//!
//! assert_eq!(run.outcome.result.unwrap_err().kind, ErrorKind::Fuel);
//! assert_eq!(run.outcome.logs, ["1"]);
//! # Ok(())
//! # }
//! ```
//!
//! # Files
//!
//! A run that is given [`Files`], one directory, has Lua's `io` on it, and its outcome says which files it touched.
//!
//! ```
//! use toolscript::{Engine, FileOperation, Files, Io, RunOptions, Script};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("files");
//! let mut io = Io::new(Files::new(&folder)?);
//! io.max_bytes = 1 << 20;
//! let script = Script::new("io.open('notes/today.txt', 'a'):write('hello'):close()");
//! let run = Engine::new()?.run(&script, RunOptions::default().with_io(io)).await?;
//!
//! let touched = &run.outcome.files_touched[0];
//! assert_eq!((touched.name.as_str(), touched.op, touched.bytes), ("notes/today.txt", FileOperation::Append, Some(5)));
//! # Ok(())
//! # }
//! ```
//!
//! # A sandbox
//!
//! A [`Sandbox`] is an engine and files as one object, for an agent or a tenant: its operations on files go by the same rules as
//! those of scripts, and what it runs has an output and an exit code. [`Backend`] is the same as a trait, as frameworks have it.
//!
//! ```
//! use toolscript::{Contents, Engine, Files, GrepQuery, Sandbox, WriteMode};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("files");
//! let sandbox = Sandbox::new(Engine::new()?, Files::new(&folder)?).with_working("desk")?;
//! sandbox.write("main.luau", "print('hello', ...)\n", WriteMode::Create).await?;
//! sandbox.edit("main.luau", "hello", "good day", false).await?;
//!
//! let done = sandbox.execute("luau main.luau everybody").await;
//! assert_eq!((done.output.as_str(), done.exit_code), ("good day\teverybody\n", 0));
//!
//! // Names in results count from home, which `~` is in paths.
//! let found = sandbox.grep(GrepQuery::new("good day").in_path("~")).await?;
//! assert_eq!((found.matches[0].name.as_str(), found.matches[0].line), ("desk/main.luau", 1));
//! let Contents::Text(part) = sandbox.read("~/desk/main.luau", 1, None).await? else { panic!("no text") };
//! assert_eq!(part.numbered(), "     1\tprint('good day', ...)\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Outcome and receipt
//!
//! The [`Outcome`] is for whoever asked for the run, and is what a model may read. The [`Receipt`] says what the run cost. A
//! [`Listener`] hears of log lines and progress while the script runs.

#![deny(missing_docs)]

mod bridge;
mod engine;
mod files;
mod random;
mod sandbox;

pub use bridge::{Blocking, Listener, Progress, Room, ToolCall, ToolReply, ToolValue, Tools};
pub use engine::{
    DecodeError, Engine, EngineBuilder, EngineError, ErrorKind, Functions, HostCalls, InvalidFunction, InvalidLimit, Io, IoErrors, Limits,
    Outcome, Receipt, Refusal, Run, RunOptions, Script, ScriptError, Share, command, command_module, component, wit,
};
pub use files::{
    Contents, CutBy, Edited, FileEntry, FileError, FileInfo, FileKind, FileOperation, FilePage, FileTouched, Files, FilesError, GlobFound,
    GlobQuery, GrepFound, GrepMatch, GrepQuery, Quota, TextPart, WriteMode, Written,
};

pub use sandbox::{Backend, ExecOptions, Execution, Reply, Sandbox};

/// Stops runs; see [`RunOptions::cancellation`].
pub use tokio_util::sync::CancellationToken;

/// JSON text that was checked; see [`Outcome::result`].
pub use serde_json::value::RawValue;
