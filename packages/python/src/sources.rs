//! `FunctionSource`: the functions of an API or an MCP server.

use crate::{errors, from_python, runtime};
use pyo3::{exceptions::PyValueError, prelude::*};
use serde::de::DeserializeOwned;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};
use toolscript::{
    engine::{Definitions, ScriptWords},
    functions::{BoxFuture, FunctionCall, FunctionError, FunctionProvider, FunctionResponse},
    sdk::{ApiOptions, McpServerOptions, Sdk, SdkBuilder, Secret, Session},
};

/// The functions of an API with an OpenAPI specification, or of an MCP server.
///
/// ``from_openapi`` and ``mcp_server`` create it. Pass it to any number of sandboxes.
#[pyclass(frozen, module = "toolscript")]
pub struct FunctionSource {
    pub sdk: Arc<Sdk>,
    name: String,
}

#[pymethods]
impl FunctionSource {
    /// The name: scripts call the functions as ``sdk.NAME.function``.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The names of the functions.
    #[getter]
    fn functions(&self) -> Vec<String> {
        self.sdk.sources().into_iter().flat_map(|source| source.functions).collect()
    }

    /// Remarks: name clashes, parts of the specification that are not used, and servers that are down or still starting.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.sdk.notes().iter().map(ToString::to_string).collect()
    }

    /// Returns the documentation of a function, as models read it.
    fn docs(&self, name: &str) -> PyResult<String> {
        self.sdk.docs_for(name).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Closes the connection to an MCP server, and ends its program. Later calls of its functions fail.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.sdk.close());
    }

    fn __repr__(&self) -> String {
        format!("FunctionSource(name={:?}, functions={})", self.name, self.functions().len())
    }
}

/// Loads an API. The options are those of `[apis.NAME]` in `toolscript.toml`.
#[pyfunction]
pub fn load_openapi(py: Python<'_>, name: String, options: &Bound<'_, PyAny>) -> PyResult<FunctionSource> {
    let options: ApiOptions = parse(options)?;
    build(py, &name, Sdk::builder().api(name.clone(), options))
}

/// Connects to an MCP server. The options are those of `[mcp_servers.NAME]` in `toolscript.toml`.
#[pyfunction]
pub fn connect_mcp_server(
    py: Python<'_>,
    name: String,
    options: &Bound<'_, PyAny>,
    working_directory: Option<PathBuf>,
) -> PyResult<FunctionSource> {
    let mut options: McpServerOptions = parse(options)?;
    options.working_directory = working_directory;
    build(py, &name, Sdk::builder().mcp_server(name.clone(), options))
}

fn parse<T: DeserializeOwned>(options: &Bound<'_, PyAny>) -> PyResult<T> {
    serde_json::from_str(&from_python::json(options)?).map_err(|error| {
        // The position refers to the JSON text, which the caller does not see.
        let text = error.to_string();
        PyValueError::new_err(text.split(" at line ").next().unwrap_or_default().to_owned())
    })
}

fn build(py: Python<'_>, name: &str, builder: SdkBuilder) -> PyResult<FunctionSource> {
    let sdk = runtime::block_on(py, builder.build(), None)?;
    let sdk = sdk.map_err(|error| errors::with_causes(errors::source_error_class(py), &error))?;
    Ok(FunctionSource { sdk: Arc::new(sdk), name: name.to_owned() })
}

/// A source of functions, with the credential of one run if it has one.
pub enum SourceProvider {
    Shared(Arc<Sdk>, String),
    WithCredential(Session, String),
}

impl SourceProvider {
    /// Prepares the sources of a run. Each credential is for the source of its name.
    pub fn prepare(sources: &[Arc<Sdk>], mut credentials: BTreeMap<String, String>) -> PyResult<Vec<Self>> {
        let mut providers = Vec::new();
        for sdk in sources {
            let name = sdk.sources().into_iter().next().map(|source| source.name).unwrap_or_default();
            providers.push(match credentials.remove(&name) {
                None => Self::Shared(Arc::clone(sdk), name),
                Some(text) => {
                    let session = Session::new(Arc::clone(sdk), BTreeMap::from([(name.clone(), Secret::new(text))]));
                    Self::WithCredential(session.map_err(|error| PyValueError::new_err(error.to_string()))?, name)
                }
            });
        }
        match credentials.into_keys().next() {
            Some(name) => Err(PyValueError::new_err(format!("there is no API or MCP server '{name}' for a credential"))),
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

    pub fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        self.provider().call(call)
    }

    pub fn search(&self, query: &str) -> String {
        self.provider().search(query)
    }

    pub fn docs(&self, name: &str) -> Result<String, String> {
        self.provider().docs(name)
    }

    pub fn definitions(&self, words: &ScriptWords<'_>) -> Definitions {
        self.provider().definitions(words)
    }
}
