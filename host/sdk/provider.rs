//! All functions of the configured APIs and MCP servers.

use super::{
    builder::{Note, SdkBuilder},
    built_ins,
    catalogue::Catalogue,
    docs,
    error::{LookupError, available},
    function::Function,
    mcp_client::UpstreamServer,
    openapi::Api,
    similar,
};
use serde::Serialize;
use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// The number of names that the error for a wrong name lists.
const MAX_SIMILAR: usize = 3;

/// The functions of APIs and MCP servers.
///
/// Build it once and share it in an [`Arc`], which is a [`FunctionProvider`](crate::functions::FunctionProvider) for
/// [`RunOptions::with_functions`](crate::RunOptions::with_functions). A [`Session`](super::Session) adds credentials for one run.
///
/// Dropping it closes the connections and kills the programs that were started as MCP servers.
#[derive(Default)]
pub struct Sdk {
    pub(super) apis: Vec<Arc<Api>>,
    pub(super) servers: Vec<Arc<UpstreamServer>>,
    pub(super) notes: Vec<Note>,
    /// The number of changes in the tools and the connections of the servers.
    pub(super) revision: Arc<AtomicU64>,
    /// The catalogue of a revision.
    catalogue: RwLock<Option<(u64, Arc<Catalogue>)>>,
}

/// An API or an MCP server, as [`Sdk::sources`] lists it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Source {
    /// The name in the options: scripts call the functions as `sdk.NAME.function`.
    pub name: String,
    /// The title in the specification or of the server, with the version of an API.
    pub title: String,
    /// The kind of source.
    pub kind: SourceKind,
    /// The names of the functions, sorted.
    pub functions: Vec<String>,
    /// The tags of the operations. An MCP server has none.
    pub tags: BTreeSet<String>,
    /// The reason why an MCP server is down, if it is.
    pub down: Option<String>,
    /// An MCP server is not connected yet, and its functions are not known. Calls wait for it.
    pub is_starting: bool,
}

/// The kind of a [`Source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SourceKind {
    /// An HTTP API with an OpenAPI specification.
    OpenApi,
    /// An MCP server.
    Mcp,
}

impl Sdk {
    /// Returns a builder without any APIs and MCP servers.
    #[must_use]
    pub fn builder() -> SdkBuilder {
        SdkBuilder::default()
    }

    /// Returns the notes of the startup: name clashes, APIs without functions, and MCP servers that were down or still starting.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns a number that changes whenever functions are added or removed, or a server goes up or down.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Returns the catalogue of the current revision.
    pub(super) fn catalogue(&self) -> Arc<Catalogue> {
        let revision = self.revision();
        if let Some((cached_revision, catalogue)) = &*self.catalogue.read().unwrap_or_else(PoisonError::into_inner)
            && *cached_revision == revision
        {
            return Arc::clone(catalogue);
        }
        let mut functions: Vec<Arc<Function>> = Vec::new();
        for api in &self.apis {
            functions.extend(api.operations.values().map(|operation| Arc::new(Function::from_operation(api, operation))));
        }
        for server in &self.servers {
            functions.extend(server.tools().tools.iter().map(|tool| Arc::new(Function::from_tool(server, tool))));
        }
        let apis = self.apis.iter().map(|api| api.name.clone());
        let sources: BTreeSet<String> = apis.chain(self.servers.iter().map(|server| server.name.clone())).collect();
        let catalogue = Arc::new(Catalogue::new(functions, &sources));
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = Some((revision, Arc::clone(&catalogue)));
        catalogue
    }

