//! The check of one token: its signature by a key of the authorization server, then its claims.

use super::{AuthSettings, Rejection, SigningKeys, Subject};
use jsonwebtoken::{
    Algorithm, DecodingKey, Validation,
    errors::ErrorKind,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// The tolerated clock difference in seconds.
const CLOCK_LEEWAY: u64 = 30;

/// The maximum length of a subject in bytes. The host hashes it with each request.
const MAX_SUBJECT_LENGTH: usize = 1024;

/// The claims of a token. jsonwebtoken checks that the required ones exist; their types are checked afterwards.
#[derive(Deserialize)]
struct Claims {
    #[serde(default)]
    iss: Value,
    #[serde(default)]
    sub: Value,
    #[serde(default)]
    exp: Value,
    #[serde(default)]
    scope: Option<Scopes>,
    #[serde(default)]
    scp: Option<Scopes>,
}

/// Scopes, which authorization servers write as one string or as a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scopes {
    Joined(String),
    List(Vec<String>),
}

impl Claims {
    fn has_scope(&self, wanted: &str) -> bool {
        [&self.scope, &self.scp].into_iter().flatten().any(|scopes| match scopes {
            Scopes::Joined(text) => text.split(' ').any(|scope| scope == wanted),
            Scopes::List(scopes) => scopes.iter().any(|scope| scope == wanted),
        })
    }
}

/// Checks a token and returns its subject.
pub async fn check(token: &str, settings: &AuthSettings, keys: &SigningKeys) -> Result<Subject, Rejection> {
    // An unknown algorithm, such as `none`, fails here.
    let header = jsonwebtoken::decode_header(token).map_err(|_| Rejection::Invalid("the token is not a signed JWT"))?;
    if matches!(header.alg, Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512) {
        return Err(Rejection::Invalid("the token does not use a public-key algorithm"));
    }
    if header.crit.is_some() {
        return Err(Rejection::Invalid("the token requires an unsupported extension"));
    }
    let key = keys.find(header.kid.as_deref(), |key| is_suitable(key, header.alg)).await?;
    let key = DecodingKey::from_jwk(&key).map_err(|_| Rejection::Invalid("the signing key of the token can't be used"))?;
    let mut validation = Validation::new(header.alg);
    validation.leeway = CLOCK_LEEWAY;
    validation.validate_nbf = true;
    validation.set_issuer(&settings.options.issuers());
    validation.set_audience(&[&settings.audience]);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let claims = jsonwebtoken::decode::<Claims>(token, &key, &validation).map_err(|error| explain(error.kind()))?.claims;
    // jsonwebtoken also accepts a list of issuers.
    let (Some(_), Some(subject), Some(expires)) = (claims.iss.as_str(), claims.sub.as_str(), claims.exp.as_f64()) else {
        return Err(Rejection::Invalid("the claims of the token can't be read"));
    };
    if subject.is_empty() || subject.len() > MAX_SUBJECT_LENGTH {
        return Err(Rejection::Invalid("the subject of the token is empty or too long"));
    }
    if !settings.options.scopes.iter().all(|scope| claims.has_scope(scope)) {
        return Err(Rejection::Scope);
    }
    // A time that is too far in the future to represent counts as one year from now.
    let expires = Duration::try_from_secs_f64(expires).ok().and_then(|after| SystemTime::UNIX_EPOCH.checked_add(after));
    let in_one_year = || SystemTime::now() + Duration::from_secs(365 * 24 * 3600);
    Ok(Subject { name: subject.to_owned(), expires: expires.unwrap_or_else(in_one_year) })
}

/// Returns `true` if a key is for signatures with this algorithm. A token names both, and must not combine a key with another algorithm.
fn is_suitable(key: &Jwk, algorithm: Algorithm) -> bool {
    let matches_type = match (&key.algorithm, algorithm) {
        (
            AlgorithmParameters::RSA(_),
            Algorithm::RS256 | Algorithm::RS384 | Algorithm::RS512 | Algorithm::PS256 | Algorithm::PS384 | Algorithm::PS512,
        ) => true,
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES256) => key.curve == EllipticCurve::P256,
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES384) => key.curve == EllipticCurve::P384,
        (AlgorithmParameters::OctetKeyPair(key), Algorithm::EdDSA) => key.curve == EllipticCurve::Ed25519,
        _ => false,
    };
    let common = &key.common;
    matches_type
        && common.key_algorithm.is_none_or(|only| only == algorithm.into())
        && common.public_key_use.as_ref().is_none_or(|purpose| *purpose == PublicKeyUse::Signature)
        && common.key_operations.as_ref().is_none_or(|operations| operations.contains(&KeyOperations::Verify))
}

fn explain(error: &ErrorKind) -> Rejection {
    Rejection::Invalid(match error {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidAudience => "the token is for another audience",
        ErrorKind::InvalidIssuer => "the token is from another issuer",
        ErrorKind::InvalidSignature => "the signature of the token is invalid",
        ErrorKind::MissingRequiredClaim(claim) => match claim.as_str() {
            "aud" => "the token has no audience",
            "exp" => "the token has no expiry time",
            "iss" => "the token has no issuer",
            _ => "the token has no subject",
        },
        _ => "the claims of the token can't be read",
    })
}
