//! Credentials in the configuration and in requests: a string, or a table with a `type`.

use super::secret::Secret;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use std::fmt;

/// Describes the accepted values in error messages.
pub const EXPECTED: &str =
    "a string, or a table with type = \"bearer\" and token, \"api_key\" and key, or \"basic\", username and password";

/// The kind of a credential. It selects a security scheme of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    Bearer,
    ApiKey,
    Basic,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    r#type: CredentialKind,
    #[serde(alias = "key")]
    token: Option<String>,
    username: Option<String>,
    password: Option<String>,
}

impl Table {
    /// Returns the credential, or `None` if a field is missing or does not belong to the type.
    fn into_secret(self) -> Option<Secret> {
        match (self.r#type, self.token, self.username, self.password) {
            (CredentialKind::Bearer, Some(token), None, None) => Some(Secret::bearer(token)),
            (CredentialKind::ApiKey, Some(key), None, None) => Some(Secret::api_key(key)),
            (CredentialKind::Basic, None, Some(username), Some(password)) => Some(Secret::basic(&username, &password)),
            _ => None,
        }
    }
}

/// Deserializes a credential.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    struct CredentialVisitor;

    impl<'de> Visitor<'de> for CredentialVisitor {
        type Value = Secret;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(EXPECTED)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Secret, E> {
            Ok(Secret::new(text))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Secret, A::Error> {
            let table = Table::deserialize(MapAccessDeserializer::new(map))?;
            table.into_secret().ok_or_else(|| A::Error::custom(format!("a credential must be {EXPECTED}")))
        }
    }

    deserializer.deserialize_any(CredentialVisitor)
}

/// Deserializes an optional credential of the configuration.
pub fn deserialize_option<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    deserialize(deserializer).map(Some)
}