    /// Lists the APIs, then the MCP servers.
    #[must_use]
    pub fn sources(&self) -> Vec<Source> {
        let apis = self.apis.iter().map(|api| Source {
            name: api.name.clone(),
            title: api.title.clone(),
            kind: SourceKind::OpenApi,
            functions: api.operations.keys().cloned().collect(),
            tags: api.tags(),
            down: None,
            is_starting: false,
        });
        let servers = self.servers.iter().map(|server| {
            let list = server.tools();
            Source {
                name: server.name.clone(),
                title: list.title.clone(),
                kind: SourceKind::Mcp,
                functions: list.tools.iter().map(|tool| tool.name.clone()).collect(),
                tags: BTreeSet::new(),
                down: server.failure().map(|failure| failure.public),
                is_starting: server.is_starting(),
            }
        });
        apis.chain(servers).collect()
    }

    /// Lists all functions, or those of one API or MCP server, or those with one tag.
    ///
    /// # Errors
    ///
    /// Returns an error that lists the available names if there is no such API, server or tag.
    pub fn functions(&self, source: Option<&str>, tag: Option<&str>) -> Result<Vec<Arc<Function>>, LookupError> {
        let sources = self.sources();
        if let Some(name) = source
            && !sources.iter().any(|known| known.name == name)
        {
            let known = available(sources.iter().map(|known| known.name.as_str()));
            return Err(LookupError(format!("there is no API or MCP server '{name}'; {known}")));
        }
        let matches = |function: &&Arc<Function>| {
            source.is_none_or(|name| function.source == name)
                && tag.is_none_or(|tag| function.tags().iter().any(|known| known.eq_ignore_ascii_case(tag)))
        };
        let functions: Vec<Arc<Function>> = self.catalogue().functions().iter().filter(matches).cloned().collect();
        if let (Some(tag), true) = (tag, functions.is_empty()) {
            let sources = sources.iter().filter(|known| source.is_none_or(|name| known.name == name));
            let known = available(sources.flat_map(|source| &source.tags).map(String::as_str));
            return Err(LookupError(format!("there is no tag '{tag}'; {known}")));
        }
        Ok(functions)
    }

    /// Finds functions by words in their names and descriptions, best match first. Returns at most 20.
    #[must_use]
    pub fn search_functions(&self, query: &str) -> Vec<Arc<Function>> {
        self.catalogue().search(query).into_iter().cloned().collect()
    }

    /// Returns the documentation of a function, of a type in that documentation or of a built-in such as `io.open`, or the list of functions
    /// of an API or MCP server.
    ///
    /// # Errors
    ///
    /// Returns an error that lists similar names if there is no such function, type, API or server, or if the server is down.
    pub fn docs_for(&self, name: &str) -> Result<String, LookupError> {
        self.docs_within(name, docs::MAX_DOCS, docs::MAX_DOCS)
    }

    /// Returns the same documentation in at most `max_bytes`, or `max_list_bytes` for a list of functions.
    pub(crate) fn docs_within(&self, name: &str, max_bytes: usize, max_list_bytes: usize) -> Result<String, LookupError> {
        let name = name.strip_prefix("sdk.").unwrap_or(name);
        let catalogue = self.catalogue();
        if let Some(function) = catalogue.get(name) {
            return Ok(docs::function_docs(function, max_bytes.min(docs::MAX_DOCS)));
        }
        let source = self.sources().into_iter().find(|source| source.name == name);
        if source.is_some_and(|source| source.down.is_none() || !source.functions.is_empty()) {
            let remark = "(truncated; use search_docs or sdk.search to find functions)";
            return Ok(docs::truncate(self.overview(Some(name))?, max_list_bytes.min(docs::MAX_DOCS), remark));
        }
        if let Some(built_in) = built_ins::find(name) {
            let remark = "(truncated; sdk.docs in a script returns the whole text)";
            return Ok(docs::truncate(built_in.docs(), max_bytes.min(docs::MAX_DOCS), remark));
        }
        // The names of types begin with a capital letter, those of functions do not.
        if name.starts_with(|letter: char| letter.is_ascii_uppercase())
            && let Some(docs) = docs::type_docs(name, &self.apis, catalogue.functions(), max_bytes.min(docs::MAX_DOCS))
        {
            return Ok(docs);
        }
        Err(self.not_found(name))
    }

