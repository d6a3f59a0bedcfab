//! The functions as one run has them, with the credentials that it brought.

use super::{Sdk, Secret, upstream::PrivateConnection};
use crate::functions::{BoxFuture, FunctionCall, FunctionProvider, FunctionResponse};
use std::{collections::BTreeMap, sync::Arc};

/// The functions of one run.
pub struct Session {
    sdk: Arc<Sdk>,
    credentials: BTreeMap<String, (Secret, PrivateConnection)>,
}

impl Session {
    /// A run that brings credentials, by the names of what they are for.
    ///
    /// # Errors
    ///
    /// When there is no API of a name, or it takes none.
    pub fn new(sdk: Arc<Sdk>, credentials: BTreeMap<String, Secret>) -> Result<Self, String> {
        for name in credentials.keys() {
            let server = sdk.servers.iter().find(|server| server.name == *name);
            if server.is_some_and(|server| !server.takes_credentials()) {
                return Err(format!("the server '{name}' is a program here, and takes no credential"));
            }
            if server.is_none() && !sdk.apis.iter().any(|api| api.name == *name) {
                return Err(format!("there is no API '{name}'"));
            }
        }
        let credentials = credentials.into_iter().map(|(name, secret)| (name, (secret, PrivateConnection::new()))).collect();
        Ok(Self { sdk, credentials })
    }

    /// What was brought for an API, and the connection that is made with it if it is a server.
    pub(super) fn credential(&self, source: &str) -> (Option<&Secret>, Option<&PrivateConnection>) {
        match self.credentials.get(source) {
            Some((secret, connection)) => (Some(secret), Some(connection)),
            None => (None, None),
        }
    }
}

impl FunctionProvider for Session {
    fn names(&self) -> Vec<String> {
        self.sdk.catalogue().names()
    }

    fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, String>> {
        Box::pin(self.sdk.call(call, self))
    }

    fn search(&self, query: &str) -> String {
        let found = self.sdk.search(query);
        let rows = found.iter().map(|function| serde_json::json!({ "name": function.full_name(), "summary": function.summary }));
        rows.collect::<serde_json::Value>().to_string()
    }

    fn docs(&self, name: &str) -> Result<String, String> {
        self.sdk.docs(name)
    }
}
