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
///
/// A SIGINT or SIGHUP that the parent process ignores stays ignored: `nohup` does that, and a shell for a command in the background.
struct Signals {
    #[cfg(unix)]
    streams: Vec<tokio::signal::unix::Signal>,
}

/// Returns the set of ignored signals: signal number N is bit N - 1. Only Linux shows it to safe code.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "reads the state of this process, not a file of a script")]
    let status = if cfg!(target_os = "linux") { std::fs::read_to_string("/proc/self/status").unwrap_or_default() } else { String::new() };
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

impl Signals {
    fn install() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let mut kinds = vec![SignalKind::interrupt(), SignalKind::hangup()];
            let ignored = ignored_signals();
            kinds.retain(|kind| ignored & (1 << (kind.as_raw_value() - 1)) == 0);
            kinds.push(SignalKind::terminate());
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
