//! HTTP APIs with an OpenAPI specification. Scripts call their operations as functions.

mod body_schema;
mod docs;
mod encode_body;
mod encode_parameter;
pub mod load;
mod media_type;
mod multipart;
mod operation;
mod parameters;
mod request;
mod response;
mod retry_after;
mod security_scheme;
mod server_url;
mod specification;

pub use operation::Operation;

/// Builds the request for an operation, and returns the URL of the server that it is for.
#[cfg(feature = "fuzzing")]
pub fn build_request(api: &Api, operation: &Operation, arguments: Vec<FunctionValue>) -> Result<(reqwest::Request, Url), String> {
    let server = operation.server.as_ref().unwrap_or(&api.base_url).clone();
    request::build(api, operation, arguments).map(|request| (request, server))
}

use super::{
    credential::CredentialKind,
    docs::summary,
    document::{Document, Node},
    egress::Egress,
    error::{SpecError, available},
    filter::FunctionFilter,
    frozen_params::{FrozenParams, declares_property},
    names::{DistinctNames, snake_case},
    secret::Secret,
    validation::Schemas,
};
use crate::functions::{FunctionError, FunctionResponse, FunctionValue, ResponseBudget};
use body_schema::RequestBody;
use operation::UnnamedOperation;
use parameters::Parameter;
use security_scheme::SecurityScheme;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};
use url::Url;

/// Returns the title of the specification at a path or URL, or `None` if it can't be loaded or has none.
#[cfg(feature = "cli")]
pub async fn specification_title(spec: &str) -> Option<String> {
    let (bytes, _) = load::load(spec).await.ok()?;
    let document = specification::parse(&bytes).ok()?;
    let title = document.root().get("info")?.text("title").trim().to_owned();
    (!title.is_empty()).then_some(title)
}

/// The length of a tag in bytes, and the number of tags. Tags that exceed a limit are not listed.
const MAX_TAG_LENGTH: usize = 60;
const MAX_TAGS: usize = 10_000;

/// Operations by the names of their functions.
type Operations = BTreeMap<String, Arc<Operation>>;

/// The options of an API, with the credential and the filter resolved.
#[derive(Debug, Default)]
pub struct ApiSettings {
    /// The URL of the API, instead of the servers in the specification.
    pub base_url: Option<Url>,
    /// The URL of the specification. A server in the specification may be relative to it.
    pub origin: Option<Url>,
    /// The credential, unless a run has its own.
    pub secret: Option<Secret>,
    /// The security scheme that the credential is for. Without it, each operation uses the first scheme that it requires.
    pub scheme: Option<String>,
    pub allow_private: bool,
    /// Operations with the method GET, HEAD or OPTIONS count as read-only.
    pub filter: FunctionFilter,
    /// The frozen parameters of this API. At least one operation must have each of them.
    pub frozen: Map<String, Value>,
    /// The frozen parameters of all APIs and MCP servers.
    pub frozen_everywhere: Map<String, Value>,
}

/// An API: its functions, and the client for its server.
pub struct Api {
    /// The name in the options.
    pub name: String,
    /// The title and version of the specification.
    pub title: String,
    pub operations: Operations,
    /// A line for each operation that did not get its preferred name.
    pub clashes: Vec<String>,
    /// A line for each operation with a parameter that is skipped.
    pub skipped: Vec<String>,
    document: Arc<Document>,
    base_url: Url,
    frozen: FrozenParams,
    schemas: Schemas,
    egress: Egress,
    security_schemes: Vec<(String, SecurityScheme)>,
    /// The name of the scheme that the options select.
    selected_scheme: Option<String>,
    secret: Option<Secret>,
    /// The pointers of the schemas of all types in the signatures, by name.
    type_pointers: OnceLock<BTreeMap<String, String>>,
}

