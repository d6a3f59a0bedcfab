//! MCP over standard input and output, for one client that started this program.

use super::{error::ServeError, handler::Handler};
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
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

/// The time to send the last responses after a shutdown.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// Serves on standard input and output.
pub async fn serve(handler: Handler, max_line: usize, shutdown: CancellationToken) -> Result<(), ServeError> {
    let (input, output) = stdio_pipes();
    serve_streams(handler, max_line, shutdown, input, output).await
}

/// Serves until the input ends or `shutdown` is cancelled. Both stop the running scripts. `max_line` is the maximum length of one
/// message in bytes.
pub async fn serve_streams(
    handler: Handler,
    max_line: usize,
    shutdown: CancellationToken,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), ServeError> {
    let input_ended = CancellationToken::new();
    let input = CancelAtEnd { input, ended: input_ended.clone(), shutdown: shutdown.clone() };
    let output = DiscardAtEnd { output, ended: input_ended };
    let transport = AsyncRwTransport::<RoleServer, _, _>::new(input, output).with_max_line_length(max_line);
    let service = match handler.serve_with_ct(transport, shutdown.child_token()).await {
        Ok(service) => service,
        // The client closed the connection before it sent a request.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => return Err(ServeError::NoHandshake),
        Err(error) => return Err(ServeError::Connect(error.into())),
    };
    // A client that does not read its responses must not keep the server running.
    let close_timeout = async {
        shutdown.cancelled().await;
        tokio::time::sleep(CLOSE_TIMEOUT).await;
    };
    tokio::select! {
        ended = service.waiting() => drop(ended.map_err(ServeError::Task)?),
        () = close_timeout => tracing::warn!("the client does not read its responses; exiting without it"),
    }
    Ok(())
}

/// A reader that cancels two tokens when its input ends. At the end of the input rmcp waits for running requests, so they must be
/// cancelled.
struct CancelAtEnd<R> {
    input: R,
    ended: CancellationToken,
    shutdown: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for CancelAtEnd<R> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.input).poll_read(context, buffer);
        let at_end = match &polled {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if at_end {
            // In this order: the response to a cancelled request is discarded.
            self.ended.cancel();
            self.shutdown.cancel();
        }
        polled
    }
}

/// A writer that discards everything after the end of the input. A client that closed it is about to close the connection, and some
/// clients fail on a message then.
struct DiscardAtEnd<W> {
    output: W,
    ended: CancellationToken,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for DiscardAtEnd<W> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.ended.is_cancelled() { Poll::Ready(Ok(bytes.len())) } else { Pin::new(&mut self.output).poll_write(context, bytes) }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ended.is_cancelled() { Poll::Ready(Ok(())) } else { Pin::new(&mut self.output).poll_flush(context) }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.output).poll_shutdown(context)
    }
}
