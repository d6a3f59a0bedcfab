//! Connections: so many at once, none that dawdles, and an end to all of them.

use super::held::Held;
use crate::mcp::tenant::Settings;
use axum::{Router, body::Body};
use hyper::{
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use std::{future::poll_fn, io::ErrorKind, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::Interest,
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Bytes of a request's headers, about, and of what is read ahead.
const MAX_HEADERS: usize = 64 << 10;

/// A client that takes nothing of what it is sent for so long has gone.
const UNREAD: Duration = Duration::from_secs(60);

/// After a failure to accept, such as too many descriptors; and for the rest of an answer when the server drains.
const PAUSE: Duration = Duration::from_millis(50);

/// What a connection may cost.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// At once.
    pub most: usize,
    /// From the first byte of a request to the last of its headers, and between two requests.
    pub headers: Duration,
}

/// Accepts connections until the server drains; those that are open then end with the answers that are under way. The tracker tells
/// when all have.
pub async fn serve(listener: &TcpListener, router: &Router, limits: ConnectionLimits, settings: &Arc<Settings>) -> TaskTracker {
    let places = Arc::new(Semaphore::new(limits.most));
    let connections = TaskTracker::new();
    while let Some(accepted) = settings.draining.run_until_cancelled(listener.accept()).await {
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection can't be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            settings.metrics.refused("connections");
            continue;
        };
        let (router, settings) = (router.clone(), Arc::clone(settings));
        connections.spawn(async move {
            let counted = Counted::new(&settings);
            connection(stream, router, limits.headers, &settings.draining).await;
            drop((counted, place));
        });
    }
    connections.close();
    connections
}

/// A connection that is open, whatever becomes of it.
struct Counted<'a>(&'a Settings);

impl<'a> Counted<'a> {
    fn new(settings: &'a Settings) -> Self {
        settings.metrics.connections.inc();
        Self(settings)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.metrics.connections.dec();
    }
}

async fn connection(stream: TcpStream, router: Router, headers: Duration, draining: &CancellationToken) {
    prepare(&stream);
    let closed = closed(&stream);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(headers).max_buf_size(MAX_HEADERS);
    // Each answer that is under way holds a clone.
    let busy = Arc::new(());
    let is_idle = Arc::downgrade(&busy);
    let is_idle = move || is_idle.strong_count() == 1;
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |request| {
        let (answering, busy) = (router.call(request), Arc::clone(&busy));
        async move { answering.await.map(|response| response.map(|body| Body::new(Held::new(body, busy)))) }
    });
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closed => return,
        () = draining.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let ending = poll_fn(|context| connection.as_mut().poll(context));
            if is_idle() {
                // A request that has only begun is not waited for.
                tokio::time::timeout(PAUSE, ending).await.unwrap_or(Ok(()))
            } else {
                ending.await
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

/// Ends when the client has closed its side. While bytes of a next request wait, the HTTP library does not look, and a request of the
/// newest revision must end with its connection.
fn closed(stream: &TcpStream) -> impl Future<Output = ()> + Send + use<> {
    #[cfg(unix)]
    let watched = {
        use std::os::fd::AsFd as _;
        stream.as_fd().try_clone_to_owned().and_then(|owned| TcpStream::from_std(owned.into()))
    };
    #[cfg(not(unix))]
    let watched = std::io::Result::<TcpStream>::Err(std::io::ErrorKind::Unsupported.into());
    async move {
        if let Ok(watched) = watched {
            while let Ok(ready) = watched.ready(Interest::READABLE).await {
                if ready.is_read_closed() {
                    return;
                }
                // Bytes to read are not for us: the next look is at what comes after them.
                let _ = watched.try_io(Interest::READABLE, || Err::<(), _>(ErrorKind::WouldBlock.into()));
            }
        }
        std::future::pending().await
    }
}

/// Small answers go at once, and a client that does not take them is given up.
fn prepare(stream: &TcpStream) {
    let set = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let set = set.and_then(|()| {
        let milliseconds = u32::try_from(UNREAD.as_millis()).unwrap_or(u32::MAX);
        Ok(rustix::net::sockopt::set_tcp_user_timeout(stream, milliseconds)?)
    });
    if let Err(error) = set {
        tracing::debug!(%error, "a connection can't be set up as it should");
    }
}
