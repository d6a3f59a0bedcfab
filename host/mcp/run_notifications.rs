//! The log lines and progress of a running script, as notifications to its client.
//!
//! Memory is bounded for clients that do not read. The rate is bounded for scripts that print quickly.

#![expect(deprecated, reason = "rmcp deprecates logging, as the newest protocol revision does; clients use it")]

use crate::engine::{Listener, Progress};
use rmcp::{
    Peer, RoleServer,
    model::{
        LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam, ProgressNotification, ProgressNotificationParam,
        ProgressToken, ServerNotification,
    },
    service::RequestContext,
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

/// The pause between two batches. A batch has at most one log message and one progress report, so there are at most 20 notifications
/// per second.
const BATCH_INTERVAL: Duration = Duration::from_millis(100);

/// The maximum size of the lines of one batch in bytes. Further lines are only in the logs of the result.
const MAX_BATCH_BYTES: usize = 64 << 10;

/// The time to send the last batch. After this time, the result is sent without it.
const LAST_BATCH_TIMEOUT: Duration = Duration::from_secs(1);

/// The response stream of one HTTP request of a session. Without it, rmcp would send the notifications through another stream.
#[derive(Clone)]
pub struct RequestStream {
    sender: mpsc::Sender<ServerNotification>,
    /// Cancelled when the session of the client ends.
    pub closed: CancellationToken,
    _guard: Arc<dyn Send + Sync>,
}

impl RequestStream {
    /// Creates a stream. `guard` is dropped when the request has been answered.
    pub fn new(sender: mpsc::Sender<ServerNotification>, closed: CancellationToken, guard: Arc<dyn Send + Sync>) -> Self {
        Self { sender, closed, _guard: guard }
    }
}

/// The destination of notifications.
pub enum NotificationSink {
    /// The connection, or the response to the request if each request has a stream.
    Peer(Peer<RoleServer>),
    Stream(RequestStream),
}

impl NotificationSink {
    /// Returns the sink for the notifications of a request.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let stream = context.extensions.get::<RequestStream>().cloned();
        stream.map_or_else(|| Self::Peer(context.peer.clone()), Self::Stream)
    }

    /// Sends a notification. Does nothing if the client has disconnected.
    async fn send(&self, notification: ServerNotification) {
        match self {
            Self::Peer(peer) => drop(peer.send_notification(notification).await),
            Self::Stream(stream) => drop(stream.sender.send(notification).await),
        }
    }
}

/// Collects the log lines and progress of a run into batches.
pub struct RunNotifications {
    batch: Mutex<Batch>,
    added: Notify,
    wants_lines: bool,
    progress_token: Option<ProgressToken>,
    finished: CancellationToken,
}

#[derive(Default)]
struct Batch {
    lines: String,
    skipped_lines: usize,
    progress: Option<Progress>,
    /// The last progress value that was sent.
    sent_progress: Option<f64>,
}

impl Listener for RunNotifications {
    fn line(&self, line: &str) {
        if !self.wants_lines {
            return;
        }
        let mut batch = self.lock();
        if batch.lines.len() + line.len() < MAX_BATCH_BYTES {
            if !batch.lines.is_empty() {
                batch.lines.push('\n');
            }
            batch.lines.push_str(line);
        } else {
            batch.skipped_lines += 1;
        }
        self.added.notify_one();
    }

    fn progress(&self, progress: &Progress) {
        let mut batch = self.lock();
        // The protocol requires increasing values, and JSON has no infinity.
        let increases = batch.sent_progress.is_none_or(|sent| progress.done > sent)
            && batch.progress.as_ref().is_none_or(|last| progress.done > last.done);
        if self.progress_token.is_some() && progress.done.is_finite() && increases {
            batch.progress = Some(progress.clone());
            self.added.notify_one();
        }
    }
}

impl RunNotifications {
    /// Creates a collector, or returns `None` if the client wants neither log lines nor progress.
    pub fn new(level: Option<LoggingLevel>, progress_token: Option<ProgressToken>) -> Option<Arc<Self>> {
        let wants_lines = level.is_some_and(|level| level as u8 <= LoggingLevel::Info as u8);
        let (batch, added, finished) = (Mutex::default(), Notify::new(), CancellationToken::new());
        let is_wanted = wants_lines || progress_token.is_some();
        is_wanted.then(|| Arc::new(Self { batch, added, wants_lines, progress_token, finished }))
    }

    /// Sends batches until [`finish`](Self::finish) is called and the last batch is sent.
    pub async fn forward(&self, sink: &NotificationSink) {
        loop {
            tokio::select! {
                () = self.added.notified() => self.send_batch(sink).await,
                () = self.finished.cancelled() => return self.send_batch(sink).await,
            }
            let _ = tokio::time::timeout(BATCH_INTERVAL, self.finished.cancelled()).await;
        }
    }

    /// Waits until the last batch is sent. `forward` is the future of [`forward`](Self::forward).
    pub async fn finish(&self, forward: impl Future<Output = ()>) {
        self.finished.cancel();
        if tokio::time::timeout(LAST_BATCH_TIMEOUT, forward).await.is_err() {
            tracing::debug!("a client does not read its notifications");
        }
    }

    async fn send_batch(&self, sink: &NotificationSink) {
        let (mut lines, skipped_lines, progress) = {
            let mut batch = self.lock();
            let progress = batch.progress.take();
            batch.sent_progress = progress.as_ref().map(|progress| progress.done).or(batch.sent_progress);
            (std::mem::take(&mut batch.lines), std::mem::take(&mut batch.skipped_lines), progress)
        };
        if let (Some(progress), Some(token)) = (progress, &self.progress_token) {
            let mut params = ProgressNotificationParam::new(token.clone(), progress.done);
            params.total = progress.total.filter(|total| total.is_finite());
            params.message = progress.message;
            sink.send(ProgressNotification::new(params).into()).await;
        }
        if skipped_lines > 0 {
            lines.push_str(&format!("\n… {skipped_lines} more lines; see the logs of the result"));
        }
        if !lines.is_empty() {
            let params = LoggingMessageNotificationParam::new(LoggingLevel::Info, lines.into()).with_logger("script");
            sink.send(LoggingMessageNotification::new(params).into()).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Batch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
