//! The tokio runtime of the targets: one thread, so that an input has the same effect each time.

use std::sync::LazyLock;
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));

/// Runs a future to completion.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.block_on(future)
}
