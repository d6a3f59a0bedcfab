//! The types of the `run` export, as defined in `wit/world.wit`.
//!
//! Text from the guest is lifted lazily (`WasmStr`, `WasmList`): it stays in guest memory until the host has checked its size.

use wasmtime::component::{ComponentType, Lift, Lower, TypedFunc, WasmList, WasmStr};

/// The `run` export.
pub type RunFunction = TypedFunc<(Request,), (Result<Success, Failure>,)>;

/// The behaviour of the `io` library when the operating system returns an error; `refusals` in WIT.
#[derive(Clone, Copy, ComponentType, Lower)]
#[component(enum)]
#[repr(u8)]
pub enum OsErrorMode {
    #[component(name = "raise")]
    Raise,
    #[component(name = "return")]
    Return,
}

/// A value of the table `env`.
#[derive(ComponentType, Lower)]
#[component(record)]
pub struct Variable {
    pub name: String,
    pub value: String,
}

/// The input of a run.
#[derive(ComponentType, Lower)]
#[component(record)]
pub struct Request {
    pub script: Vec<u8>,
    pub arguments: Vec<String>,
    pub environment: Option<Vec<Variable>>,
    pub io: Option<OsErrorMode>,
    pub tools: Option<u64>,
    pub seed: u64,
    pub memory: u64,
}

/// The result of a script, as reported by the guest.
#[derive(ComponentType, Lift)]
#[component(record)]
pub struct Success {
    pub json: WasmStr,
    pub replaced: WasmList<u8>,
}

/// The kind of a failure, as reported by the guest.
#[derive(Clone, Copy, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "the guest creates the values")]
pub enum Kind {
    #[component(name = "syntax")]
    Syntax,
    #[component(name = "runtime")]
    Runtime,
    #[component(name = "result")]
    Result,
    #[component(name = "memory")]
    Memory,
}

/// The error of a script, as reported by the guest.
#[derive(ComponentType, Lift)]
#[component(record)]
pub struct Failure {
    pub kind: Kind,
    pub message: WasmList<u8>,
    pub traceback: WasmList<u8>,
    pub column: Option<u32>,
}
