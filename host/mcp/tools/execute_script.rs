//! `execute_script`: its definition and its arguments.

use super::script_description::script_description;
use crate::{
    Limits,
    engine::{CheckMode, IoOptions},
    mcp::{
        arguments::{self, InvalidArgument, WholeNumber, truncate},
        schema, script_result,
    },
    sdk::{Sdk, Secret, deserialize_credential},
};
use rmcp::model::{JsonObject, RequestMetaObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// The name of the tool, which every server offers.
pub const NAME: &str = "execute_script";

/// The arguments of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Luau source text.
    pub script: String,
    /// Timeout in milliseconds; can only lower the limit.
    timeout_ms: Option<WholeNumber<1>>,
    /// "off" runs a script in which mistakes were found.
    pub check: Option<CheckMode>,
}

impl Arguments {
    pub fn parse(arguments: Option<JsonObject>) -> Result<Self, InvalidArgument> {
        arguments::parse(arguments)
    }

    pub fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(|WholeNumber(milliseconds)| Duration::from_millis(milliseconds))
    }
}

/// Returns the definition of the tool. Its description contains the configured limits.
pub fn define(limits: &Limits, io: Option<&IoOptions>, sdk: Option<&Sdk>) -> Tool {
    let has_effects = io.is_some() || sdk.is_some();
    Tool::new(NAME, script_description(limits, io, sdk.as_slice(), &[]), schema::of_input::<Arguments>())
        .with_title("Execute a Luau script")
        .with_raw_output_schema(Arc::new(script_result::schema()))
        .with_annotations(ToolAnnotations::new().read_only(!has_effects).destructive(has_effects).open_world(sdk.is_some()))
}

/// Returns the credentials that the client sends for APIs: `auth` in the `_meta` of the request, which no model reads.
///
/// # Errors
///
/// When it is not an object of credentials: non-empty strings, or objects with a `type`. The message contains no credential.
pub fn credentials(meta: &RequestMetaObject) -> Result<BTreeMap<String, Secret>, String> {
    let Some(auth) = meta.get("auth") else { return Ok(BTreeMap::new()) };
    let Value::Object(auth) = auth else { return Err("it must be an object with a credential for each API".into()) };
    let invalid = |name: &str| {
        let accepted = r#"a string, {type: "bearer", token}, {type: "api_key", key} or {type: "basic", username, password}"#;
        format!("the credential of '{}' must be {accepted}", truncate(name))
    };
    let credential = |(name, value): (&String, &Value)| match value {
        Value::String(text) if text.is_empty() => Err(invalid(name)),
        // An error of the decoder could contain a credential.
        value => deserialize_credential(value).map(|secret| (name.clone(), secret)).map_err(|_| invalid(name)),
    };
    auth.iter().map(credential).collect()
}
