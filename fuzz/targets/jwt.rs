//! Tokens: any bytes, and signed tokens with any header and claims. A second implementation of the rules says which may be accepted.

use crate::{input::Input, runtime::block_on};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use serde_json::{Map, Value, json};
use std::{
    sync::LazyLock,
    time::{SystemTime, UNIX_EPOCH},
};
use toolscript::fuzzing::TokenVerifier;

/// Nothing listens on this port: a fetch of keys fails at once.
const ISSUER: &str = "http://127.0.0.1:1/realm";
const AUDIENCE: &str = "https://tools.example.com/mcp";

struct Authority {
    key: Ed25519KeyPair,
    verifier: TokenVerifier,
}

static AUTHORITY: LazyLock<Authority> = LazyLock::new(|| {
    // Any constant: an input must have the same effect in each process.
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key");
    let x = BASE64.encode(key.public_key());
    let keys = json!([
        { "kty": "OKP", "crv": "Ed25519", "kid": "main", "use": "sig", "x": x },
        { "kty": "OKP", "crv": "Ed25519", "kid": "encryption", "use": "enc", "x": x },
        { "kty": "oct", "kid": "symmetric", "k": x },
    ]);
    let verifier = TokenVerifier::new(ISSUER, AUDIENCE.parse().expect("a URL"), &keys.to_string()).expect("a verifier");
    Authority { key, verifier }
});

pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.u8() % 3 {
        0 => assert_eq!(block_on(AUTHORITY.verifier.verify(input.rest())), None),
        1 => {
            let header = input.short_bytes();
            check(header, input.rest());
        }
        _ => {
            let (header, claims) = (random_header(&mut input), random_claims(&mut input));
            let is_accepted = check(header.to_string().as_bytes(), claims.to_string().as_bytes());
            assert!(is_accepted || claims != valid_claims() || header != json!({ "alg": "EdDSA" }), "a valid token is rejected");
        }
    }
}

/// Signs a token and verifies it. Returns `true` if it is accepted.
fn check(header: &[u8], claims: &[u8]) -> bool {
    let message = format!("{}.{}", BASE64.encode(header), BASE64.encode(claims));
    let signature = BASE64.encode(AUTHORITY.key.sign(message.as_bytes()));
    let subject = block_on(AUTHORITY.verifier.verify(format!("Bearer {message}.{signature}").as_bytes()));
    if subject.is_some() {
        let expected = allowed_subject(header, claims);
        assert_eq!(subject, expected, "{} {}", String::from_utf8_lossy(header), String::from_utf8_lossy(claims));
        // Any change of the message invalidates the signature.
        let changed = format!("{}.{}", BASE64.encode(header), BASE64.encode([claims, b" "].concat()));
        assert_eq!(block_on(AUTHORITY.verifier.verify(format!("Bearer {changed}.{signature}").as_bytes())), None);
    }
    subject.is_some()
}

fn object(text: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(text).ok()
}

/// Returns the subject of a token that may be accepted.
fn allowed_subject(header: &[u8], claims: &[u8]) -> Option<String> {
    let (header, claims) = (object(header)?, object(claims)?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64();
    let has = |value: &Value, known: &[&str]| match value {
        Value::String(text) => known.contains(&text.as_str()),
        Value::Array(values) => values.iter().any(|value| value.as_str().is_some_and(|text| known.contains(&text))),
        _ => false,
    };
    let is_valid = header.get("alg")? == "EdDSA"
        && header.get("kid").is_none_or(|id| id == "main" || id.is_null())
        && header.get("crit").is_none_or(Value::is_null)
        && has(claims.get("iss").filter(|issuer| issuer.is_string())?, &[ISSUER, "http://127.0.0.1:1/realm/"])
        && has(claims.get("aud")?, &[AUDIENCE])
        && claims.get("exp")?.as_f64()? > now - 31.0
        && claims.get("nbf").and_then(Value::as_f64).is_none_or(|time| time <= now + 31.0);
    let subject = claims.get("sub")?.as_str()?;
    (is_valid && !subject.is_empty() && subject.len() <= 1024).then(|| subject.to_owned())
}

fn random_header(input: &mut Input<'_>) -> Value {
    let mut header = json!({ "alg": "EdDSA" });
    let mut set = |key: &str, values: &[Value]| {
        let choice = usize::from(input.u8());
        if let Some(value) = values.get(choice % (values.len() + 1)) {
            header[key] = value.clone();
        }
    };
    set("alg", &[json!("EdDSA"), json!("none"), json!("HS256"), json!("ES256"), json!("RS256"), json!(1), Value::Null]);
    set("kid", &[json!("main"), json!("encryption"), json!("symmetric"), json!("unknown"), json!(""), Value::Null]);
    set("typ", &[json!("JWT"), json!("at+jwt"), json!("x")]);
    set("crit", &[json!(["exp"]), json!([]), Value::Null]);
    set("jku", &[json!("http://127.0.0.1:1/keys")]);
    header
}

fn valid_claims() -> Value {
    json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 4_000_000_000_u64, "sub": "user" })
}

fn random_claims(input: &mut Input<'_>) -> Value {
    let times =
        [json!(0), json!(-1), json!(4_000_000_000_u64), json!(1e300), json!(4e9), json!("4000000000"), json!(u64::MAX), Value::Null];
    let mut claims = valid_claims();
    let mut set = |key: &str, values: &[Value]| {
        let choice = usize::from(input.u8());
        match values.get((choice / 2) % (values.len() + 1)) {
            // The valid value stays.
            _ if choice % 2 == 0 => {}
            Some(value) => claims[key] = value.clone(),
            None => drop(claims.as_object_mut().and_then(|claims| claims.remove(key))),
        }
    };
    set("iss", &[json!("http://127.0.0.1:1/realm/"), json!([ISSUER]), json!("https://other.example"), json!(""), json!({}), Value::Null]);
    set("aud", &[json!([AUDIENCE, "x"]), json!(["x"]), json!([]), json!("x"), json!({}), json!([1, AUDIENCE]), Value::Null]);
    set("exp", &times);
    set("nbf", &times);
    set("sub", &[json!(""), json!("x".repeat(1025)), json!("ü"), json!(1), json!(["user"]), Value::Null]);
    set("scope", &[json!("a b"), json!(["a"]), json!(1), Value::Null]);
    claims
}
