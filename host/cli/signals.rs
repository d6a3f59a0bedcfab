//! Signals that stop or drain the program.

use tokio_util::sync::CancellationToken;

/// Stops all scripts at the first signal, so that they report what they did, and exits at the second.
///
/// The handlers are installed by this call, not when the future is first polled. The caller must be in a tokio runtime.
pub fn cancel_on_signal(cancellation: CancellationToken) -> impl Future<Output = ()> {
    let mut signals = Signals::install();
    async move { signals.cancel(&cancellation).await }
}

/// Lets running scripts finish after the first signal, stops them at the second, and exits at the third.
///
/// The handlers are installed as by [`cancel_on_signal`].
pub fn drain_on_signal(drain: CancellationToken, shutdown: CancellationToken) -> impl Future<Output = ()> {
    let mut signals = Signals::install();
    async move {
        signals.next().await;
        drain.cancel();
        signals.cancel(&shutdown).await;
    }
}

/// SIGINT, SIGTERM and SIGHUP, or Ctrl-C where those do not exist.
struct Signals {
    #[cfg(unix)]
    streams: Vec<tokio::signal::unix::Signal>,
}

impl Signals {
    fn install() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
            Self { streams: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
        }
        #[cfg(not(unix))]
        Self {}
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        std::future::poll_fn(|context| {
            let is_ready = self.streams.iter_mut().any(|stream| stream.poll_recv(context).is_ready());
            if is_ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }

    async fn cancel(&mut self, cancellation: &CancellationToken) {
        self.next().await;
        cancellation.cancel();
        self.next().await;
        // The user asked twice, and the output may block.
        std::process::exit(130);
    }
}
