//! Functions of scripts that lead out: operations of HTTP APIs, and tools of other MCP servers.
//!
//! Security: what a script can reach is what the host's owner configured, and nothing else. A script gives arguments, which are checked
//! against a schema first; where they are sent, and with what credential, is not its to say.

mod catalogue;
mod check;
mod docs;
mod document;
mod egress;
mod filter;
mod frozen;
mod function;
mod luau;
mod names;
pub mod openapi;
mod search;
mod secret;
mod session;
pub mod upstream;
mod weight;

pub use egress::Egress;
pub use filter::Filter;
pub use frozen::Frozen;
pub use function::Function;
pub use names::{RESERVED, snake_case};
pub use secret::Secret;
pub use session::Session;

use catalogue::Catalogue;
use docs::Shape;
use function::Target;
use openapi::Api;
use std::{
    collections::BTreeSet,
    fmt::Write as _,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};
use upstream::Upstream;

/// What scripts have beside the functions, for a language server.
const GLOBALS: &str = include_str!("globals.d.luau");

/// What `sdk` has of its own.
const OWN: &str = r#"    all: (calls: { { any } }, options: { errors: "raise" | "return" }?) -> ({ any }, { any }),
    docs: (name: string) -> string,
    search: (query: string) -> { { name: string, summary: string } },
"#;

/// All functions of the configured APIs and servers.
pub struct Sdk {
    apis: Vec<Arc<Api>>,
    servers: Vec<Arc<Upstream>>,
    /// Counts changes of what the servers have.
    revision: Arc<AtomicU64>,
    /// What there was at a revision.
    catalogue: RwLock<Option<(u64, Arc<Catalogue>)>>,
}

/// An API or a server, in a list of them.
pub struct Source {
    pub name: String,
    pub title: String,
    /// `openapi` or `mcp`.
    pub kind: &'static str,
    /// Its functions, by name.
    pub functions: Vec<String>,
    /// Topics that its functions are sorted under.
    pub tags: BTreeSet<String>,
    /// Why it can't be used now.
    pub down: Option<String>,
}

impl Sdk {
    /// The functions of these APIs and servers; the latter count their changes in `revision`.
    pub fn new(apis: Vec<Api>, servers: Vec<Arc<Upstream>>, revision: Arc<AtomicU64>) -> Self {
        Self { apis: apis.into_iter().map(Arc::new).collect(), servers, revision, catalogue: RwLock::default() }
    }

    /// Changes with what there is to be told.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// What there is now.
    fn catalogue(&self) -> Arc<Catalogue> {
        let revision = self.revision();
        if let Some((made, catalogue)) = &*self.catalogue.read().unwrap_or_else(PoisonError::into_inner)
            && *made == revision
        {
            return Arc::clone(catalogue);
        }
        let mut functions: Vec<Arc<Function>> = Vec::new();
        for api in &self.apis {
            functions.extend(api.operations.values().map(|operation| Arc::new(Function::of_operation(api, operation))));
        }
        for server in &self.servers {
            functions.extend(server.listing().tools.iter().map(|tool| Arc::new(Function::of_tool(server, tool))));
        }
        let sources: BTreeSet<String> = self.source_names().map(str::to_owned).collect();
        let catalogue = Arc::new(Catalogue::new(functions, &sources));
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = Some((revision, Arc::clone(&catalogue)));
        catalogue
    }

    fn source_names(&self) -> impl Iterator<Item = &str> {
        self.apis.iter().map(|api| api.name.as_str()).chain(self.servers.iter().map(|server| server.name.as_str()))
    }

    /// The APIs and servers.
    pub fn sources(&self) -> Vec<Source> {
        let apis = self.apis.iter().map(|api| Source {
            name: api.name.clone(),
            title: api.title.clone(),
            kind: "openapi",
            functions: api.operations.keys().cloned().collect(),
            tags: api.tags(),
            down: None,
        });
        let servers = self.servers.iter().map(|server| {
            let listing = server.listing();
            Source {
                name: server.name.clone(),
                title: listing.title.clone(),
                kind: "mcp",
                functions: listing.tools.iter().map(|tool| tool.name.clone()).collect(),
                tags: BTreeSet::new(),
                down: server.failure().map(|failure| failure.public),
            }
        });
        apis.chain(servers).collect()
    }

    /// All functions, or those of one API, or with one tag.
    ///
    /// # Errors
    ///
    /// When there is no such API or tag; the text names those that there are.
    pub fn functions(&self, api: Option<&str>, tag: Option<&str>) -> Result<Vec<Arc<Function>>, String> {
        let sources = self.sources();
        if let Some(api) = api
            && !sources.iter().any(|source| source.name == api)
        {
            let known: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
            return Err(format!("there is no API '{api}'; there are {}", known.join(", ")));
        }
        let is_wanted = |function: &&Arc<Function>| {
            api.is_none_or(|api| function.source == api)
                && tag.is_none_or(|tag| function.tags().iter().any(|known| known.eq_ignore_ascii_case(tag)))
        };
        let found: Vec<Arc<Function>> = self.catalogue().functions().iter().filter(is_wanted).cloned().collect();
        if let (Some(tag), true) = (tag, found.is_empty()) {
            let all = sources.iter().filter(|source| api.is_none_or(|api| source.name == api)).flat_map(|source| source.tags.iter());
            let known: Vec<&str> = all.map(String::as_str).collect();
            let known = if known.is_empty() { "there are none".into() } else { format!("there are {}", known.join(", ")) };
            return Err(format!("there is no tag '{tag}'; {known}"));
        }
        Ok(found)
    }

