//! MCP over HTTP: for many clients at once, which may be strangers.
//!
//! Every request passes, in this order: the limits of its connection, the check of `Host` and `Origin`, the check of its token, its
//! tenant's limit on requests, the limits of its body. Only then does the protocol's library see it, without the token.

mod body;
mod connections;
mod guard;
mod held;
mod routes;
mod sessions;
mod tenants;

pub use connections::ConnectionLimits;
pub use guard::Guard;
pub use routes::{Door, Guarded, Site};
pub use tenants::{Place, Shares, Tenants};

use body::Bodies;
use std::{sync::Arc, time::Duration};
use tokio::net::TcpListener;

/// After the runs were stopped, for the answers that say so.
const GRACE: Duration = Duration::from_secs(1);

/// What a server over HTTP keeps to.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    pub connections: ConnectionLimits,
    /// Bytes of one request.
    pub body: usize,
    /// For all of them to come.
    pub body_patience: Duration,
    /// For running scripts to end by themselves when the server is told to stop.
    pub drain: Duration,
}

impl HttpLimits {
    /// Takes the bodies of requests.
    pub fn bodies(&self) -> Bodies {
        Bodies::new(self.body, self.body_patience)
    }
}

/// Serves until it is told to drain; then ends what waits, lets runs end by themselves for a while, and stops the rest.
pub async fn serve_http(listener: TcpListener, site: Site, limits: HttpLimits) {
    let settings = Arc::clone(&site.settings);
    let router = routes::router(Arc::new(site));
    let connections = connections::serve(&listener, &router, limits.connections, &settings).await;
    drop(listener);
    tracing::info!("draining");
    // A run may go on although its client has lost the connection.
    let (runs, ended) = (&settings.runs, async {
        connections.wait().await;
        settings.runs.close();
        settings.runs.wait().await;
    });
    tokio::select! {
        () = ended => return,
        () = tokio::time::sleep(limits.drain) => {}
        () = settings.shutdown.cancelled() => {}
    }
    settings.shutdown.cancel();
    runs.close();
    let ended = async { tokio::join!(connections.wait(), runs.wait()) };
    if tokio::time::timeout(GRACE, ended).await.is_err() {
        tracing::warn!(connections = connections.len(), "some clients do not take their answers; leaving without them");
    }
}