impl Api {
    /// Parses a specification, and checks the settings against it.
    pub fn parse(name: &str, bytes: &[u8], settings: ApiSettings) -> Result<Self, SpecError> {
        let document = Arc::new(specification::parse(bytes)?);
        let base_url = server_url::base_url(&document, &settings)?;
        let NamedOperations { operations, clashes, skipped } = named_operations(&document, &settings)?;
        let security_schemes = security_scheme::security_schemes(&document.root())?;
        check_scheme(&settings, &security_schemes, &operations)?;
        let schemas = Schemas::new(Arc::clone(&document));
        check_frozen(&settings, &operations, &schemas, &document)?;
        let frozen = FrozenParams::new(&settings.frozen_everywhere, &settings.frozen);
        let root = document.root();
        let info = root.get("info").unwrap_or_else(|| root.clone());
        let title = summary(&[&format!("{} {}", info.text("title"), info.text("version"))]);
        Ok(Self {
            name: name.to_owned(),
            title,
            operations,
            clashes,
            skipped,
            base_url,
            frozen,
            schemas,
            egress: Egress::new(settings.allow_private),
            security_schemes,
            selected_scheme: settings.scheme,
            secret: settings.secret,
            type_pointers: OnceLock::new(),
            document,
        })
    }

    /// Returns the frozen value of a parameter.
    fn frozen_value(&self, parameter: &Parameter) -> Option<&Value> {
        self.frozen.get(&parameter.name).or_else(|| self.frozen.get(&parameter.key))
    }

    /// Returns the tags of the operations.
    pub fn tags(&self) -> BTreeSet<String> {
        let all = self.operations.values().flat_map(|operation| &operation.tags);
        all.filter(|tag| tag.len() <= MAX_TAG_LENGTH).take(MAX_TAGS).cloned().collect()
    }

    fn body_schema(&self, body: &RequestBody) -> Option<Node<'_>> {
        body_schema(&self.document, body)
    }

    /// Returns the parameters that scripts can see.
    fn visible_parameters<'a>(&'a self, operation: &'a Operation) -> impl Iterator<Item = &'a Parameter> {
        operation.parameters.iter().filter(|parameter| self.frozen_value(parameter).is_none())
    }

    /// Calls an operation with the credential of the run, or else with that of the API.
    pub async fn call(
        &self,
        operation: &Operation,
        arguments: Vec<FunctionValue>,
        secret: Option<&Secret>,
        budget: &ResponseBudget,
    ) -> Result<FunctionResponse, FunctionError> {
        let secret = secret.or(self.secret.as_ref());
        let mut request = request::build(self, operation, arguments)?;
        if let Some(secret) = secret
            && let Some(scheme) = self.scheme_for(operation, secret.kind())
        {
            scheme.authorize(&mut request, secret)?;
        }
        let response = self.egress.send(request, budget).await?;
        response::decode(response, secret)
    }

    /// Returns the scheme that the options select, or the first one that the operation requires. The default is a bearer token.
    ///
    /// A credential of a known kind uses the first scheme of that kind. If the specification has none, a bearer token and basic
    /// authentication are sent in their standard form.
    ///
    /// Security: an operation with a server of its own gets no credential if that server has another origin than the API.
    fn scheme_for(&self, operation: &Operation, kind: Option<CredentialKind>) -> Option<&SecurityScheme> {
        if operation.server.as_ref().is_some_and(|server| server.origin() != self.base_url.origin()) {
            return None;
        }
        let find = |name: &String| self.security_schemes.iter().find(|(known, _)| known == name).map(|(_, scheme)| scheme);
        if let Some(name) = &self.selected_scheme {
            return find(name);
        }
        let required = || operation.security.iter().flatten().flatten();
        if let Some(kind) = kind
            && (operation.security.is_none() || required().next().is_some())
        {
            let all = self.security_schemes.iter().map(|(_, scheme)| scheme);
            let standard = match kind {
                CredentialKind::Bearer => Some(&SecurityScheme::Bearer),
                CredentialKind::Basic => Some(&SecurityScheme::Basic),
                CredentialKind::ApiKey => None,
            };
            let scheme = required().filter_map(find).chain(all).find(|scheme| scheme.accepts(kind)).or(standard);
            if scheme.is_some() {
                return scheme;
            }
        }
        match &operation.security {
            Some(alternatives) => alternatives.iter().flatten().find_map(find),
            None => Some(self.security_schemes.first().map_or(&SecurityScheme::Bearer, |(_, scheme)| scheme)),
        }
    }
}

