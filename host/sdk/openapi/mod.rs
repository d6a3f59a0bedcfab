//! Specifications of HTTP APIs, whose operations scripts call as functions.

mod body;
mod docs;
mod operation;
mod parse;
mod request;
mod response;
mod scheme;
mod style;

pub use operation::Operation;
pub use parse::MAX_SIZE;

use super::{
    check::Checks,
    docs::summary,
    document::{Document, Node, SpecError},
    egress::Egress,
    filter::Filter,
    frozen::{Frozen, declares},
    names::{Distinct, snake_case},
    secret::Secret,
};
use crate::functions::{FunctionResponse, FunctionValue, ResponseBudget};
use body::Body;
use operation::{Found, Parameter};
use scheme::Scheme;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use url::Url;

/// Bytes of a tag, and how many of them are told.
const MAX_TAG: usize = 60;
const MAX_TAGS: usize = 10_000;

/// Operations by the names of their functions.
type Operations = BTreeMap<String, Arc<Operation>>;

/// What the host's owner says of an API.
#[derive(Debug, Default)]
pub struct Settings {
    /// In place of the specification's server.
    pub base_url: Option<Url>,
    /// Where the specification was fetched from: its server may be written relative to that.
    pub origin: Option<Url>,
    /// Shown to the API, unless a call brings its own.
    pub secret: Option<Secret>,
    /// Which of the specification's security schemes the secret is for; without it, the one that an operation asks for.
    pub scheme: Option<String>,
    pub allow_private: bool,
    /// Which functions there are; those that change nothing are GET, HEAD and OPTIONS.
    pub filter: Filter,
    /// Parameters that scripts neither see nor set. Some operation must have each.
    pub frozen: Map<String, Value>,
    /// The same for all APIs; this one need not have them.
    pub frozen_everywhere: Map<String, Value>,
}

/// An API: its functions, and the way to its server.
pub struct Api {
    /// What scripts call it by.
    pub name: String,
    /// With its version.
    pub title: String,
    /// By the names of their functions.
    pub operations: Operations,
    /// Operations that did not get the name they wished for.
    pub clashes: Vec<String>,
    document: Arc<Document>,
    base: Url,
    frozen: Frozen,
    checks: Checks,
    egress: Egress,
    schemes: Vec<(String, Scheme)>,
    scheme: Option<String>,
    secret: Option<Secret>,
}

impl Api {
    /// Reads a specification.
    ///
    /// # Errors
    ///
    /// When it is none, or can't be used as it is.
    pub fn load(name: &str, bytes: &[u8], settings: Settings) -> Result<Self, SpecError> {
        let document = Arc::new(parse::parse(bytes)?);
        let base = base(&document, &settings)?;
        let (operations, clashes) = operations(&document, &settings)?;
        let schemes = scheme::schemes(&document.root())?;
        check_scheme(&settings, &schemes, &operations)?;
        let checks = Checks::new(Arc::clone(&document));
        check_frozen(&settings, &operations, &checks, &document)?;
        let frozen = Frozen::new(&settings.frozen_everywhere, &settings.frozen);
        let root = document.root();
        let info = root.get("info").unwrap_or_else(|| root.clone());
        let text = |key: &str| info.text(key).to_owned();
        Ok(Self {
            name: name.to_owned(),
            title: summary(&[&format!("{} {}", text("title"), text("version"))]),
            operations,
            clashes,
            base,
            frozen,
            checks,
            egress: Egress::new(settings.allow_private),
            schemes,
            scheme: settings.scheme,
            secret: settings.secret,
            document,
        })
    }

    /// What a parameter is, if scripts may neither see nor set it.
    fn frozen(&self, parameter: &Parameter) -> Option<&Value> {
        self.frozen.get(&parameter.name).or_else(|| self.frozen.get(&parameter.key))
    }

    /// Topics that its functions are sorted under; one that is no word is left out.
    pub fn tags(&self) -> BTreeSet<String> {
        let all = self.operations.values().flat_map(|operation| &operation.tags);
        all.filter(|tag| tag.len() <= MAX_TAG).take(MAX_TAGS).cloned().collect()
    }

    /// What the body of an operation is to be like.
    fn body_schema(&self, body: &Body) -> Option<Node<'_>> {
        self.document.at(body.schema.as_deref()?)?.resolve().ok()
    }

    /// The parameters that scripts see.
    fn visible<'a>(&'a self, operation: &'a Operation) -> impl Iterator<Item = &'a Parameter> {
        operation.parameters.iter().filter(|parameter| self.frozen(parameter).is_none())
    }

    /// Calls a function, with a credential of the caller's or the API's own. An error is the text that the script raises.
    ///
    /// # Errors
    ///
    /// When the arguments do not fit, the server can't be reached, or says no.
    pub async fn call(
        &self,
        operation: &Operation,
        arguments: Vec<FunctionValue>,
        secret: Option<&Secret>,
        room: &ResponseBudget,
    ) -> Result<FunctionResponse, String> {
        let secret = secret.or(self.secret.as_ref());
        let mut request = request::build(self, operation, arguments)?;
        if let (Some(secret), Some(scheme)) = (secret, self.scheme_of(operation)) {
            scheme.show(secret, &mut request)?;
        }
        let answer = self.egress.send(request, room).await?;
        response::read(answer, secret)
    }

    /// The scheme that the owner chose, or the first that the operation asks for; a bearer token where the specification names none.
    ///
    /// Security: a server that an operation names for itself, elsewhere, is shown none.
    fn scheme_of(&self, operation: &Operation) -> Option<&Scheme> {
        if operation.server.as_ref().is_some_and(|server| server.origin() != self.base.origin()) {
            return None;
        }
        let named = |name: &String| self.schemes.iter().find(|(known, _)| known == name).map(|(_, scheme)| scheme);
        if let Some(name) = &self.scheme {
            return named(name);
        }
        match &operation.security {
            Some(alternatives) => alternatives.iter().flatten().find_map(named),
            None => Some(self.schemes.first().map_or(&Scheme::Bearer, |(_, scheme)| scheme)),
        }
    }
}

