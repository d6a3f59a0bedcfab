//! The guest as the build left it: a component, compiled ahead of time.

use super::EngineError;
use wasmtime::component::Component;

/// Machine code for the target of this build; empty in a build without a guest.
static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.cwasm"));

/// The guest as a component, for hosts of other kinds; empty in a build without a guest.
static COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.wasm"));

/// The same as a command of WASI's, for hosts that implement nothing of ours; empty in a build from a ready guest, too.
static COMMAND: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/command.wasm"));
static COMMAND_MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/command-core.wasm"));

/// The box as a component: any host that runs components and implements [its imports](wit) gets the same one.
///
/// # Errors
///
/// When the program was built without a guest.
pub fn component() -> Result<&'static [u8], EngineError> {
    if COMPONENT.is_empty() { Err(EngineError::NoGuest) } else { Ok(COMPONENT) }
}

/// The box as a component of the world `wasi:cli/command`: any WASI host runs it, with a directory granted, and needs to implement
/// nothing. Its `--help` tells of its options.
///
/// # Errors
///
/// When the program was built without a guest, or from a ready one.
pub fn wasi_command() -> Result<&'static [u8], EngineError> {
    if COMMAND.is_empty() { Err(EngineError::NoCommand) } else { Ok(COMMAND) }
}

/// The same as a core module of WASI preview 1, for hosts without the component model, such as Node and browsers.
///
/// # Errors
///
/// When the program was built without a guest, or from a ready one.
pub fn wasi_core_module() -> Result<&'static [u8], EngineError> {
    if COMMAND_MODULE.is_empty() { Err(EngineError::NoCommand) } else { Ok(COMMAND_MODULE) }
}

/// The contract between the box and its host, in WIT, with the packages that it refers to.
#[must_use]
pub fn wit() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/toolscript.wit"))
}

/// Loads the image, which fails if this CPU lacks what it was compiled for.
pub fn load(engine: &wasmtime::Engine) -> Result<Component, EngineError> {
    if IMAGE.is_empty() {
        return Err(EngineError::NoGuest);
    }
    // SAFETY: the bytes are part of this program. Its own build made them with wasmtime's compiler, of the same version and with
    // the same settings, and nothing that a script or a client sends can change them.
    #[expect(unsafe_code, reason = "loading machine code is trusting it; see SAFETY")]
    let component = unsafe { Component::deserialize(engine, IMAGE) };
    component.map_err(|error| EngineError::Image(format!("{error:#}")))
}
