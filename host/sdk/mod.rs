//! Functions from OpenAPI specifications and upstream MCP servers.
//!
//! An [`Sdk`] provides the operations of HTTP APIs and the tools of MCP servers as functions. A script calls them as
//! `sdk.shop.list_pets({ limit = 10 })`, or as `sdk.list_pets(...)` if no other API or server has a function of that name.
//!
//! ```
//! use std::sync::Arc;
//! use toolscript::{
//!     Engine, RunOptions, Script,
//!     sdk::{ApiOptions, Sdk},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("weather.yaml");
//! let specification = "
//! openapi: 3.1.0
//! info: { title: Weather, version: '1' }
//! servers: [{ url: 'https://weather.example' }]
//! paths:
//!   /cities/{city}/forecast:
//!     get:
//!       operationId: getForecast
//!       summary: Returns the forecast for a city
//!       parameters: [{ name: city, in: path, required: true, schema: { type: string } }]
//! ";
//! std::fs::write(&path, specification)?;
//!
//! let options = ApiOptions::new(path.to_string_lossy()).with_read_only(true);
//! let sdk = Arc::new(Sdk::builder().api("weather", options).build().await?);
//! for note in sdk.notes() {
//!     eprintln!("note: {note}");
//! }
//!
//! let script = Script::new(
//!     "local found = sdk.search('forecast')[1].name
//!      return found, sdk.docs(found), select(2, pcall(sdk.weather.get_forecast, { city = 7 }))",
//! );
//! let run = Engine::new()?.run(&script, RunOptions::default().with_functions(sdk)).await?;
//!
//! let (name, docs, error): (String, String, String) = run.outcome.decode()?;
//! assert_eq!(name, "weather.get_forecast");
//! assert!(docs.starts_with("sdk.weather.get_forecast(params: { city: string }): "));
//! // Arguments are validated before anything is sent.
//! assert_eq!(error, "weather.get_forecast: city: 7 is not of type \"string\"");
//! # Ok(())
//! # }
//! ```
//!
//! # Names
//!
//! Functions and parameters have names in snake case, which are valid Luau identifiers: `getForecast` is `get_forecast`. If two operations
//! would have the same name, the second one gets a number, and [`Sdk::notes`] reports it.
//!
//! # Credentials
//!
//! A credential is a [`Secret`]. It comes from the options or, for one run, from a [`Session`]. It is sent to its own server only, and is
//! removed from responses before a script sees them.
//!
//! # Security
//!
//! A script chooses the arguments of a call and nothing else. The options decide which servers are called, with which credentials and
//! which frozen parameters. Arguments are validated against the schema of the function before a request is sent. Private and loopback
//! addresses are rejected unless the options allow them. Redirects are not followed. Specifications, responses and tool lists are bounded
//! in size.

mod argument_size;
mod builder;
mod built_ins;
mod calls;
mod catalogue;
mod check_definitions;
mod constraints;
mod credential;
mod definitions;
mod docs;
mod document;
mod egress;
mod error;
mod field_notes;
mod filter;
mod frozen_params;
mod function;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod integers;
mod luau_syntax;
mod luau_types;
mod mcp_client;
mod names;
mod observed_shape;
mod openapi;
mod operation_action;
mod options;
mod provider;
mod search;
mod search_terms;
mod secret;
mod session;
mod similar;
mod validation;

pub use builder::{Note, SdkBuilder};
#[cfg(feature = "mcp")]
pub(crate) use built_ins::{BuiltIn, find as find_built_in, search as search_built_ins};
#[cfg(feature = "mcp")]
pub(crate) use credential::deserialize as deserialize_credential;
#[cfg(feature = "cli")]
pub(crate) use definitions::built_in_definitions;
pub use error::{LookupError, SdkError, SourceError, SpecError};
pub use function::Function;
#[cfg(feature = "cli")]
pub(crate) use names::snake_case;
#[cfg(feature = "cli")]
pub(crate) use openapi::specification_title;
pub use options::{ApiOptions, McpServerOptions, TextFormat};
pub use provider::{Sdk, Source, SourceKind};
pub use secret::Secret;
pub use session::Session;

/// The type of the URLs in the options.
pub use url::Url;