/// The operations that are functions, by name, and those that did not get the name they wished for.
fn operations(document: &Document, settings: &Settings) -> Result<(Operations, Vec<String>), SpecError> {
    let mut names = Distinct::default();
    let mut operations = BTreeMap::new();
    let mut known = Vec::new();
    for Found { wished, mut operation } in operation::all(document)? {
        let place = format!("{} {}", operation.method, operation.path);
        operation.name = names.take(snake_case(&wished), &place);
        // The owner's word on where the API is holds for all of it.
        if let (Some(server), None) = (&operation.server_text, &settings.base_url) {
            operation.server = Some(parse_server(server, settings).map_err(|error| error.at(&place))?);
        }
        let is_safe = matches!(operation.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        let all_names = [operation.name.clone(), snake_case(&wished), wished];
        if settings.filter.lets(&all_names, is_safe) {
            operations.insert(operation.name.clone(), Arc::new(operation));
        }
        known.extend(all_names);
    }
    match settings.filter.without_use(&known) {
        Some(pattern) => Err(SpecError::new(format!("allow or deny: no function fits '{pattern}'"))),
        None => Ok((operations, names.clashes)),
    }
}

/// Which security scheme the credential is for must be clear.
fn check_scheme(settings: &Settings, schemes: &[(String, Scheme)], operations: &Operations) -> Result<(), SpecError> {
    let known: Vec<&str> = schemes.iter().map(|(name, _)| name.as_str()).collect();
    match &settings.scheme {
        Some(wanted) if !known.contains(&wanted.as_str()) => {
            let known = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
            Err(SpecError::new(format!("there is no security scheme '{wanted}'; {known}")))
        }
        None if settings.secret.is_some() && known.len() > 1 && operations.values().any(|operation| operation.security.is_none()) => {
            let advice = format!("name one of {} as auth_scheme", known.join(", "));
            Err(SpecError::new(format!("it does not say which security scheme an operation wants; {advice}")))
        }
        _ => Ok(()),
    }
}

/// A name that is misspelt would leave the parameter to scripts, and a value that does not fit would be shown to them.
fn check_frozen(settings: &Settings, operations: &Operations, checks: &Checks, document: &Document) -> Result<(), SpecError> {
    let frozen = Frozen::new(&settings.frozen_everywhere, &settings.frozen);
    let mut unknown: BTreeSet<&str> = settings.frozen.keys().map(String::as_str).collect();
    for operation in operations.values() {
        for parameter in &operation.parameters {
            for name in [&parameter.name, &parameter.key] {
                unknown.remove(name.as_str());
                if let (Some(value), Some(schema)) = (frozen.get(name), &parameter.schema) {
                    let wrong = |error| SpecError::new(format!("frozen_params: {}: {error}", operation.name));
                    checks.check(schema, value, name).map_err(wrong)?;
                }
            }
        }
        let body = operation.body.as_ref().and_then(|body| document.at(body.schema.as_deref()?)?.resolve().ok());
        if let Some(body) = body {
            unknown.retain(|name| !declares(&body, name));
        }
    }
    match unknown.first() {
        Some(name) => Err(SpecError::new(format!("frozen_params: no function has a parameter '{name}'"))),
        None => Ok(()),
    }
}

/// Where the API is: as its owner says, or as the specification does.
fn base(document: &Document, settings: &Settings) -> Result<Url, SpecError> {
    if let Some(url) = &settings.base_url {
        return check_server(url.clone());
    }
    let Some(text) = operation::server(&document.root()) else {
        return match &settings.origin {
            Some(origin) => check_server(origin.join("/").map_err(|_| SpecError::new("its own address has no root"))?),
            None => Err(SpecError::new("it names no server; set base_url")),
        };
    };
    parse_server(&text, settings)
}

fn parse_server(text: &str, settings: &Settings) -> Result<Url, SpecError> {
    let parsed = match &settings.origin {
        Some(origin) => origin.join(text),
        None => Url::parse(text),
    };
    check_server(parsed.map_err(|_| SpecError::new(format!("its server '{text}' is no address; set base_url")))?)
}

fn check_server(url: Url) -> Result<Url, SpecError> {
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_plain {
        return Err(SpecError::new(format!(
            "its server '{url}' must be http or https, without a user, a query or a fragment; set base_url"
        )));
    }
    Ok(url)
}