    /// Functions that words are about, best first.
    pub fn search(&self, query: &str) -> Vec<Arc<Function>> {
        self.catalogue().find(query).into_iter().cloned().collect()
    }

    /// All that is known of a function, or of an API.
    ///
    /// # Errors
    ///
    /// When there is none of the name; the text says what to do.
    pub fn docs(&self, name: &str) -> Result<String, String> {
        let name = name.strip_prefix("sdk.").unwrap_or(name);
        if let Some(function) = self.catalogue().get(name) {
            return Ok(docs::text(function));
        }
        let source = self.sources().into_iter().find(|source| source.name == name);
        if source.is_some_and(|source| source.down.is_none() || !source.functions.is_empty()) {
            return Ok(docs::cut(self.overview(Some(name))?, "(cut; sdk.search finds functions by what they do)"));
        }
        Err(self.explain_missing(name))
    }

    /// All functions, or those of one API, a line each.
    ///
    /// # Errors
    ///
    /// When there is no such API, or it is down.
    pub fn overview(&self, only: Option<&str>) -> Result<String, String> {
        let mut text = String::new();
        for source in self.sources().into_iter().filter(|source| only.is_none_or(|only| source.name == only)) {
            let state = source.down.map(|down| format!(" (down: {down})")).unwrap_or_default();
            let _ = writeln!(text, "sdk.{}: {}{state}", source.name, source.title);
            for function in self.functions(Some(&source.name), None)? {
                let _ = writeln!(text, "  sdk.{}  {}", function.full_name(), function.summary);
            }
        }
        Ok(text)
    }

    /// Why a name leads nowhere.
    fn explain_missing(&self, name: &str) -> String {
        let source = name.split('.').next().unwrap_or(name);
        let server = self.servers.iter().find(|server| server.name == source);
        if let Some(failure) = server.and_then(|server| server.failure()) {
            return format!("there is no '{name}' now: the server '{source}' is down: {}", failure.public);
        }
        let similar: Vec<String> = self.search(name).iter().take(3).map(|function| function.full_name()).collect();
        match similar.as_slice() {
            [] => format!("there is no function '{name}'; sdk.search finds functions by what they do"),
            names => format!("there is no function '{name}'; there are {}", names.join(", ")),
        }
    }

    /// The types of all functions and of what else scripts have, for a language server.
    pub fn definitions(&self) -> String {
        let mut text = String::from(GLOBALS);
        let mut fields = String::from(OWN);
        let mut alone = String::new();
        let catalogue = self.catalogue();
        let mut write = |source: &str, functions: Vec<(&str, Shape)>| {
            let _ = writeln!(fields, "    {source}: {{");
            for (name, Shape { arguments, results }) in functions {
                let _ = writeln!(fields, "        {name}: ({arguments}) -> {results},");
                if catalogue.get(name).is_some() {
                    let _ = writeln!(alone, "    {name}: ({arguments}) -> {results},");
                }
            }
            fields.push_str("    },\n");
        };
        for api in &self.apis {
            let mut types = api.types();
            write(
                &api.name,
                api.operations.values().map(|operation| (operation.name.as_str(), api.shape(operation, &mut types))).collect(),
            );
            text.push_str(&types.definitions(usize::MAX));
        }
        for server in &self.servers {
            let listing = server.listing();
            let mut functions = Vec::new();
            for tool in &listing.tools {
                let (shape, definitions) = tool.shape(&docs::prefix(&Function::of_tool(server, tool)), usize::MAX);
                text.push_str(&definitions);
                functions.push((tool.name.as_str(), shape));
            }
            write(&server.name, functions);
        }
        let _ = write!(text, "\ndeclare sdk: {{\n{fields}{alone}}}\n");
        text
    }

    /// Ends the programs that were started for it.
    pub fn close(&self) {
        self.servers.iter().for_each(|server| server.close());
    }

    /// Makes a call.
    async fn call(&self, call: crate::functions::FunctionCall, session: &Session) -> Result<crate::functions::FunctionResponse, String> {
        let catalogue = self.catalogue();
        let function = catalogue.get(&call.name).ok_or_else(|| self.explain_missing(&call.name))?;
        let (secret, connection) = session.credential(&function.source);
        let answer = match &function.target {
            Target::Operation(api, operation) => api.call(operation, call.arguments, secret, &call.budget).await,
            Target::Tool(server, tool) => match (secret, connection) {
                (Some(secret), Some(connection)) => server.call_as(secret, connection, tool, call.arguments, &call.budget).await,
                _ => server.call(tool, call.arguments, &call.budget).await,
            },
        };
        answer.map_err(|error| format!("{}: {error}", function.full_name()))
    }
}
