//! The guest as the build left it: a component, compiled ahead of time.

use super::EngineError;
use wasmtime::component::Component;

/// Machine code for the target of this build; empty in a build without a guest.
static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.cwasm"));

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
