//! Credentials.
//!
//! Security: a credential comes from the options, the environment or a client request. It is written into requests to its own server only,
//! and never into a script, an error message or a log line.

use super::credential::CredentialKind;
use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD},
};
use memchr::memmem;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use std::{borrow::Cow, fmt};
use url::form_urlencoded;

/// The length in bytes from which a form is removed from responses. A shorter one would match unrelated text.
const MIN_REDACTED_LENGTH: usize = 6;

/// Encodes all characters except those that RFC 3986 calls unreserved.
const ENCODE_RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

const REDACTED: &[u8] = b"[redacted]";

/// A credential, or another value to keep secret. `Debug` does not show it.
#[derive(Clone, Deserialize)]
#[serde(from = "String")]
pub struct Secret {
    text: String,
    /// The encodings in which a server might send it back, longest first.
    forms: Vec<Vec<u8>>,
    /// The kind, if it is known.
    kind: Option<CredentialKind>,
}

impl Secret {
    /// Creates a secret from its text.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let quoted = serde_json::Value::from(text.as_str()).to_string();
        let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        let mut forms = vec![
            text.clone(),
            BASE64_STANDARD.encode(&text),
            BASE64_URL_SAFE_NO_PAD.encode(&text),
            utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(&text, ENCODE_RESERVED).to_string(),
            form_urlencoded::byte_serialize(text.as_bytes()).collect(),
            escaped.to_owned(),
            escaped.replace('/', "\\/"),
            escaped.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e"),
            text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
            BASE64_STANDARD_NO_PAD.encode(&text),
        ];
        // In `user:password`, the password alone is secret too.
        forms.extend(text.split_once(':').map(|(_, password)| password.to_owned()));
        forms.extend(forms.clone().iter().filter(|form| form.contains('%')).map(|form| form.to_ascii_lowercase()));
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        forms.retain(|form| form.len() >= MIN_REDACTED_LENGTH);
        Self { text, forms: forms.into_iter().map(String::into_bytes).collect(), kind: None }
    }

    /// Creates a bearer token. It is sent as such, unless `auth_scheme` selects another security scheme of the specification.
    pub fn bearer(token: impl Into<String>) -> Self {
        Self { kind: Some(CredentialKind::Bearer), ..Self::new(token) }
    }

    /// Creates a key, which is sent in the header, query parameter or cookie that the specification names.
    pub fn api_key(key: impl Into<String>) -> Self {
        Self { kind: Some(CredentialKind::ApiKey), ..Self::new(key) }
    }

    /// Creates a user name and password for basic authentication.
    #[must_use]
    pub fn basic(username: &str, password: &str) -> Self {
        Self { kind: Some(CredentialKind::Basic), ..Self::new(format!("{username}:{password}")) }
    }

    /// Returns `true` if it can be sent as a bearer token.
    pub(super) fn is_bearer(&self) -> bool {
        matches!(self.kind, None | Some(CredentialKind::Bearer))
    }

    /// Returns the kind of the credential, if it is known.
    pub(super) fn kind(&self) -> Option<CredentialKind> {
        self.kind
    }

    /// Returns the text, for a request.
    pub(super) fn reveal(&self) -> &str {
        &self.text
    }

    /// Replaces the secret in a response with `[redacted]`, in every encoding.
    pub(super) fn redact<'a>(&self, bytes: impl Into<Cow<'a, [u8]>>) -> Cow<'a, [u8]> {
        let mut bytes = bytes.into();
        for form in &self.forms {
            if memmem::find(&bytes, form).is_some() {
                bytes = Cow::Owned(replace_all(&bytes, form));
            }
        }
        bytes
    }
}

fn replace_all(bytes: &[u8], form: &[u8]) -> Vec<u8> {
    let mut redacted = Vec::new();
    let mut rest = bytes;
    while let Some(start) = memmem::find(rest, form) {
        redacted.extend_from_slice(&rest[..start]);
        redacted.extend_from_slice(REDACTED);
        rest = &rest[start + form.len()..];
    }
    redacted.extend_from_slice(rest);
    redacted
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_redacted_in_every_form() {
        let secret = Secret::new("user:pa ss\"word");
        let key = Secret::new("sk-live/AB+cd==");
        for echoed in ["a&amp;b&lt;c&gt;d", "a\\u0026b\\u003cc\\u003ed"] {
            assert_eq!(Secret::new("a&b<c>d").redact(echoed.as_bytes()).as_ref(), b"[redacted]", "{echoed}");
        }
        for echoed in ["sk-live%2FAB%2Bcd%3D%3D", "sk-live%2fab%2bcd%3d%3d", "sk-live\\/AB+cd==", "sk-live/AB+cd=="] {
            assert_eq!(key.redact(echoed.as_bytes()).as_ref(), b"[redacted]", "{echoed}");
        }
        for echoed in ["user:pa ss\"word", "dXNlcjpwYSBzcyJ3b3Jk", "user%3Apa%20ss%22word", "user:pa ss\\\"word", "pa ss\"word"] {
            let text = format!("<{echoed}{echoed}>");
            assert_eq!(secret.redact(text.as_bytes()).as_ref(), b"<[redacted][redacted]>", "{echoed}");
        }
        assert_eq!(secret.redact(b"user".as_slice()).as_ref(), b"user");
        assert_eq!(format!("{secret:?}"), "Secret");
        // A short secret is part of many words.
        assert_eq!(Secret::new("ab").redact(b"cab".as_slice()).as_ref(), b"cab");
    }
}
