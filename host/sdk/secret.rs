//! Credentials.
//!
//! Security: one goes from the host's environment, or a client's request, into a request to its API, and nowhere else: not into a script,
//! a message or a log.

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD},
};
use memchr::memmem;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::{borrow::Cow, fmt};
use url::form_urlencoded;

/// A shorter one would be found where it is not.
const SHORTEST: usize = 6;

/// All but what RFC 3986 calls unreserved.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

const REDACTED: &[u8] = b"[redacted]";

/// A secret; it does not show itself.
#[derive(Clone)]
pub struct Secret {
    text: String,
    /// As a server may write it that sends it back.
    forms: Vec<Vec<u8>>,
}

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let quoted = serde_json::Value::from(text.as_str()).to_string();
        let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        let mut forms = vec![
            text.clone(),
            BASE64_STANDARD.encode(&text),
            BASE64_URL_SAFE_NO_PAD.encode(&text),
            utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(&text, UNRESERVED).to_string(),
            form_urlencoded::byte_serialize(text.as_bytes()).collect(),
            escaped.to_owned(),
            escaped.replace('/', "\\/"),
            escaped.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e"),
            text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
            BASE64_STANDARD_NO_PAD.encode(&text),
        ];
        // Of a user and a password, the password alone is one too.
        forms.extend(text.split_once(':').map(|(_, password)| password.to_owned()));
        forms.extend(forms.clone().iter().filter(|form| form.contains('%')).map(|form| form.to_ascii_lowercase()));
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        forms.retain(|form| form.len() >= SHORTEST);
        Self { text, forms: forms.into_iter().map(String::into_bytes).collect() }
    }

    /// The secret itself, for a request.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Takes it out of what came back, where a server has put it.
    pub fn redact<'a>(&self, bytes: impl Into<Cow<'a, [u8]>>) -> Cow<'a, [u8]> {
        let mut bytes = bytes.into();
        for form in &self.forms {
            if memmem::find(&bytes, form).is_some() {
                bytes = Cow::Owned(without(&bytes, form));
            }
        }
        bytes
    }
}

fn without(bytes: &[u8], form: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memmem::find(rest, form) {
        clean.extend_from_slice(&rest[..at]);
        clean.extend_from_slice(REDACTED);
        rest = &rest[at + form.len()..];
    }
    clean.extend_from_slice(rest);
    clean
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
    fn a_secret_is_taken_out_in_every_form() {
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
        // One that is short is in many words.
        assert_eq!(Secret::new("ab").redact(b"cab".as_slice()).as_ref(), b"cab");
    }
}
