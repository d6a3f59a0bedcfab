//! Signals that stop or drain the program.

use tokio_util::sync::CancellationToken;

/// Stops all scripts at the first signal, so that they report what they did, and exits at the second.
pub async fn cancel_on_signal(cancellation: CancellationToken) {
    signal().await;
    cancellation.cancel();
    signal().await;
    #[expect(clippy::exit, reason = "the user asked twice, and the output may block")]
    std::process::exit(130);
}

/// Lets running scripts finish after the first signal, stops them at the second, and exits at the third.
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
