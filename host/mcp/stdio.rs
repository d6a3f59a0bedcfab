//! MCP over standard input and output: one client, which started this program.

use super::server::Server;
use anyhow::bail;
use rmcp::{
    RoleServer, ServiceExt as _,
    service::ServerInitializeError,
    transport::{async_rw::AsyncRwTransport, stdio_pipes},
};
use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// How long the last answers may take.
const GRACE: Duration = Duration::from_secs(3);

/// Serves until the input ends or `shutdown` is cancelled; both end the scripts that are running. A line may have `most` bytes.
pub async fn serve_stdio(server: Server, most: usize, shutdown: CancellationToken) -> anyhow::Result<()> {
    let (input, output) = stdio_pipes();
    let input = UntilEnd { input, ended: shutdown.clone() };
    let transport = AsyncRwTransport::<RoleServer, _, _>::new(input, output).with_max_line_length(most);
    let running = match server.serve_with_ct(transport, shutdown.child_token()).await {
        Ok(running) => running,
        // Nobody has said anything, or not for long.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            bail!("the client's first message was neither `initialize` nor a request of the newest revision")
        }
        Err(error) => return Err(error.into()),
    };
    // Answers that a client does not read would be waited for.
    let patience = async {
        shutdown.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = running.waiting() => drop(ended?),
        () = patience => tracing::warn!("the client does not read its answers; leaving without it"),
    }
    Ok(())
}

/// Says when the input has ended. The protocol's library waits for running requests then, so they must hear of it.
struct UntilEnd<R> {
    input: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilEnd<R> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.input).poll_read(context, buffer);
        let at_end = match &polled {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if at_end {
            self.ended.cancel();
        }
        polled
    }
}
