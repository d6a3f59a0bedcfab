//! The error of building an engine.

use super::functions::InvalidFunctionName;

/// The reason why an engine could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The package was built with `TOOLSCRIPT_GUEST=stub`, or for documentation.
    #[error("this build has no guest: it was built with TOOLSCRIPT_GUEST=stub; unset the variable and build again")]
    NoGuest,
    /// A function has an invalid name.
    #[error(transparent)]
    Function(#[from] InvalidFunctionName),
    /// The guest was compiled for another CPU or another version of wasmtime.
    #[error("the guest can't be loaded on this machine; build it with TOOLSCRIPT_CPU=v1 or TOOLSCRIPT_CPU=native")]
    Image(#[source] wasmtime::Error),
    /// The guest does not implement the contract in `wit/`. This is possible for a component from `TOOLSCRIPT_GUEST`.
    #[error("the guest does not implement the contract in wit/")]
    Contract(#[source] wasmtime::Error),
    /// The process can't create files as large as the memory image of the guest.
    #[error("the limit on file sizes is under 8 MiB, which the guest's image needs; raise it (ulimit -f)")]
    FileSizeLimit,
    /// The address space for the instances can't be reserved.
    #[error("the pool of instances can't be reserved; lower the concurrency, or raise the limit on address space")]
    Pool(#[source] wasmtime::Error),
}
