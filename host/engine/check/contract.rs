//! The types of the export `checks.check`, as defined in `wit/checker/checker.wit`.

use super::diagnostic::Severity;
use wasmtime::component::{ComponentType, Lift, Lower, TypedFunc, WasmList, WasmStr};

/// The export. Text and lists of the guest stay in its memory until the host has checked their sizes.
pub type CheckFunction = TypedFunc<(CheckRequest,), (Result<WasmList<FoundMistake>, WasmStr>,)>;

/// The input of a check.
#[derive(ComponentType, Lower)]
#[component(record)]
pub struct CheckRequest {
    pub script: Vec<u8>,
    pub definitions: String,
    pub functions: String,
    pub aliases: String,
    pub absent: String,
}

/// The weight of a mistake.
#[derive(Clone, Copy, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
pub enum FoundSeverity {
    #[component(name = "error")]
    Error,
    #[component(name = "note")]
    Note,
}

impl From<FoundSeverity> for Severity {
    fn from(severity: FoundSeverity) -> Self {
        match severity {
            FoundSeverity::Error => Self::Error,
            FoundSeverity::Note => Self::Note,
        }
    }
}

/// A mistake, as reported by the guest.
#[derive(ComponentType, Lift)]
#[component(record)]
pub struct FoundMistake {
    pub severity: FoundSeverity,
    pub line: u32,
    pub column: u32,
    pub length: u32,
    pub message: WasmStr,
}