fn body_schema<'a>(document: &'a Document, body: &RequestBody) -> Option<Node<'a>> {
    document.at(body.schema.as_deref()?)?.resolve().ok()
}

/// The operations that the filter allows, by name.
struct NamedOperations {
    operations: Operations,
    /// A line for each operation that did not get its preferred name.
    clashes: Vec<String>,
    /// A line for each operation with a parameter that is skipped.
    skipped: Vec<String>,
}

fn named_operations(document: &Document, settings: &ApiSettings) -> Result<NamedOperations, SpecError> {
    let mut names = DistinctNames::default();
    let mut skipped = Vec::new();
    let mut operations = BTreeMap::new();
    let mut all_names = Vec::new();
    for UnnamedOperation { id, mut operation, nameless_parameters } in operation::operations(document)? {
        let endpoint = format!("{} {}", operation.method, operation.path);
        if nameless_parameters > 0 {
            skipped.push(format!("{endpoint}: a parameter without a name is skipped"));
        }
        operation.name = names.assign(snake_case(&id), &endpoint);
        // `base_url` overrides the servers of operations too.
        if let (Some(server), None) = (&operation.server_text, &settings.base_url) {
            operation.server = Some(server_url::parse_server(server, settings).map_err(|error| error.at(&endpoint))?);
        }
        let is_read_only = matches!(operation.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        let aliases = [operation.name.clone(), snake_case(&id), id];
        if settings.filter.allows(&aliases, is_read_only) {
            operations.insert(operation.name.clone(), Arc::new(operation));
        }
        all_names.extend(aliases);
    }
    match settings.filter.unused_pattern(&all_names) {
        Some(pattern) => Err(SpecError::new(format!("allow or deny: no function matches '{pattern}'"))),
        None => Ok(NamedOperations { operations, clashes: names.clashes, skipped }),
    }
}

/// Checks that it is clear which security scheme the credential is for.
fn check_scheme(settings: &ApiSettings, schemes: &[(String, SecurityScheme)], operations: &Operations) -> Result<(), SpecError> {
    let known: Vec<&str> = schemes.iter().map(|(name, _)| name.as_str()).collect();
    match &settings.scheme {
        Some(wanted) if !known.contains(&wanted.as_str()) => {
            Err(SpecError::new(format!("auth_scheme: there is no security scheme '{wanted}'; {}", available(known))))
        }
        None if settings.secret.as_ref().is_some_and(|secret| secret.kind().is_none())
            && known.len() > 1
            && operations.values().any(|operation| operation.security.is_none()) =>
        {
            let advice = format!("set auth_scheme to one of {}", known.join(", "));
            Err(SpecError::new(format!("the specification does not say which security scheme an operation uses; {advice}")))
        }
        _ => Ok(()),
    }
}

/// Checks the names and values of frozen parameters.
///
/// A misspelled name would leave the parameter to scripts. An invalid value would be shown to them in an error message.
fn check_frozen(settings: &ApiSettings, operations: &Operations, schemas: &Schemas, document: &Document) -> Result<(), SpecError> {
    let frozen = FrozenParams::new(&settings.frozen_everywhere, &settings.frozen);
    let mut unknown: BTreeSet<&str> = settings.frozen.keys().map(String::as_str).collect();
    for operation in operations.values() {
        for parameter in &operation.parameters {
            for name in [&parameter.name, &parameter.key] {
                unknown.remove(name.as_str());
                if let (Some(value), Some(schema)) = (frozen.get(name), &parameter.schema) {
                    let invalid = |error| SpecError::new(format!("frozen_params: {}: {error}", operation.name));
                    schemas.validate(schema, value, name).map_err(invalid)?;
                }
            }
        }
        if let Some(schema) = operation.body.as_ref().and_then(|body| body_schema(document, body)) {
            unknown.retain(|name| !declares_property(&schema, name));
        }
    }
    match unknown.first() {
        Some(name) => Err(SpecError::new(format!("frozen_params: no function has a parameter '{name}'"))),
        None => Ok(()),
    }
}
