//! Calls of functions from scripts.
//!
//! A script can access the functions of an MCP server that is still starting, although their names are not known yet. A call waits for the
//! server until the run ends.

use super::{function::Target, mcp_client::UpstreamServer, provider::Sdk, session::RunCredentials};
use crate::engine::{Definitions, ScriptWords};
use crate::functions::{BoxFuture, FunctionCall, FunctionError, FunctionProvider, FunctionResponse};
use std::sync::Arc;

/// The name of a member that a server has while it is starting. It makes `sdk.SERVER` a table, whose other members are looked up when a
/// script accesses them.
const STARTING: &str = "_starting";

impl Sdk {
    /// Returns the server of a function if the server is still starting.
    fn starting_server(&self, name: &str) -> Option<&Arc<UpstreamServer>> {
        let (source, _) = name.split_once('.')?;
        self.servers.iter().find(|server| server.name == source && server.is_starting())
    }

    /// Calls a function with the credentials of a run.
    pub(super) async fn call_with(&self, call: FunctionCall, credentials: &RunCredentials) -> Result<FunctionResponse, FunctionError> {
        if self.catalogue().get(&call.name).is_none()
            && let Some(server) = self.starting_server(&call.name)
        {
            tracing::warn!(server = server.name, "a call waits for an MCP server to start");
            // If it fails, the error below has the reason.
            let _ = server.wait_for_connection().await;
        }
        let catalogue = self.catalogue();
        let function = catalogue.get(&call.name).ok_or_else(|| self.not_found(&call.name).to_string())?;
        let credential = credentials.get(&function.source);
        let response = match &function.target {
            Target::Operation(api, operation) => {
                api.call(operation, call.arguments, credential.map(|credential| &credential.secret), &call.budget).await
            }
            Target::Tool(server, tool) => match credential {
                Some(credential) => {
                    server.call_with_credential(&credential.secret, &credential.connection, tool, call.arguments, &call.budget).await
                }
                None => server.call(tool, call.arguments, &call.budget).await,
            },
        };
        // The responses to the credential of one tenant are not for others.
        if let (Ok(response), None) = (&response, credential) {
            function.observe(response);
        }
        response.map_err(|error| error.of_function(&function.full_name()))
    }
}

impl FunctionProvider for Sdk {
    fn definitions(&self, words: &ScriptWords<'_>) -> Definitions {
        self.definitions_for(words)
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.catalogue().names();
        let starting = self.servers.iter().filter(|server| server.is_starting());
        names.extend(starting.map(|server| format!("{}.{STARTING}", server.name)));
        names.sort();
        names
    }

    fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        Box::pin(async { self.call_with(call, &RunCredentials::new()).await })
    }

    fn search(&self, query: &str) -> String {
        let functions = self.search_functions(query);
        let rows = functions.iter().map(|function| serde_json::json!({ "name": function.full_name(), "summary": function.summary }));
        rows.collect::<serde_json::Value>().to_string()
    }

    fn docs(&self, name: &str) -> Result<String, String> {
        self.docs_for(name).or_else(|error| match self.starting_server(name.strip_prefix("sdk.").unwrap_or(name)) {
            // The guest creates a function for each name that has documentation.
            Some(server) => Ok(format!("the MCP server '{}' is still starting; calls of its functions wait for it", server.name)),
            None => Err(error.to_string()),
        })
    }
}
