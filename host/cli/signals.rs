//! Signals, and the limits and priorities of the process.

use tokio_util::sync::CancellationToken;

/// The first signal stops scripts, which then report what they did; the second ends the program.
pub async fn cancel_on_signal(cancellation: CancellationToken) {
    signal().await;
    cancellation.cancel();
    signal().await;
    #[expect(clippy::exit, reason = "the person asked twice, and the output may be stuck")]
    std::process::exit(130);
}

/// The first signal lets a server end what it has begun; the second ends it at once, and the third the program.
pub async fn drain_on_signal(draining: CancellationToken, shutdown: CancellationToken) {
    signal().await;
    draining.cancel();
    cancel_on_signal(shutdown).await;
}

async fn signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut terminate), Ok(mut hangup)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup())) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// Each run may have 64 files open, and the system's default is little more than a thousand for all: as many as it allows.
pub fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "the limit on open files can't be raised");
        }
    }
}

/// Lets threads of the usual priority go before this one. On Linux, a thread has one of its own.
pub fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 5) {
        tracing::debug!(%error, "the priority of a thread can't be lowered");
    }
}
