//! Connections, with limits on their number, on slow headers and on unread responses.

use super::guarded_body::GuardedBody;
use crate::mcp::state::ServerState;
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

/// The approximate maximum size of the headers of a request in bytes, and of the read buffer of a connection.
const MAX_HEADER_SIZE: usize = 64 << 10;

/// The time after which a connection is closed if the client acknowledges no data.
#[cfg(target_os = "linux")]
const UNREAD_TIMEOUT: Duration = Duration::from_secs(60);

/// The pause after a failed accept, for example when there are too many open files.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The time for an idle connection to send the end of its last response when the server drains.
const IDLE_CLOSE_TIMEOUT: Duration = Duration::from_millis(50);

/// The limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    pub max_connections: usize,
    /// The time for the headers of a request, and between two requests.
    pub header_timeout: Duration,
}

/// Accepts connections until the server drains. Open connections then end after their current responses. The returned tracker waits
/// for them.
pub async fn serve(listener: &TcpListener, router: &Router, limits: ConnectionLimits, state: &Arc<ServerState>) -> TaskTracker {
    let permits = Arc::new(Semaphore::new(limits.max_connections));
    let connections = TaskTracker::new();
    while let Some(accepted) = state.drain.run_until_cancelled(listener.accept()).await {
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "can't accept a connection");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
            state.metrics.count_rejected("connections");
            continue;
        };
        let (router, state) = (router.clone(), Arc::clone(state));
        connections.spawn(async move {
            let counter = ConnectionCounter::new(&state);
            serve_connection(stream, router, limits.header_timeout, &state.drain).await;
            drop((counter, permit));
        });
    }
    connections.close();
    connections
}

/// Counts a connection in the metrics until it is dropped.
struct ConnectionCounter<'a>(&'a ServerState);

impl<'a> ConnectionCounter<'a> {
    fn new(state: &'a ServerState) -> Self {
        state.metrics.connections.inc();
        Self(state)
    }
}

impl Drop for ConnectionCounter<'_> {
    fn drop(&mut self) {
        self.0.metrics.connections.dec();
    }
}

async fn serve_connection(stream: TcpStream, router: Router, header_timeout: Duration, drain: &CancellationToken) {
    set_socket_options(&stream);
    let closed = closed_by_client(&stream);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(header_timeout).max_buf_size(MAX_HEADER_SIZE);
    // Each response in progress holds a clone.
    let response_guard = Arc::new(());
    let weak_guard = Arc::downgrade(&response_guard);
    let is_idle = move || weak_guard.strong_count() == 1;
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |request| {
        let (response, guard) = (router.call(request), Arc::clone(&response_guard));
        async move { response.await.map(|response| response.map(|body| Body::new(GuardedBody::new(body, guard)))) }
    });
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closed => return,
        () = drain.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let remaining = poll_fn(|context| connection.as_mut().poll(context));
            if is_idle() {
                // The connection may have received part of a request. It is not answered.
                tokio::time::timeout(IDLE_CLOSE_TIMEOUT, remaining).await.unwrap_or(Ok(()))
            } else {
                remaining.await
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection failed");
    }
}

/// Waits until the client closes its side of the connection.
///
/// A request of the newest protocol revision must end with its connection, but hyper does not notice the end while bytes of a next
/// request are buffered.
fn closed_by_client(stream: &TcpStream) -> impl Future<Output = ()> + Send + use<> {
    #[cfg(unix)]
    let watched = {
        use std::os::fd::AsFd as _;
        stream.as_fd().try_clone_to_owned().and_then(|owned| TcpStream::from_std(owned.into()))
    };
    #[cfg(not(unix))]
    let watched = {
        let _ = stream;
        std::io::Result::<TcpStream>::Err(ErrorKind::Unsupported.into())
    };
    async move {
        if let Ok(watched) = watched {
            while let Ok(ready) = watched.ready(Interest::READABLE).await {
                if ready.is_read_closed() {
                    return;
                }
                // hyper reads the data. Clearing the readiness makes the next `ready` wait for new data.
                let _ = watched.try_io(Interest::READABLE, || Err::<(), _>(ErrorKind::WouldBlock.into()));
            }
        }
        std::future::pending().await
    }
}

/// Sends small responses at once, and closes the connection if the client does not read.
fn set_socket_options(stream: &TcpStream) {
    let result = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let result = result.and_then(|()| {
        let milliseconds = u32::try_from(UNREAD_TIMEOUT.as_millis()).unwrap_or(u32::MAX);
        Ok(rustix::net::sockopt::set_tcp_user_timeout(stream, milliseconds)?)
    });
    if let Err(error) = result {
        tracing::debug!(%error, "can't set the options of a connection");
    }
}
