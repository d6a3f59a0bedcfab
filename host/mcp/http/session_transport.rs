//! The transports of a session: one for its handshake, and one for each of its requests.
//!
//! A service of rmcp has channels and tasks of about 50 KiB. It therefore ends with its request, and an idle session has none.

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage, ServerResult},
    transport::Transport,
};
use std::{
    convert::Infallible,
    future::ready,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The server side of the handshake of a session.
pub struct Handshake {
    pub request: oneshot::Sender<ClientJsonRpcMessage>,
    pub response: oneshot::Receiver<ServerJsonRpcMessage>,
}

/// Passes on the `initialize` request and its response. Then it ends.
pub struct HandshakeTransport {
    request: Option<oneshot::Receiver<ClientJsonRpcMessage>>,
    response: Option<oneshot::Sender<ServerJsonRpcMessage>>,
    version: Arc<OnceLock<ProtocolVersion>>,
}

impl HandshakeTransport {
    /// Creates a transport, which sets `version` when the handshake succeeds.
    pub fn new(version: Arc<OnceLock<ProtocolVersion>>) -> (Handshake, Self) {
        let (request, request_receiver) = oneshot::channel();
        let (response_sender, response) = oneshot::channel();
        let transport = Self { request: Some(request_receiver), response: Some(response_sender), version };
        (Handshake { request, response }, transport)
    }
}

impl Transport<RoleServer> for HandshakeTransport {
    type Error = Infallible;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        if let ServerJsonRpcMessage::Response(response) = &message
            && let ServerResult::InitializeResult(result) = &response.result
        {
            let _ = self.version.set(result.protocol_version.clone());
        }
        if let Some(sender) = self.response.take() {
            // Sending fails if the client has disconnected.
            let _ = sender.send(message);
        }
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.request.as_mut()?.await.ok();
        self.request = None;
        message
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The destination of the response to one request. It is empty after the response, or after the cancellation of the request.
#[derive(Clone)]
pub struct ResponseSlot(Arc<Mutex<Option<oneshot::Sender<ServerJsonRpcMessage>>>>);

impl ResponseSlot {
    pub fn new() -> (Self, oneshot::Receiver<ServerJsonRpcMessage>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Arc::new(Mutex::new(Some(sender)))), receiver)
    }

    /// Takes the sender. Dropping it means that there is no response.
    pub fn take(&self) -> Option<oneshot::Sender<ServerJsonRpcMessage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Passes on one request and its response. Then it ends.
///
/// Notifications of the request have their own channel, see [`RequestStream`](crate::mcp::run_notifications::RequestStream).
pub struct RequestTransport {
    request: Option<ClientJsonRpcMessage>,
    response: ResponseSlot,
    answered: CancellationToken,
}

impl RequestTransport {
    pub fn new(request: ClientJsonRpcMessage, response: ResponseSlot) -> Self {
        Self { request: Some(request), response, answered: CancellationToken::new() }
    }
}

impl Transport<RoleServer> for RequestTransport {
    type Error = Infallible;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        if matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)) {
            if let Some(sender) = self.response.take() {
                let _ = sender.send(message);
            }
            self.answered.cancel();
        }
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        if let Some(request) = self.request.take() {
            return Some(request);
        }
        self.answered.cancelled().await;
        None
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
