//! The guest as embedded by the build: machine code for the engine, and WebAssembly for other hosts.

use super::error::EngineError;
use wasmtime::component::Component;

/// Machine code for the target of this build. It is empty in a build without a guest.
static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.cwasm"));

/// The guest as a component. It is empty in a build without a guest.
static COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.wasm"));

/// The guest as a WASI command and as a WASI core module. They are empty in a build without a guest or with `TOOLSCRIPT_GUEST`.
static WASI_COMMAND: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/command.wasm"));
static WASI_CORE_MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/command-core.wasm"));

/// Returns the sandbox as a component, for any host that runs components and implements [its imports](wit).
///
/// # Errors
///
/// Returns an error if the program was built without a guest.
pub fn component() -> Result<&'static [u8], ComponentError> {
    if COMPONENT.is_empty() { Err(ComponentError::NoGuest) } else { Ok(COMPONENT) }
}

/// Returns the sandbox as a component of the world `wasi:cli/command`.
///
/// Any WASI host can run it, with access to a preopened directory and without imports to implement. Run it with `--help` for its options.
///
/// # Errors
///
/// Returns an error if the program was built without a guest, or with a prebuilt one.
pub fn wasi_command() -> Result<&'static [u8], ComponentError> {
    if WASI_COMMAND.is_empty() { Err(ComponentError::NoWasiCommand) } else { Ok(WASI_COMMAND) }
}

/// Returns the WASI command as a core module of WASI preview 1, for hosts without the component model, such as browsers.
///
/// # Errors
///
/// Returns an error if the program was built without a guest, or with a prebuilt one.
pub fn wasi_core_module() -> Result<&'static [u8], ComponentError> {
    if WASI_CORE_MODULE.is_empty() { Err(ComponentError::NoWasiCommand) } else { Ok(WASI_CORE_MODULE) }
}

/// Returns the contract between the sandbox and its host as WIT, including the packages that it refers to.
#[must_use]
pub fn wit() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/toolscript.wit"))
}

/// The reason why the guest is not available as WebAssembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// The package was built with `TOOLSCRIPT_GUEST=stub`, or for documentation.
    #[error("this build has no guest: it was built with TOOLSCRIPT_GUEST=stub; unset the variable and build again")]
    NoGuest,
    /// The package was built with `TOOLSCRIPT_GUEST`, which supplies no WASI command.
    #[error("this build has no WASI command: it was built with TOOLSCRIPT_GUEST; unset the variable and build again")]
    NoWasiCommand,
    /// The package was built without the feature `check`, or with `TOOLSCRIPT_GUEST`.
    #[error("this build has no checker: it was built without the feature `check`, or with TOOLSCRIPT_GUEST")]
    NoChecker,
}

/// Loads the machine code of the guest.
pub(super) fn load(engine: &wasmtime::Engine) -> Result<Component, EngineError> {
    deserialize(engine, IMAGE)
}

/// The checker as machine code and as a component. They are empty in a build without the feature `check`, without a guest, or with
/// `TOOLSCRIPT_GUEST`.
static CHECKER_IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/checker.cwasm"));
static CHECKER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/checker.wasm"));

/// Returns the checker as a component, which imports nothing.
///
/// # Errors
///
/// Returns an error if the program was built without the checker.
pub fn checker() -> Result<&'static [u8], ComponentError> {
    if CHECKER.is_empty() { Err(ComponentError::NoChecker) } else { Ok(CHECKER) }
}

/// Returns the contract between the checker and its host as WIT.
#[must_use]
pub fn checker_wit() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/checker.wit"))
}

/// Loads the machine code of the checker. Returns `None` if this build has none.
pub(super) fn load_checker(engine: &wasmtime::Engine) -> Result<Option<Component>, EngineError> {
    if CHECKER_IMAGE.is_empty() { Ok(None) } else { deserialize(engine, CHECKER_IMAGE).map(Some) }
}

/// Loads the guest that the tests and the fuzz targets use to make arbitrary calls.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn load_hostile(engine: &wasmtime::Engine) -> Result<Component, EngineError> {
    deserialize(engine, include_bytes!(concat!(env!("OUT_DIR"), "/hostile_guest.cwasm")))
}

fn deserialize(engine: &wasmtime::Engine, image: &'static [u8]) -> Result<Component, EngineError> {
    if image.is_empty() {
        return Err(EngineError::NoGuest);
    }
    // SAFETY: all callers pass bytes that are part of this program. Its build compiled them with the same version of wasmtime and the
    // same settings. No input from a script or a client can change them.
    #[expect(unsafe_code, reason = "loading machine code means trusting it; see SAFETY")]
    let component = unsafe { Component::deserialize(engine, image) };
    component.map_err(EngineError::Image)
}
