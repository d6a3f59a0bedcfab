//! Credentials of one run.

use super::{error::LookupError, mcp_client::RunConnection, provider::Sdk, secret::Secret};
use crate::engine::{Definitions, ScriptWords};
use crate::functions::{BoxFuture, FunctionCall, FunctionError, FunctionProvider, FunctionResponse};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The credentials of a run, by the name of their API or MCP server.
pub(super) type RunCredentials = BTreeMap<String, RunCredential>;

/// A credential of a run for one API or MCP server.
pub(super) struct RunCredential {
    pub secret: Secret,
    /// The connection that uses the credential, if it is for an MCP server.
    pub connection: RunConnection,
}

/// An [`Sdk`] with the credentials of one run, such as those of the tenant that started it.
///
/// It replaces the credentials of the options for this run. Scripts can't read either of them.
pub struct Session {
    sdk: Arc<Sdk>,
    credentials: RunCredentials,
}

impl Session {
    /// Creates a session with credentials by the name of their API or MCP server.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no API or server of a name, if the server is a local program, which takes no
    /// credential, or if the credential of a server is not a bearer token.
    pub fn new(sdk: Arc<Sdk>, credentials: BTreeMap<String, Secret>) -> Result<Self, LookupError> {
        for (name, secret) in &credentials {
            let server = sdk.servers.iter().find(|server| server.name == *name);
            if server.is_some_and(|server| !server.takes_credentials()) {
                return Err(LookupError(format!("the MCP server '{name}' is a local program and takes no credential")));
            }
            if server.is_some() && !secret.is_bearer() {
                return Err(LookupError(format!("the credential of the MCP server '{name}' must be a bearer token")));
            }
            if server.is_none() && !sdk.apis.iter().any(|api| api.name == *name) {
                return Err(LookupError(format!("there is no API or MCP server '{name}'")));
            }
        }
        let credential = |(name, secret)| (name, RunCredential { secret, connection: RunConnection::new() });
        Ok(Self { credentials: credentials.into_iter().map(credential).collect(), sdk })
    }
}

impl FunctionProvider for Session {
    fn definitions(&self, words: &ScriptWords<'_>) -> Definitions {
        self.sdk.definitions_for(words)
    }

    fn names(&self) -> Vec<String> {
        self.sdk.names()
    }

    fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        Box::pin(self.sdk.call_with(call, &self.credentials))
    }

    fn search(&self, query: &str) -> String {
        FunctionProvider::search(&*self.sdk, query)
    }

    fn docs(&self, name: &str) -> Result<String, String> {
        FunctionProvider::docs(&*self.sdk, name)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.credentials.keys().collect();
        formatter.debug_struct("Session").field("sdk", &self.sdk).field("credentials", &names).finish()
    }
}
