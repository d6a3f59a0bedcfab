//! The tokio runtime of the addon, which all sandboxes of the process share.

use std::sync::OnceLock;
use tokio::runtime::{Builder, Runtime};

/// The maximum number of threads for file operations. They never wait for each other, so more operations wait without a deadlock.
const MAX_BLOCKING_THREADS: usize = 128;

/// Returns the runtime, which the first call starts. It lives until the process ends.
pub fn runtime() -> napi::Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let started = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.enable_all().thread_name("toolscript").max_blocking_threads(MAX_BLOCKING_THREADS).build()
    });
    started.as_ref().map_err(|error| napi::Error::from_reason(format!("can't start the runtime: {error}")))
}
