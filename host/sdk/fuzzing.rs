//! Functions without files and network, for the fuzz targets.

#![expect(clippy::missing_errors_doc, reason = "not part of the API")]

use super::{
    mcp_client::UpstreamServer,
    openapi::{Api, ApiSettings, Operation, build_request},
    provider::Sdk,
};
use crate::functions::{FunctionCall, FunctionError, FunctionProvider as _, FunctionResponse, FunctionValue, ResponseBudget};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use url::Url;

/// A request that would be sent.
pub struct PlannedRequest {
    /// The URL of the server in the specification.
    pub server: Url,
    /// The URL of the request.
    pub url: Url,
    /// The body, if it is in memory.
    pub body: Option<Vec<u8>>,
}

/// Loads a specification as the API `api`.
pub fn load_specification(bytes: &[u8]) -> Result<Sdk, String> {
    let api = Api::parse("api", bytes, ApiSettings::default()).map_err(|error| error.to_string())?;
    let mut sdk = Sdk::default();
    sdk.apis.push(Arc::new(api));
    Ok(sdk)
}

/// Builds a request for each operation with the same arguments. An error is the message for the script.
pub fn plan_requests(sdk: &Sdk, arguments: &[FunctionValue]) -> Vec<Result<PlannedRequest, String>> {
    let operations = sdk.apis.iter().flat_map(|api| api.operations.values().map(move |operation| (api, operation)));
    let plan = |(api, operation): (&Arc<Api>, &Arc<Operation>)| {
        let (request, server) = build_request(api, operation, arguments.to_vec())?;
        let body = request.body().and_then(|body| body.as_bytes()).map(<[u8]>::to_vec);
        Ok(PlannedRequest { server, url: request.url().clone(), body })
    };
    operations.map(plan).collect()
}

/// Connects to the MCP server `server`, whose messages are the input. Its credential is `secret`.
pub async fn connect(
    secret: &str,
    max_message: usize,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<Sdk, String> {
    let server = UpstreamServer::over_streams("server", secret, max_message, input, output).await?;
    let mut sdk = Sdk::default();
    sdk.servers.push(server);
    Ok(sdk)
}

/// Calls a function.
pub async fn call(sdk: &Sdk, name: &str, arguments: Vec<FunctionValue>) -> Result<FunctionResponse, FunctionError> {
    sdk.call(FunctionCall { name: name.into(), arguments, budget: ResponseBudget::new() }).await
}
