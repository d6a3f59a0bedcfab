//! The types of the `run` export, as `wit/world.wit` has them. Texts from the guest stay in its memory until their size is known.

use wasmtime::component::{ComponentType, Lift, Lower, TypedFunc, WasmList, WasmStr};

/// The `run` export.
pub type RunFunction = TypedFunc<(Request,), (Result<WasmStr, Failure>,)>;

/// What the file library does when the operating system refuses a call.
#[derive(Clone, Copy, ComponentType, Lower)]
#[component(enum)]
#[repr(u8)]
pub enum OsErrorMode {
    #[component(name = "raise")]
    Raise,
    #[component(name = "return")]
    Return,
}

/// All that a run is told.
#[derive(ComponentType, Lower)]
#[component(record)]
pub struct Request {
    pub script: Vec<u8>,
    pub arguments: Vec<String>,
    pub io: Option<OsErrorMode>,
    pub tools: Option<u64>,
    pub seed: u64,
    pub memory: u64,
}

/// Whose fault a failure is, by the guest's word.
#[derive(Clone, Copy, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "the guest makes them")]
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

/// Why a script did not finish.
#[derive(ComponentType, Lift)]
#[component(record)]
pub struct Failure {
    pub kind: Kind,
    pub message: WasmList<u8>,
    pub traceback: WasmList<u8>,
}
