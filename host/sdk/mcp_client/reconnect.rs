//! The task that connects to a server, and reconnects when the connection is lost.

use super::{Connection, Failure, State, UpstreamServer, handler::Handler};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep, timeout};

/// The time for a server to start and to list its tools.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The time for a program to exit by itself after the connection is lost.
const EXIT_GRACE: Duration = Duration::from_secs(3);

/// The pause before the second attempt in a row. It doubles with each further attempt, up to the maximum.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The duration after which a connection counts as stable. The first reconnect after it has no pause.
const STABLE_AFTER: Duration = Duration::from_secs(30);

/// Connects, and reconnects whenever the connection is lost. Returns only if another attempt can't succeed.
pub async fn keep_connected(server: Arc<UpstreamServer>) {
    let mut failures: u32 = 0;
    for number in 0.. {
        let handler = Handler::default();
        let connecting = timeout(CONNECT_TIMEOUT, async {
            let connection = server.transport.connect(handler.clone(), None).await?;
            server.update_tools(connection.running.peer()).await?;
            Ok(connection)
        });
        let timed_out = "it did not respond in time";
        let mut was_connected = false;
        let failure = match connecting.await.unwrap_or_else(|_| Err(Failure::new(timed_out, timed_out))) {
            Ok(connection) => {
                let connected_at = Instant::now();
                was_connected = true;
                server.set_state(State::Connected { peer: connection.running.peer().clone(), number });
                serve_until_lost(&server, &handler, connection, number).await;
                if connected_at.elapsed() > STABLE_AFTER {
                    failures = 0;
                }
                let lost = "the connection was lost";
                Failure::new(lost, lost)
            }
            Err(failure) => failure,
        };
        if failure.is_permanent {
            server.set_state(State::Down { failure, until: None });
            return;
        }
        // The first reconnect has no pause. Calls wait for it.
        let pause = if failures == 0 && was_connected {
            Duration::ZERO
        } else {
            MIN_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(8)).min(MAX_PAUSE)
        };
        failures += 1;
        if pause.is_zero() {
            continue;
        }
        // The first failure is reported as a note at startup.
        if failures > 1 {
            tracing::warn!(server = server.name, cause = failure.cause, "an MCP server is down; next attempt in {} s", pause.as_secs());
        }
        server.set_state(State::Down { failure, until: Some(Instant::now() + pause) });
        sleep(pause).await;
        server.set_state(State::Connecting);
    }
}

/// Returns when the connection is lost and is no longer offered to calls.
async fn serve_until_lost(server: &UpstreamServer, handler: &Handler, connection: Connection, number: u64) {
    let Connection { running, process } = connection;
    server.set_process(process);
    let peer = running.peer().clone();
    let cancellation = running.cancellation_token();
    let mut lost = server.lost.subscribe();
    let update_tools = async {
        loop {
            handler.tools_changed.notified().await;
            if let Ok(Err(failure)) = timeout(CONNECT_TIMEOUT, server.update_tools(&peer)).await {
                tracing::warn!(server = server.name, cause = failure.cause, "can't list the changed tools of an MCP server");
            }
        }
    };
    // Calls wait for the reconnect, so a loss must interrupt the update.
    tokio::select! {
        _ = running.waiting() => {}
        () = async { drop(lost.wait_for(|lost| *lost >= Some(number)).await) } => cancellation.cancel(),
        () = update_tools => {}
    }
    server.set_state(State::Connecting);
    if let Some(process) = server.take_process() {
        tokio::spawn(process.wait_then_kill(EXIT_GRACE));
    }
}
