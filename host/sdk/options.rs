//! The options of one API or MCP server. The configuration file has the same keys.

use super::{credential, secret::Secret};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, path::PathBuf};
use url::Url;

/// Defines a struct of options with the fields that APIs and MCP servers share, and the setters of those fields.
///
/// `#[serde(flatten)]` would do for the fields, but it loses the line numbers of errors in the configuration file.
macro_rules! source_options {
    ($(#[$attribute:meta])* pub struct $options:ident { $($fields:tt)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[non_exhaustive]
        pub struct $options {
            $($fields)*
            /// The credential: by default a bearer token. Can't be combined with `auth_env`.
            #[serde(default, deserialize_with = "credential::deserialize_option")]
            pub auth: Option<Secret>,
            /// The environment variable that contains the credential.
            pub auth_env: Option<String>,
            /// Allows private and loopback addresses.
            #[serde(default)]
            pub allow_private: bool,
            /// Glob patterns of function names. If there are any, only functions that match one are available.
            #[serde(default)]
            pub allow: Vec<String>,
            /// Glob patterns of function names that are not available.
            #[serde(default)]
            pub deny: Vec<String>,
            /// Keeps only operations with the method GET, HEAD or OPTIONS, and tools that are annotated as read-only.
            #[serde(default)]
            pub read_only: bool,
            /// Values of parameters that scripts can neither see nor set. Each must be a parameter or body field of an operation, if the
            /// options are those of an API.
            #[serde(default)]
            pub frozen_params: Map<String, Value>,
        }

        impl $options {
            /// Sets the credential.
            #[must_use]
            pub fn with_auth(mut self, secret: impl Into<Secret>) -> Self {
                self.auth = Some(secret.into());
                self
            }

            /// Sets the environment variable that contains the credential.
            #[must_use]
            pub fn with_auth_env(mut self, variable: impl Into<String>) -> Self {
                self.auth_env = Some(variable.into());
                self
            }

            /// Allows or rejects private and loopback addresses.
            #[must_use]
            pub fn with_allow_private(mut self, allow: bool) -> Self {
                self.allow_private = allow;
                self
            }

            /// Sets the glob patterns of the functions that are available.
            #[must_use]
            pub fn with_allow(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
                self.allow = patterns.into_iter().map(Into::into).collect();
                self
            }

            /// Sets the glob patterns of the functions that are not available.
            #[must_use]
            pub fn with_deny(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
                self.deny = patterns.into_iter().map(Into::into).collect();
                self
            }

            /// Keeps only functions that change nothing.
            #[must_use]
            pub fn with_read_only(mut self, read_only: bool) -> Self {
                self.read_only = read_only;
                self
            }

            /// Sets the parameters that scripts can neither see nor set.
            #[must_use]
            pub fn with_frozen_params(mut self, params: Map<String, Value>) -> Self {
                self.frozen_params = params;
                self
            }
        }
    };
}

source_options! {
    /// An HTTP API with an OpenAPI specification.
    ///
    /// The fields are the keys of `[apis.NAME]` in `toolscript.toml`.
    pub struct ApiOptions {
        /// The path or HTTP(S) URL of the OpenAPI specification, version 3.0 or 3.1, as JSON or YAML.
        pub spec: String,
        /// The URL of the API. Overrides every server in the specification.
        pub base_url: Option<Url>,
        /// The security scheme of the specification that the credential is for. By default each operation uses the first scheme that it
        /// requires.
        pub auth_scheme: Option<String>,
    }
}

source_options! {
    /// An upstream MCP server: a local program that is started, or a URL.
    ///
    /// The fields are the keys of `[mcp_servers.NAME]` in `toolscript.toml`. A credential requires a `url`.
    pub struct McpServerOptions {
        /// The program to start. It speaks MCP on its standard input and output.
        pub command: Option<String>,
        /// The arguments of the program.
        #[serde(default)]
        pub args: Vec<String>,
        /// The directory in which the program is started. By default, the working directory.
        #[serde(skip)]
        pub working_directory: Option<PathBuf>,
        /// Environment variables of the program.
        #[serde(default)]
        pub env: BTreeMap<String, Secret>,
        /// Names of environment variables that the program inherits, in addition to a few such as `PATH` and `HOME`.
        #[serde(default)]
        pub inherit_env: Vec<String>,
        /// The URL of a server with the streamable HTTP transport.
        pub url: Option<Url>,
        /// Headers of every request to the URL.
        #[serde(default)]
        pub headers: BTreeMap<String, Secret>,
        /// The format of a text that is the only content of a result. By default, the text is decoded as JSON if the tool declares an
        /// output schema.
        pub decode: Option<TextFormat>,
    }
}

/// The format of a text that a tool returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TextFormat {
    /// JSON. A text that is not JSON stays a string.
    Json,
}

impl ApiOptions {
    /// Creates options for the specification at a path or an HTTP(S) URL.
    #[must_use]
    pub fn new(spec: impl Into<String>) -> Self {
        Self { spec: spec.into(), ..Self::default() }
    }

    /// Sets the URL of the API.
    #[must_use]
    pub fn with_base_url(mut self, url: Url) -> Self {
        self.base_url = Some(url);
        self
    }

    /// Sets the security scheme that the credential is for.
    #[must_use]
    pub fn with_auth_scheme(mut self, scheme: impl Into<String>) -> Self {
        self.auth_scheme = Some(scheme.into());
        self
    }
}

impl McpServerOptions {
    /// Creates options for a local program.
    #[must_use]
    pub fn command(program: impl Into<String>) -> Self {
        Self { command: Some(program.into()), ..Self::default() }
    }

    /// Creates options for a server at a URL.
    #[must_use]
    pub fn url(url: Url) -> Self {
        Self { url: Some(url), ..Self::default() }
    }

    /// Sets the arguments of the program.
    #[must_use]
    pub fn with_args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Adds an environment variable of the program.
    #[must_use]
    pub fn with_env(mut self, variable: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.env.insert(variable.into(), value.into());
        self
    }

    /// Sets the names of the environment variables that the program inherits.
    #[must_use]
    pub fn with_inherit_env(mut self, variables: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.inherit_env = variables.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the format of a text that is the only content of a result.
    #[must_use]
    pub fn with_decode(mut self, format: TextFormat) -> Self {
        self.decode = Some(format);
        self
    }

    /// Adds a header of every request to the URL.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }
}
