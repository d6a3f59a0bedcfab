//! Returns the memory of ended sessions and tenants to the operating system.
//!
//! The allocator of glibc keeps freed memory that lies between blocks in use, whatever its size.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::runtime::Handle;

/// The time between the end of a session or tenant and the release. Others that end in this time need no release of their own.
const RELEASE_DELAY: Duration = Duration::from_secs(2);

/// Releases unused memory, at most once per [`RELEASE_DELAY`].
#[derive(Default)]
pub struct UnusedMemory {
    is_scheduled: AtomicBool,
}

impl UnusedMemory {
    /// Releases unused memory after a delay. Does nothing outside a runtime.
    pub fn release_soon(self: &Arc<Self>) {
        let Ok(runtime) = Handle::try_current() else { return };
        if !self.is_scheduled.swap(true, Ordering::Relaxed) {
            let memory = Arc::clone(self);
            runtime.spawn(async move {
                tokio::time::sleep(RELEASE_DELAY).await;
                memory.is_scheduled.store(false, Ordering::Relaxed);
                // Takes some milliseconds for each 100 MB.
                tokio::task::spawn_blocking(release);
            });
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no safe function releases the memory of the allocator")]
fn release() {
    // SAFETY: `malloc_trim` has no preconditions, and takes the locks of the allocator itself. It does nothing if another allocator is used.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn release() {}
