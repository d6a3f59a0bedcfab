//! Errors of this module.
//!
//! `Display` shows one level; the reason is the [`source`](std::error::Error::source). Print the chain to get the whole message.

use std::{error::Error, io};
use url::Url;

/// Why [`SdkBuilder::build`](super::SdkBuilder::build) failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SdkError {
    /// An API can't be used.
    #[error("the API '{name}'")]
    Api {
        /// The name of the API.
        name: String,
        /// Why it can't be used.
        #[source]
        reason: SourceError,
    },
    /// The options of an MCP server are invalid. A server that is down is not an error; see [`Sdk::notes`](super::Sdk::notes).
    #[error("the MCP server '{name}'")]
    McpServer {
        /// The name of the server.
        name: String,
        /// Why it can't be used.
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

/// Why one API or MCP server can't be used.
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
        /// Why it can't be read.
        #[source]
        error: io::Error,
    },
    /// The specification can't be downloaded.
    #[error("can't fetch {url}")]
    Fetch {
        /// The URL, as it is in the options.
        url: Url,
        /// Why it can't be downloaded.
        #[source]
        error: Box<dyn Error + Send + Sync>,
    },
    /// The specification is invalid, is not supported, or contradicts the options.
    #[error("{spec}")]
    Specification {
        /// The path or URL of the specification, as it is in the options.
        spec: String,
        /// The place in the specification and what is wrong there.
        #[source]
        error: SpecError,
    },
}

/// What is wrong with a specification, with the place in front.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);

impl SpecError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Puts a place, such as `GET /pets`, in front of the message.
    pub(super) fn at(self, place: &str) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

/// A name that no function, API, MCP server or tag has. The message lists similar or available names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LookupError(pub(super) String);

/// Joins names for the end of an error message.
pub(super) fn available<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() { "available: none".into() } else { format!("available: {}", names.join(", ")) }
}
