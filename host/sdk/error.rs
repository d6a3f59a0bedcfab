//! Errors of this module.
//!
//! `Display` shows one level; the reason is the [`source`](std::error::Error::source). Print the chain to get the whole message.

use crate::text::one_line;
use std::{error::Error, io};
use url::Url;

/// The error of [`SdkBuilder::build`](super::SdkBuilder::build).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SdkError {
    /// The options of an API are invalid, or its specification can't be loaded.
    #[error("can't load the API '{name}'")]
    Api {
        /// The name of the API.
        name: String,
        /// The reason.
        #[source]
        reason: SourceError,
    },
    /// The options of an MCP server are invalid. A server that is down is not an error; see [`Sdk::notes`](super::Sdk::notes).
    #[error("can't use the MCP server '{name}'")]
    McpServer {
        /// The name of the server.
        name: String,
        /// The reason.
        #[source]
        reason: SourceError,
    },
    /// Two APIs or MCP servers have the same name.
    #[error("the name '{name}' is used twice; rename one of the APIs or MCP servers")]
    DuplicateName {
        /// The name.
        name: String,
    },
}

/// The reason why one API or MCP server can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The name or an option is invalid, or two options contradict each other.
    #[error("{0}")]
    InvalidOptions(String),
    /// The specification can't be read from disk.
    #[error("can't read {path}")]
    Read {
        /// The path, as it is in the options.
        path: String,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The specification can't be downloaded.
    #[error("can't fetch {url}")]
    Fetch {
        /// The URL, as it is in the options.
        url: Url,
        /// The error of the download.
        #[source]
        error: Box<dyn Error + Send + Sync>,
    },
    /// The specification is invalid, is not supported, or contradicts the options.
    #[error("{spec}")]
    Specification {
        /// The path or URL of the specification, as it is in the options.
        spec: String,
        /// The error in the specification.
        #[source]
        error: SpecError,
    },
}

/// An error in a specification, on one line. The message starts with the location of the error, if it has one.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);

impl SpecError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(one_line(&message.into()))
    }

    /// Prefixes the message with a location, such as `GET /pets`.
    pub(super) fn at(self, location: &str) -> Self {
        Self(format!("{}: {}", one_line(location), self.0))
    }
}

/// An unknown name of a function, API, MCP server or tag, or a credential for a server that takes none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LookupError(pub(super) String);

/// Joins names for the end of an error message.
pub(super) fn available<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() { "available: none".into() } else { format!("available: {}", names.join(", ")) }
}
