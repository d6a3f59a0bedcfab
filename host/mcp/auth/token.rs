//! One token: its signature by a key of the authority's, then its claims.

use super::{AuthSettings, Keys, Rejection, Subject};
use jsonwebtoken::{
    Algorithm, DecodingKey, Validation,
    errors::ErrorKind,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// How far clocks may differ, in seconds.
const LEEWAY: u64 = 30;

/// Bytes of a subject: the host hashes and keeps them.
const MAX_SUBJECT: usize = 1024;

/// The library has checked those that must be there; of what shape they are is looked at afterwards.
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

/// Authorities write scopes as one text or as a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scopes {
    One(String),
    Many(Vec<String>),
}

impl Claims {
    fn allows(&self, wanted: &str) -> bool {
        [&self.scope, &self.scp].into_iter().flatten().any(|scopes| match scopes {
            Scopes::One(text) => text.split(' ').any(|scope| scope == wanted),
            Scopes::Many(scopes) => scopes.iter().any(|scope| scope == wanted),
        })
    }
}

/// Whoever the token speaks of, if all of it is as it must be.
pub async fn check(token: &str, settings: &AuthSettings, keys: &Keys) -> Result<Subject, Rejection> {
    // An algorithm that the library does not know, such as `none`, fails here.
    let header = jsonwebtoken::decode_header(token).map_err(|_| Rejection::Invalid("it is not a signed token"))?;
    if matches!(header.alg, Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512) {
        return Err(Rejection::Invalid("its algorithm is not one for public keys"));
    }
    if header.crit.is_some() {
        return Err(Rejection::Invalid("it needs an extension that is not known here"));
    }
    let key = keys.find(header.kid.as_deref(), |key| is_for(key, header.alg)).await?;
    let key = DecodingKey::from_jwk(&key).map_err(|_| Rejection::Invalid("its key can't be used"))?;
    let mut validation = Validation::new(header.alg);
    validation.leeway = LEEWAY;
    validation.validate_nbf = true;
    validation.set_issuer(&settings.issuers());
    validation.set_audience(&[&settings.audience]);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let claims = jsonwebtoken::decode::<Claims>(token, &key, &validation).map_err(|error| explain(error.kind()))?.claims;
    // A list of issuers is no issuer.
    let (Some(_), Some(subject), Some(end)) = (claims.iss.as_str(), claims.sub.as_str(), claims.exp.as_f64()) else {
        return Err(Rejection::Invalid("its claims can't be read"));
    };
    if subject.is_empty() || subject.len() > MAX_SUBJECT {
        return Err(Rejection::Invalid("its subject is empty or too long"));
    }
    if !settings.scopes.iter().all(|scope| claims.allows(scope)) {
        return Err(Rejection::Scope);
    }
    // A claim of the far future is one that never ends.
    let until = Duration::try_from_secs_f64(end).ok().and_then(|after| SystemTime::UNIX_EPOCH.checked_add(after));
    let forever = || SystemTime::now() + Duration::from_secs(365 * 24 * 3600);
    Ok(Subject { name: subject.to_owned(), until: until.unwrap_or_else(forever) })
}

/// Whether a key is for this algorithm and for signatures: the token names both, and must not mix them.
fn is_for(key: &Jwk, algorithm: Algorithm) -> bool {
    let kind = match (&key.algorithm, algorithm) {
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
    kind && common.key_algorithm.is_none_or(|only| only == algorithm.into())
        && common.public_key_use.as_ref().is_none_or(|purpose| *purpose == PublicKeyUse::Signature)
        && common.key_operations.as_ref().is_none_or(|operations| operations.contains(&KeyOperations::Verify))
}

fn explain(error: &ErrorKind) -> Rejection {
    Rejection::Invalid(match error {
        ErrorKind::ExpiredSignature => "it has expired",
        ErrorKind::ImmatureSignature => "it is not valid yet",
        ErrorKind::InvalidAudience => "it is meant for another audience",
        ErrorKind::InvalidIssuer => "it is of another issuer",
        ErrorKind::InvalidSignature => "its signature is wrong",
        ErrorKind::MissingRequiredClaim(claim) => match claim.as_str() {
            "aud" => "it has no audience",
            "exp" => "it has no end",
            "iss" => "it has no issuer",
            _ => "it has no subject",
        },
        _ => "its claims can't be read",
    })
}
