//! The task that keeps a server connected.

use super::{Connection, Failure, State, Upstream, client::Client};
use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};
use tokio::time::{Instant, sleep, timeout};

/// For a server to start, and to tell what it can do.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// For a program to end by itself when nobody listens any more.
const GRACE: Duration = Duration::from_secs(3);

/// Before the second attempt in a row; each further one waits twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A connection that held so long was a good one.
const STABLE: Duration = Duration::from_secs(30);

/// Connects, and again whenever the connection is lost, as long as the program runs.
pub async fn keep_connected(upstream: Arc<Upstream>) {
    let mut failures: u32 = 0;
    for number in 0.. {
        let client = Client::default();
        let connected = timeout(CONNECT_TIMEOUT, async {
            let connection = upstream.launch.connect(client.clone(), None).await?;
            upstream.list(connection.running.peer()).await?;
            Ok(connection)
        });
        let in_time = "it did not answer in time";
        let mut was_up = false;
        let failure = match connected.await.unwrap_or_else(|_| Err(Failure::new(in_time, in_time))) {
            Ok(connection) => {
                let since = Instant::now();
                was_up = true;
                upstream.turn(State::Up { peer: connection.running.peer().clone(), number });
                watch_over(&upstream, &client, connection, number).await;
                if since.elapsed() > STABLE {
                    failures = 0;
                }
                let lost = "the connection was lost";
                Failure::new(lost, lost)
            }
            Err(failure) => failure,
        };
        // The first attempt is made at once; who calls meanwhile waits for it.
        let pause = if failures == 0 && was_up {
            Duration::ZERO
        } else {
            FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(8)).min(LONGEST_PAUSE)
        };
        failures += 1;
        if pause.is_zero() {
            continue;
        }
        // Whoever starts it tells of the first failure.
        if failures > 1 {
            tracing::warn!(
                server = upstream.name,
                cause = failure.cause,
                "an MCP server is down; it is tried again in {} s",
                pause.as_secs()
            );
        }
        upstream.turn(State::Down { failure, until: Instant::now() + pause });
        sleep(pause).await;
        upstream.turn(State::Connecting);
    }
}

/// Returns when the connection is lost, and nobody can take it for one that is there.
async fn watch_over(upstream: &Upstream, client: &Client, connection: Connection, number: u64) {
    let Connection { running, program } = connection;
    *upstream.program.lock().unwrap_or_else(PoisonError::into_inner) = program;
    let peer = running.peer().clone();
    let ended = running.cancellation_token();
    let mut running = std::pin::pin!(running.waiting());
    let mut lost = upstream.lost.subscribe();
    loop {
        tokio::select! {
            _ = &mut running => break,
            () = async { drop(lost.wait_for(|lost| *lost == Some(number)).await) } => {
                ended.cancel();
                break;
            }
            () = client.tools_changed.notified() => {
                if let Ok(Err(failure)) = timeout(CONNECT_TIMEOUT, upstream.list(&peer)).await {
                    tracing::warn!(server = upstream.name, cause = failure.cause, "an MCP server's tools have changed, and it does not tell them");
                }
            }
        }
    }
    upstream.turn(State::Connecting);
    let program = upstream.program.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(program) = program {
        // By itself, as nobody listens any more, or not.
        tokio::spawn(program.end_in(GRACE));
    }
}
