//! The functions of an API or an MCP server.

use crate::{
    errors::Failure,
    events::{Bridge, Output},
    options,
};
use napi_derive::napi;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, OnceLock},
};
use toolscript::{
    engine::{Definitions, ScriptWords},
    functions::{BoxFuture, FunctionCall, FunctionError, FunctionProvider, FunctionResponse},
    sdk::{ApiOptions, McpServerOptions, Sdk, SdkBuilder, Secret, Session},
};

/// The functions of an API or an MCP server.
#[napi]
pub struct NativeSource {
    name: String,
    sdk: Arc<OnceLock<Arc<Sdk>>>,
}

/// An MCP server. The other options are those of `[mcp_servers.NAME]` in `toolscript.toml`.
#[derive(Deserialize)]
struct Server {
    options: McpServerOptions,
    working_directory: Option<PathBuf>,
}

#[napi]
impl NativeSource {
    /// Loads an API. The options are those of `[apis.NAME]` in `toolscript.toml`.
    #[napi(factory)]
    pub fn load_openapi(bridge: &Bridge, operation: u32, name: String, options: String) -> napi::Result<Self> {
        let options: ApiOptions = options::parse(&options)?;
        Self::build(bridge, operation, Sdk::builder().api(name.clone(), options), name)
    }

    /// Connects to an MCP server.
    #[napi(factory)]
    pub fn connect(bridge: &Bridge, operation: u32, name: String, server: String) -> napi::Result<Self> {
        let Server { mut options, working_directory } = options::parse(&server)?;
        options.working_directory = working_directory;
        Self::build(bridge, operation, Sdk::builder().mcp_server(name.clone(), options), name)
    }

    fn build(bridge: &Bridge, operation: u32, builder: SdkBuilder, name: String) -> napi::Result<Self> {
        let sdk = Arc::new(OnceLock::new());
        let built = Arc::clone(&sdk);
        bridge.events.spawn(operation, |cancellation| async move {
            let sdk = tokio::select! {
                sdk = builder.build() => sdk.map_err(|error| Failure::with_causes("source", &error))?,
                () = cancellation.cancelled() => return Err(Failure::argument("the operation was cancelled")),
            };
            let _ = built.set(Arc::new(sdk));
            Output::json(&())
        })?;
        Ok(Self { name, sdk })
    }

    /// The name of the API or server.
    #[napi(getter)]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The names of the functions.
    #[napi]
    pub fn functions(&self) -> Vec<String> {
        self.sdk.get().iter().flat_map(|sdk| sdk.sources()).flat_map(|source| source.functions).collect()
    }

    /// Remarks on parts that are not as expected.
    #[napi]
    pub fn notes(&self) -> Vec<String> {
        self.sdk.get().iter().flat_map(|sdk| sdk.notes()).map(ToString::to_string).collect()
    }

    /// Returns the documentation of a function.
    #[napi]
    pub fn docs(&self, name: String) -> napi::Result<String> {
        let sdk = self.sdk()?;
        sdk.docs_for(&name).map_err(|error| napi::Error::new(napi::Status::InvalidArg, error.to_string()))
    }

    /// Closes the connection to an MCP server, and ends its program.
    #[napi]
    pub fn close(&self) -> napi::Result<()> {
        let _in_runtime = crate::runtime::runtime()?.enter();
        if let Some(sdk) = self.sdk.get() {
            sdk.close();
        }
        Ok(())
    }

    pub(crate) fn sdk(&self) -> napi::Result<Arc<Sdk>> {
        self.sdk.get().cloned().ok_or_else(|| napi::Error::from_reason("the source is not loaded"))
    }
}

/// A source of functions, with the credential of one run if it has one.
pub enum SourceProvider {
    Shared(Arc<Sdk>, String),
    WithCredential(Session, String),
}

impl SourceProvider {
    /// Prepares the sources of a run. Each credential is for the source of its name.
    pub fn prepare(sources: &[Arc<Sdk>], mut credentials: BTreeMap<String, String>) -> Result<Vec<Self>, String> {
        let mut providers = Vec::new();
        for sdk in sources {
            let name = sdk.sources().into_iter().next().map(|source| source.name).unwrap_or_default();
            providers.push(match credentials.remove(&name) {
                None => Self::Shared(Arc::clone(sdk), name),
                Some(text) => {
                    let session = Session::new(Arc::clone(sdk), BTreeMap::from([(name.clone(), Secret::new(text))]));
                    Self::WithCredential(session.map_err(|error| error.to_string())?, name)
                }
            });
        }
        match credentials.into_keys().next() {
            Some(name) => Err(format!("there is no API or MCP server '{name}' for a credential")),
            None => Ok(providers),
        }
    }

    /// Returns the name of the API or server.
    pub fn name(&self) -> &str {
        let (Self::Shared(_, name) | Self::WithCredential(_, name)) = self;
        name
    }

    fn provider(&self) -> &dyn FunctionProvider {
        match self {
            Self::Shared(sdk, _) => sdk,
            Self::WithCredential(session, _) => session,
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.provider().names()
    }

    pub fn definitions(&self, words: &ScriptWords<'_>) -> Definitions {
        self.provider().definitions(words)
    }

    pub fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        self.provider().call(call)
    }

    pub fn search(&self, query: &str) -> String {
        self.provider().search(query)
    }

    pub fn docs(&self, name: &str) -> Result<String, String> {
        self.provider().docs(name)
    }
}
