//! What a script says while it runs, on its way to a client that wants to hear it: in bounded memory however slow the reader is,
//! and a few times a second however fast the script.

#![expect(deprecated, reason = "rmcp marks logging so, as the newest revision does; clients use it")]

use crate::engine::{Listener, Progress};
use rmcp::{
    Peer, RoleServer,
    model::{
        LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam, ProgressNotification, ProgressNotificationParam,
        ProgressToken, ServerNotification,
    },
};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

/// Between two rounds, in each of which there is at most one message and one progress: 20 a second in all.
const PACE: Duration = Duration::from_millis(100);

/// Bytes of lines that wait for a slow reader; the rest is in the outcome's logs.
const WAITING: usize = 64 << 10;

/// How long the last round may take, before the result goes out without it.
const LAST_ROUND: Duration = Duration::from_secs(1);

/// The stream that the answer to one request will come through, where notifications would else go through another.
#[derive(Clone)]
pub struct RequestStream {
    sender: mpsc::Sender<ServerNotification>,
    /// The client's session has ended.
    pub closed: CancellationToken,
    _under_way: Arc<dyn Send + Sync>,
}

impl RequestStream {
    /// `under_way` is let go when the request has been answered.
    pub fn new(sender: mpsc::Sender<ServerNotification>, closed: CancellationToken, under_way: Arc<dyn Send + Sync>) -> Self {
        Self { sender, closed, _under_way: under_way }
    }
}

/// Where notifications go.
pub enum Outlet {
    /// Through the one connection, or the request's own where each has one.
    Peer(Peer<RoleServer>),
    Stream(RequestStream),
}

impl Outlet {
    /// A client that has gone is no error.
    async fn send(&self, notification: ServerNotification) {
        match self {
            Self::Peer(peer) => drop(peer.send_notification(notification).await),
            Self::Stream(stream) => drop(stream.sender.send(notification).await),
        }
    }
}

/// Collects what a script says between two rounds.
pub struct Notices {
    waiting: Mutex<Waiting>,
    news: Notify,
    wants_lines: bool,
    token: Option<ProgressToken>,
    ended: CancellationToken,
}

#[derive(Default)]
struct Waiting {
    lines: String,
    left_out: usize,
    progress: Option<Progress>,
    told: Option<f64>,
}

impl Listener for Notices {
    fn line(&self, line: &str) {
        if !self.wants_lines {
            return;
        }
        let mut waiting = self.lock();
        if waiting.lines.len() + line.len() < WAITING {
            if !waiting.lines.is_empty() {
                waiting.lines.push('\n');
            }
            waiting.lines.push_str(line);
        } else {
            waiting.left_out += 1;
        }
        self.news.notify_one();
    }

    fn progress(&self, progress: &Progress) {
        let mut waiting = self.lock();
        // The protocol wants it to rise, and JSON has no infinities.
        let rises =
            waiting.told.is_none_or(|told| progress.done > told) && waiting.progress.as_ref().is_none_or(|last| progress.done > last.done);
        if self.token.is_some() && progress.done.is_finite() && rises {
            waiting.progress = Some(progress.clone());
            self.news.notify_one();
        }
    }
}

impl Notices {
    /// For a client that wants lines, or gave a token for progress; nothing for one that wants neither.
    pub fn new(level: Option<LoggingLevel>, token: Option<ProgressToken>) -> Option<Arc<Self>> {
        let wants_lines = level.is_some_and(|level| level as u8 <= LoggingLevel::Info as u8);
        let wanted = wants_lines || token.is_some();
        wanted
            .then(|| Arc::new(Self { waiting: Mutex::default(), news: Notify::new(), wants_lines, token, ended: CancellationToken::new() }))
    }

    /// Sends what there is, in rounds, until the run has ended and the last one is sent.
    pub async fn forward(&self, outlet: &Outlet) {
        loop {
            tokio::select! {
                () = self.news.notified() => self.round(outlet).await,
                () = self.ended.cancelled() => return self.round(outlet).await,
            }
            let _ = tokio::time::timeout(PACE, self.ended.cancelled()).await;
        }
    }

    /// Lets the last round be sent, before the result.
    pub async fn finish(&self, forward: impl Future<Output = ()>) {
        self.ended.cancel();
        if tokio::time::timeout(LAST_ROUND, forward).await.is_err() {
            tracing::debug!("a client does not read its notifications");
        }
    }

    async fn round(&self, outlet: &Outlet) {
        let (lines, left_out, progress) = {
            let mut waiting = self.lock();
            let progress = waiting.progress.take();
            waiting.told = progress.as_ref().map(|progress| progress.done).or(waiting.told);
            (std::mem::take(&mut waiting.lines), std::mem::take(&mut waiting.left_out), progress)
        };
        if let (Some(progress), Some(token)) = (progress, &self.token) {
            let mut notice = ProgressNotificationParam::new(token.clone(), progress.done);
            notice.total = progress.total.filter(|total| total.is_finite());
            notice.message = progress.message;
            outlet.send(ProgressNotification::new(notice).into()).await;
        }
        if !lines.is_empty() || left_out > 0 {
            let note =
                if left_out > 0 { format!("\n… {left_out} more lines, which are in the logs of the result") } else { String::new() };
            let notice = LoggingMessageNotificationParam::new(LoggingLevel::Info, (lines + &note).into()).with_logger("script");
            outlet.send(LoggingMessageNotification::new(notice).into()).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
