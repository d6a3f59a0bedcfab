//! `toolscript check`.

use super::{
    apis::ApiArguments,
    excerpt::Source,
    outcome,
    output::{self, Output},
    user_file::read_script,
};
use crate::{
    Engine, RunOptions, Script, ScriptError,
    config::Config,
    engine::{Definitions, Diagnostic, FileIo, NotChecked},
    functions::FunctionProvider,
};
use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;
use std::{path::PathBuf, process::ExitCode};

#[derive(Args)]
pub struct Arguments {
    /// Scripts to check; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print the mistakes as JSON on standard output, one object for each file
    #[arg(long)]
    json: bool,

    /// Configuration file [default: toolscript.toml in the working directory, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    apis: ApiArguments,
}

/// The mistakes in one file.
#[derive(Serialize)]
struct Report {
    file: String,
    /// A syntax error. Nothing else is reported then.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<SyntaxError>,
    diagnostics: Vec<Diagnostic>,
    /// Why the script was not checked, although it has no syntax error.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_checked: Option<String>,
}

/// A syntax error, as the runtime reports it.
#[derive(Serialize)]
struct SyntaxError {
    #[serde(flatten)]
    error: ScriptError,
    column: Option<u32>,
}

impl Report {
    fn has_errors(&self) -> bool {
        self.error.is_some() || self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Prints the mistakes with their source lines.
    fn print(&self, text: &[u8]) {
        let source = Source { name: &self.file, text };
        if let Some(SyntaxError { error, .. }) = &self.error {
            outcome::print_error(error, &source);
        }
        self.diagnostics.iter().for_each(|diagnostic| outcome::print_diagnostic(diagnostic, &source));
        if let Some(reason) = &self.not_checked {
            output::print_note(&format!("{}: not checked: {reason}", self.file));
        }
    }
}

/// Checks the scripts. The exit code is 1 if one has an error.
pub fn check(arguments: &Arguments) -> Result<ExitCode> {
    let config = Config::find(arguments.config.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("can't start the runtime")?;
    let sdk = runtime.block_on(arguments.apis.load_for_reading(&config))?;
    let engine = config.limits.engine().concurrency(1).file_io(FileIo::Inline).build()?;
    let limits = config.limits.clone().resolve();
    let has_io = config.io.is_enabled(true);
    let mut json = Output::stdout();
    let mut has_errors = false;
    for file in &arguments.files {
        let text = read_script(file, limits.script)?;
        let name = if file.as_os_str() == "-" { "stdin".into() } else { file.display().to_string() };
        let script = Script::new(text.clone());
        let definitions = Definitions::for_script(&script, sdk.as_ref().map(|sdk| sdk as &dyn FunctionProvider)).with_io(has_io);
        let report = runtime.block_on(report(name, &script, &definitions, &engine, &limits))?;
        has_errors |= report.has_errors();
        if arguments.json {
            json.json(&serde_json::to_string(&report)?);
        } else {
            report.print(&text);
        }
    }
    json.finish()?;
    Ok(if has_errors { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn report(file: String, script: &Script, definitions: &Definitions, engine: &Engine, limits: &crate::Limits) -> Result<Report> {
    let mut report = Report { file, error: None, diagnostics: Vec::new(), not_checked: None };
    match engine.check(script, definitions).await {
        Ok(diagnostics) => report.diagnostics = diagnostics,
        Err(NotChecked::Unavailable) => return Err(NotChecked::Unavailable.into()),
        Err(reason) => report.not_checked = Some(reason.to_string()),
    }
    // The compiler finds mistakes that the parser of the checker does not, such as too many variables.
    if let Some(error) = engine.compile(script, RunOptions::default().with_limits(limits.clone())).await? {
        report.not_checked = None;
        report.error = Some(SyntaxError { column: error.column, error });
    }
    Ok(report)
}
