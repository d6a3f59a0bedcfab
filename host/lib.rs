//! Runs LLM-written Luau scripts in a WebAssembly sandbox with hard resource limits.
//!
//! # Running a script
//!
//! Build an [`Engine`] once and share it. Each run executes in a fresh instance of the guest (the Luau compiler and VM, compiled to a
//! WASI component). The instance is dropped after the run, so that one script can't affect the next.
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
//! [`Limits`] bound fuel, wall time, memory, logs and the result; all are on by default. A limit, a
//! [cancellation](RunOptions::cancellation) or dropping the future stops a script at once, and no script can catch the stop.
//!
//! ```
//! use toolscript::{Engine, ErrorKind, Limits, RunOptions, Script};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = RunOptions::default().with_limits(Limits::default().with_fuel(1_000_000));
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
//! [`IoOptions`](engine::IoOptions) give a run access to one directory through the Lua `io` library. The outcome lists the files that
//! the run changed.
//!
//! ```
//! use toolscript::{Engine, Files, RunOptions, Script, engine::IoOptions, files::FileOperation};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path().join("files");
//! let io = IoOptions::new(Files::new(&directory)?).with_max_bytes(1 << 20);
//! let script = Script::new("io.open('notes/today.txt', 'a'):write('hello'):close()");
//! let run = Engine::new()?.run(&script, RunOptions::default().with_io(io)).await?;
//!
//! let touched = &run.outcome.files_touched[0];
//! assert_eq!((touched.name.as_str(), touched.op, touched.bytes), ("notes/today.txt", FileOperation::Append, Some(5)));
//! # Ok(())
//! # }
//! ```
//!
//! # Sandbox
//!
//! A [`Sandbox`] combines an engine and a directory for one agent or tenant. Its file operations follow the same rules as those of
//! scripts, and [`Sandbox::execute`] returns output and an exit code. [`Sandbox::spawn`] runs a script in the background.
//! [`Backend`](sandbox::Backend) has the same operations as a trait, in the form that agent frameworks expect.
//!
//! ```
//! use toolscript::{
//!     Engine, Files, Sandbox,
//!     files::{FileContents, GrepQuery, WriteMode},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path().join("files");
//! let sandbox = Sandbox::new(Engine::new()?, Files::new(&directory)?).with_working_directory("desk")?;
//! sandbox.write("main.luau", "print('hello', ...)\n", WriteMode::Create).await?;
//! sandbox.edit("main.luau", "hello", "good day", false).await?;
//!
//! let done = sandbox.execute("luau main.luau everybody").await;
//! assert_eq!((done.output.as_str(), done.exit_code), ("good day\teverybody\n", 0));
//!
//! // Names in results are relative to the io directory, which is `~` in paths.
//! let found = sandbox.grep(GrepQuery::new("good day").with_path("~")).await?;
//! assert_eq!((found.matches[0].name.as_str(), found.matches[0].line), ("desk/main.luau", 1));
//! let FileContents::Text(page) = sandbox.read("~/desk/main.luau", 1, None).await? else { panic!("not text") };
//! assert_eq!(page.numbered(), "     1\tprint('good day', ...)\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Functions
//!
//! [`Functions`] are closures that scripts call as `sdk.name(...)`. The feature `sdk` adds functions from OpenAPI specifications and
//! upstream MCP servers. Any other source implements [`FunctionProvider`](functions::FunctionProvider).
//!
//! # Outcome and receipt
//!
//! The [`Outcome`] is for the caller and may be shown to a model. The [`Receipt`](engine::Receipt) contains what the run cost. A
//! [`Listener`](engine::Listener) receives log lines and progress while the script runs.
//!
//! # Features
//!
//! Each feature includes the ones before it.
//!
//! | feature | adds |
//! |---|---|
//! | none | engine, files, sandbox, functions |
//! | `sdk` | `toolscript::sdk`: functions from OpenAPI specifications and upstream MCP servers |
//! | `mcp` | `toolscript::mcp`: the MCP server over stdio and HTTP |
//! | `cli` (default) | the `toolscript` program |

#![deny(missing_docs)]
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "unit tests create large texts and access files"))]

mod allocation;
pub mod engine;
pub mod files;
mod random;
pub mod sandbox;
mod text;
#[cfg(feature = "mcp")]
mod timestamp;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "cli")]
mod config;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "sdk")]
pub mod sdk;

pub use engine::{Engine, EngineBuilder, ErrorKind, Limits, Outcome, Run, RunOptions, Script, ScriptError};
pub use files::Files;
pub use functions::Functions;
pub use sandbox::Sandbox;

/// Stops runs; see [`RunOptions::cancellation`].
pub use tokio_util::sync::CancellationToken;

/// Valid JSON text; see [`Outcome::result`].
pub use serde_json::value::RawValue;

/// Functions that scripts call as `sdk.name(...)`.
pub mod functions {
    pub use crate::engine::bridge::{
        Attachment, FunctionCall, FunctionError, FunctionProvider, FunctionResponse, FunctionValue, JsonValue, ResponseBudget,
    };
    pub use crate::engine::functions::{Functions, InvalidFunctionName};
    pub use futures_util::future::BoxFuture;
}

/// The guest as WebAssembly, for hosts other than this library.
pub mod component {
    pub use crate::engine::image::{ComponentError, checker, checker_wit, component, wasi_command, wasi_core_module, wit};
}
