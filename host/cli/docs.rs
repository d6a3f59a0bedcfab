//! `toolscript docs` and `toolscript types`: documentation and type definitions of the functions that scripts can call.

use super::{apis::ApiArguments, output::Output};
use crate::{
    config::Config,
    sdk::{Sdk, built_in_definitions, find_built_in},
};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};
use tokio::runtime::Runtime;

#[derive(Args)]
pub struct DocsArguments {
    /// API, function, built-in such as io.open, or words to search for [default: list all functions]
    name: Option<String>,

    #[command(flatten)]
    source: Source,
}

#[derive(Args)]
pub struct TypesArguments {
    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "sdk.d.luau")]
    output: PathBuf,

    #[command(flatten)]
    source: Source,
}

#[derive(Args)]
struct Source {
    /// Configuration file [default: toolscript.toml in the working directory, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    apis: ApiArguments,
}

impl Source {
    /// Loads the functions, if there are any. Connections to upstream servers need the runtime.
    fn load(&self) -> Result<(Option<Arc<Sdk>>, Runtime)> {
        let config = Config::find(self.config.as_deref())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("can't start the runtime")?;
        let sdk = runtime.block_on(self.apis.load_for_reading(&config))?;
        Ok((sdk, runtime))
    }
}

/// Prints the documentation.
pub fn docs(arguments: &DocsArguments) -> Result<ExitCode> {
    let built_in = arguments.name.as_deref().and_then(find_built_in);
    let (sdk, _runtime) = match (arguments.source.load(), built_in) {
        (Ok((Some(sdk), runtime)), _) => (sdk, runtime),
        // Built-ins need no API.
        (_, Some(built_in)) => return print(&built_in.docs()),
        (Err(error), None) => return Err(error),
        (Ok((None, _)), None) => bail!("no APIs are configured; add one with --api or --mcp, or in toolscript.toml"),
    };
    let text = match &arguments.name {
        None => sdk.overview(None)?,
        Some(name) if sdk.sources().iter().any(|source| source.name == *name) => sdk.overview(Some(name))?,
        Some(name) => docs_or_matches(&sdk, name)?,
    };
    print(&text)
}

/// Returns the documentation of a function, or a list of the functions that match the words.
fn docs_or_matches(sdk: &Sdk, name: &str) -> Result<String> {
    let error = match sdk.docs_for(name) {
        Ok(docs) => return Ok(docs),
        Err(error) => error,
    };
    let found = sdk.search_functions(name);
    if !found.is_empty() {
        return Ok(found.iter().map(|function| format!("sdk.{}  {}\n", function.full_name(), function.summary)).collect());
    }
    // A server that is down may have the function.
    if sdk.sources().iter().any(|source| source.down.is_some()) {
        return Err(error.into());
    }
    bail!("no function is named '{name}' or matches it; 'toolscript docs' lists all functions");
}

/// Writes the type definitions.
pub fn types(arguments: &TypesArguments) -> Result<ExitCode> {
    let (sdk, _runtime) = arguments.source.load()?;
    let text = sdk.map_or_else(|| built_in_definitions().to_owned(), |sdk| sdk.definitions());
    if arguments.output == Path::new("-") {
        return print(&text);
    }
    #[expect(clippy::disallowed_methods, reason = "writes a file that the user named, not one of a script")]
    std::fs::write(&arguments.output, text).with_context(|| format!("can't write {}", arguments.output.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> Result<ExitCode> {
    let mut output = Output::stdout();
    for line in text.lines() {
        output.line(line);
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}
