//! The end of an HTTP server: running scripts get time to finish.

use crate::mcp::state::ServerState;
use std::time::Duration;
use tokio_util::task::TaskTracker;

/// The time to send the last responses after the runs were stopped.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Waits for connections and runs until the timeout or a shutdown, and stops those that are left.
pub async fn drain(connections: &TaskTracker, state: &ServerState, timeout: Duration) {
    tracing::info!("draining");
    let runs = &state.active_runs;
    let all_ended = async {
        connections.wait().await;
        // A run may outlive the connection of its client.
        runs.close();
        runs.wait().await;
    };
    tokio::select! {
        () = all_ended => return,
        () = tokio::time::sleep(timeout) => {}
        () = state.shutdown.cancelled() => {}
    }
    state.shutdown.cancel();
    runs.close();
    let all_ended = async { tokio::join!(connections.wait(), runs.wait()) };
    if tokio::time::timeout(CLOSE_TIMEOUT, all_ended).await.is_err() {
        tracing::warn!(connections = connections.len(), "some clients do not read their responses; exiting without them");
    }
}
