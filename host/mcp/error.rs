//! Errors of a running server.

use super::http::HttpOptionsError;
use std::error::Error;

/// An error that ended a server, or kept it from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The options of the HTTP server can't be used.
    #[error(transparent)]
    Options(#[from] HttpOptionsError),
    /// The listener has no local address.
    #[error("can't read the address of the listener")]
    Listener(#[source] std::io::Error),
    /// The first message of a client on standard input does not start a connection.
    #[error("the client's first message was neither `initialize` nor a request of the newest protocol revision")]
    NoHandshake,
    /// The connection over standard input and output could not be started.
    #[error("can't start the connection to the client")]
    Connect(#[source] Box<dyn Error + Send + Sync>),
    /// The task that serves the connection panicked.
    #[error("the task that serves the client failed")]
    Task(#[source] tokio::task::JoinError),
}

/// Returns the messages of an error and its sources, joined by `: `.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}