    /// Lists all functions, or those of one API or MCP server, one per line.
    ///
    /// # Errors
    ///
    /// Returns an error that lists the available names if there is no such API or server.
    pub fn overview(&self, source: Option<&str>) -> Result<String, LookupError> {
        let functions = self.functions(source, None)?;
        let mut text = String::new();
        for source in self.sources().into_iter().filter(|known| source.is_none_or(|name| known.name == name)) {
            let starting = if source.is_starting { " (still starting)" } else { "" };
            let state = source.down.map_or_else(|| starting.to_owned(), |reason| format!(" (down: {reason})"));
            let _ = writeln!(text, "sdk.{}: {}{state}", source.name, source.title);
            for function in functions.iter().filter(|function| function.source == source.name) {
                let _ = writeln!(text, "  sdk.{}  {}", function.full_name(), function.summary);
            }
        }
        Ok(text)
    }

    /// Explains why there is no function of a name: its server is down, or the name is wrong.
    pub(super) fn not_found(&self, name: &str) -> LookupError {
        let source = name.split('.').next().unwrap_or(name);
        let server = self.servers.iter().find(|server| server.name == source);
        if let Some(failure) = server.and_then(|server| server.failure()) {
            return LookupError(format!("'{name}' is not available: the MCP server '{source}' is down: {}", failure.public));
        }
        if server.is_some_and(|server| server.is_starting()) {
            return LookupError(format!("'{name}' is not available yet: the MCP server '{source}' is still starting"));
        }
        let starting: Vec<String> =
            self.servers.iter().filter(|server| server.is_starting()).map(|server| format!("'{}'", server.name)).collect();
        let starting = if starting.is_empty() { String::new() } else { format!("; still starting: {}", starting.join(", ")) };
        LookupError(match self.similar_names(name).as_slice() {
            [] => format!("there is no function '{name}'; use sdk.search to find functions{starting}"),
            names => format!("there is no function '{name}'; did you mean {}?{starting}", names.join(", ")),
        })
    }

    /// Returns up to three names that a wrong name may stand for: those with the fewest different characters, then those that a search finds.
    fn similar_names(&self, name: &str) -> Vec<String> {
        let (source, last) = name.rsplit_once('.').map_or((None, name), |(source, last)| (Some(source), last));
        let catalogue = self.catalogue();
        let is_source =
            |known: &str| self.apis.iter().any(|api| api.name == known) || self.servers.iter().any(|server| server.name == known);
        let source = source.filter(|source| is_source(source));
        let functions = catalogue.functions().iter().filter(|function| source.is_none_or(|source| function.source == source));
        let functions = functions.filter_map(|function| Some((similar::distance(last, &function.name)?, function.full_name())));
        let sources = self.apis.iter().map(|api| &api.name).chain(self.servers.iter().map(|server| &server.name));
        let sources = sources.filter(|_| source.is_none()).filter_map(|known| Some((similar::distance(last, known)?, known.clone())));
        let mut near: Vec<(usize, String)> = functions.chain(sources).collect();
        near.sort();
        let mut names: Vec<String> = near.into_iter().map(|(_, name)| name).take(MAX_SIMILAR).collect();
        for function in catalogue.search(name) {
            let full_name = function.full_name();
            if names.len() < MAX_SIMILAR && !names.contains(&full_name) {
                names.push(full_name);
            }
        }
        names
    }

    /// Closes the connections to MCP servers, and asks the programs that were started to exit.
    ///
    /// Blocks for up to half a second per program, then kills it. Later calls of their functions fail.
    pub fn close(&self) {
        self.servers.iter().for_each(|server| server.close());
    }
}

impl fmt::Debug for Sdk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sdk").field("sources", &self.sources()).field("notes", &self.notes).finish_non_exhaustive()
    }
}

impl Drop for Sdk {
    fn drop(&mut self) {
        self.servers.iter().for_each(|server| server.kill());
    }
}
