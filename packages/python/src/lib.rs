//! The extension module `toolscript._toolscript`. The Python files around it have the documented interface.
//!
//! The GIL is released while a script runs. Python code that a script calls runs on the thread that called `run`, or on the event loop
//! that awaits `arun`.

mod attach;
mod check;
mod command;
mod engine;
mod errors;
mod file_results;
mod from_python;
mod functions;
mod job;
mod limits;
mod listener;
mod python_function;
mod run;
mod run_state;
mod runtime;
mod sandbox;
mod sources;
mod to_python;

/// The extension module.
#[pyo3::pymodule(gil_used = true)]
mod _toolscript {
    #[pymodule_export]
    use crate::{
        attach::stop_calls,
        check::Diagnostic,
        command::main,
        engine::Engine,
        file_results::{BinaryFile, DeleteResult, EditResult, FileInfo, GlobResult, GrepMatch, GrepResult, TextPage, WriteResult},
        limits::Limits,
        run::{Execution, Receipt, Run, TouchedFile},
        sandbox::{Cancellation, SandboxCore},
        sources::{FunctionSource, connect_mcp_server, load_openapi},
    };

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name of a module attribute")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
