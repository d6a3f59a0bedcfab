//! Finds mistakes in a script before it runs.
//!
//! The checker is a guest of its own, with the parser of Luau. It reads text that a language model wrote, so it has the same limits as the
//! sandbox: fuel, memory and time. A checker that exceeds them or traps means that the script is not checked. It never fails a run.

mod contract;
mod definitions;
mod diagnostic;
mod words;

pub use definitions::{Definitions, FunctionNames};
pub use diagnostic::{CheckMode, Diagnostic, NotChecked, Severity};
pub use words::ScriptWords;

use super::{
    Engine,
    bridge::FunctionProvider,
    image,
    meter::{self, MemoryMeter},
    run::until_stopped,
    script::Script,
};
use contract::{CheckFunction, FoundMistake};
use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;
use wasmtime::{
    Store,
    component::{ComponentExportIndex, InstancePre, Linker},
};

/// The fuel of a check. A script decides how much work the parser has.
const FUEL: u64 = 5_000_000_000;

/// The memory of a check in bytes, which a script can fill with its syntax tree.
const MEMORY: usize = 64 << 20;

/// The time of a check.
const TIMEOUT: Duration = Duration::from_millis(500);

/// The number of mistakes in the answer of a checker, and the size of a message in bytes. A model reads all of them. The guest keeps to the
/// number, but is not trusted.
const MAX_MISTAKES: usize = 50;
const MAX_MESSAGE: usize = 500;

/// The state of one instance of the checker.
struct CheckState {
    memory: MemoryMeter,
}

/// The checker, ready to be instantiated.
struct Guest {
    instance: InstancePre<CheckState>,
    export: ComponentExportIndex,
}

/// The checker, loaded when a script is checked for the first time. `None` if this build has none.
#[derive(Default)]
pub struct Checker {
    guest: OnceLock<Option<Guest>>,
}

impl Checker {
    fn guest(&self, engine: &wasmtime::Engine) -> Option<&Guest> {
        let load = || match Guest::load(engine) {
            Ok(guest) => guest,
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "the checker can't be loaded, so scripts are not checked");
                None
            }
        };
        self.guest.get_or_init(load).as_ref()
    }
}

impl Guest {
    fn load(engine: &wasmtime::Engine) -> wasmtime::Result<Option<Self>> {
        let Some(component) = image::load_checker(engine)? else { return Ok(None) };
        let interface = component.get_export_index(None, "toolscript:checker/checks@0.1.0");
        let export = interface.and_then(|interface| component.get_export_index(Some(&interface), "check"));
        let export = export.ok_or_else(|| wasmtime::Error::msg("it has no export `check`"))?;
        // It has no imports.
        let instance = Linker::new(engine).instantiate_pre(&component)?;
        Ok(Some(Self { instance, export }))
    }
}

impl Engine {
    /// Finds mistakes in a script without running it. Waits in the queue as a run does.
    ///
    /// # Errors
    ///
    /// Returns the reason why the script was not checked, such as a syntax error, which only a run reports in full.
    pub async fn check(&self, script: &Script, definitions: &Definitions) -> Result<Vec<Diagnostic>, NotChecked> {
        let cancellation = CancellationToken::new();
        let permit = self.shared.queue.acquire(&cancellation).await;
        let _permit = permit.map_err(|_| NotChecked::Busy)?;
        self.check_now(script, definitions, &cancellation).await
    }

    /// Checks a script with the functions that it can call, for a run that has a permit already.
    pub(super) async fn check_before_run(
        &self,
        script: &Script,
        functions: Option<&dyn FunctionProvider>,
        has_io: bool,
        cancellation: &CancellationToken,
    ) -> Vec<Diagnostic> {
        let words = ScriptWords::new(&script.source);
        if words.are_right(has_io) {
            return Vec::new();
        }
        let definitions = Definitions::for_words(&words, functions).with_io(has_io);
        self.check_now(script, &definitions, cancellation).await.unwrap_or_else(|reason| {
            tracing::debug!(%reason, "a script was not checked");
            Vec::new()
        })
    }

    async fn check_now(
        &self,
        script: &Script,
        definitions: &Definitions,
        cancellation: &CancellationToken,
    ) -> Result<Vec<Diagnostic>, NotChecked> {
        let guest = self.shared.checker.guest(&self.shared.engine).ok_or(NotChecked::Unavailable)?;
        let mut store = Store::new(&self.shared.engine, CheckState { memory: MemoryMeter::new(MEMORY) });
        let started = Instant::now();
        let answer = {
            let call = call(guest, &mut store, script, definitions);
            until_stopped(call, started + TIMEOUT, cancellation).await
        };
        match answer {
            Ok(Ok(diagnostics)) => diagnostics.map_err(NotChecked::Script),
            Ok(Err(trap)) => {
                tracing::warn!(error = format!("{trap:#}"), "the checker failed, so a script was not checked");
                Err(NotChecked::Stopped)
            }
            Err(stop) => {
                tracing::warn!(%stop, "a script was not checked");
                Err(NotChecked::Stopped)
            }
        }
    }
}

/// Instantiates the checker and calls its export. The inner error is the reason why it can't check the script.
async fn call(
    guest: &Guest,
    store: &mut Store<CheckState>,
    script: &Script,
    definitions: &Definitions,
) -> wasmtime::Result<Result<Vec<Diagnostic>, String>> {
    store.set_fuel(FUEL)?;
    store.fuel_async_yield_interval(Some(meter::YIELD_FUEL))?;
    store.set_hostcall_fuel(MEMORY);
    store.limiter(|state| &mut state.memory);
    let request = definitions.request(script);
    let instance = guest.instance.instantiate_async(&mut *store).await?;
    let check: CheckFunction = instance.get_typed_func(&mut *store, guest.export)?;
    let (answer,) = check.call_async(&mut *store, (request,)).await?;
    let found = match answer {
        Ok(found) => found,
        Err(reason) => return Ok(Err(diagnostic::printable(&reason.to_str(&*store)?, MAX_MESSAGE))),
    };
    let mut diagnostics = Vec::new();
    let mistakes: Vec<FoundMistake> = found.iter(&mut *store)?.take(MAX_MISTAKES).collect::<wasmtime::Result<_>>()?;
    for mistake in mistakes {
        let message = diagnostic::printable(&mistake.message.to_str(&*store)?, MAX_MESSAGE);
        diagnostics.push(Diagnostic {
            severity: mistake.severity.into(),
            line: mistake.line,
            column: mistake.column,
            length: mistake.length,
            message,
        });
    }
    Ok(Ok(diagnostics))
}
