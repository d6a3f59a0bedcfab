//! Authentication: valid and invalid tokens, and the signing keys of the authorization server.

use crate::support::{
    http_server::{Answer, HttpClient, HttpServer, call},
    key_server::{AUDIENCE, KeyServer, key_pair, now, public_key, sign_with},
    server_process::{TIMEOUT, temp_directory},
};
use aws_lc_rs::{
    rand::SystemRandom,
    rsa,
    signature::{KeyPair as _, RSA_PKCS1_SHA256},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn start(keys: &KeyServer, extra_flags: &[&str]) -> (TempDir, HttpServer) {
    let directory = temp_directory();
    let flags = keys.flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(extra_flags.iter().copied()).collect();
    let server = HttpServer::start(directory.path(), &flags);
    (directory, server)
}

/// Sends a request that must be rejected. Returns the status, the error description and the challenge.
async fn rejected(client: &HttpClient) -> (StatusCode, String, String) {
    let response = client.clone().send("tools/call", call("return 1")).await;
    let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().expect("a text").to_owned());
    let answer = Answer::of(response).await;
    (answer.status, answer.last()["error_description"].as_str().unwrap_or_default().to_owned(), challenge.unwrap_or_default())
}

#[tokio::test]
async fn a_valid_token_is_accepted_and_an_invalid_one_is_rejected_with_the_reason() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, &[]);
    let client = server.client();
    assert_eq!(client.clone().with_token(&keys.token("user")).result("return 1").await, 1);

    let claims = keys.claims("user");
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        keys.sign(&claims)
    };
    let without = |name: &str| {
        let mut claims = claims.clone();
        claims.as_object_mut().expect("an object").remove(name);
        keys.sign(&claims)
    };
    let encoded = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let none = format!("{}.{}.", encoded(&json!({ "alg": "none", "typ": "JWT" })), encoded(&claims));
    let other = key_pair();
    // The public key, used as a symmetric secret.
    let secret = EncodingKey::from_secret(keys.public_key().to_string().as_bytes());
    let symmetric = jsonwebtoken::encode(&Header { kid: Some("main".into()), ..Header::new(Algorithm::HS256) }, &claims, &secret);
    let mut parts = keys.token("user").split('.').map(str::to_owned).collect::<Vec<_>>();
    parts[1] = encoded(&keys.claims("admin"));
    for (token, reason) in [
        (none, "the token is not a signed JWT"),
        ("x".into(), "the token is not a signed JWT"),
        ("a.b.c".into(), "the token is not a signed JWT"),
        (symmetric.expect("a token"), "the token does not use a public-key algorithm"),
        (parts.join("."), "the signature of the token is invalid"),
        (sign_with(&other, "main", &claims), "the signature of the token is invalid"),
        (sign_with(&other, "other", &claims), "the signing key of the token is unknown"),
        (with("exp", json!(now() - 3600)), "the token has expired"),
        (with("nbf", json!(now() + 3600)), "the token is not valid yet"),
        (with("aud", json!("another")), "the token is for another audience"),
        (with("iss", json!("https://another.example")), "the token is from another issuer"),
        (with("iss", json!([keys.issuer, "https://another.example"])), "the claims of the token can't be read"),
        (with("sub", json!("")), "the subject of the token is empty or too long"),
        (with("sub", json!(7)), "the token has no subject"),
        (with("exp", json!("never")), "the token has no expiry time"),
        (without("exp"), "the token has no expiry time"),
        (without("iss"), "the token has no issuer"),
        (without("sub"), "the token has no subject"),
        (without("aud"), "the token has no audience"),
    ] {
        let (status, description, challenge) = rejected(&client.clone().with_token(&token)).await;
        assert_eq!((status, description.as_str()), (StatusCode::UNAUTHORIZED, reason), "{token}");
        let expected = format!(
            "Bearer resource_metadata=\"http://127.0.0.1/.well-known/oauth-protected-resource/mcp\", error=\"invalid_token\", \
             error_description=\"{reason}\""
        );
        assert_eq!(challenge, expected);
    }
    // One of several audiences is enough.
    let several = with("aud", json!(["another", AUDIENCE]));
    assert_eq!(client.clone().with_token(&several).result("return 1").await, 1);
}

#[tokio::test]
async fn the_response_without_a_token_tells_where_to_get_one() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, &[]);
    let metadata = "http://127.0.0.1/.well-known/oauth-protected-resource/mcp";
    let expected = format!("Bearer resource_metadata=\"{metadata}\"");
    let client = server.client();
    for method in [Method::GET, Method::POST, Method::DELETE, Method::PUT] {
        let response = client.request(method.clone()).send().await.expect("a response");
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{method}");
        assert_eq!(response.headers()["www-authenticate"], expected);
    }
    // A token is accepted only in one Authorization header.
    let token = keys.token("user");
    let in_the_query = HttpClient { url: format!("{}?access_token={token}", client.url), ..client.clone() };
    assert_eq!(rejected(&in_the_query).await.0, StatusCode::UNAUTHORIZED);
    let twice = client.request(Method::POST).bearer_auth(&token).header("authorization", format!("Bearer {token}"));
    assert_eq!(twice.send().await.expect("a response").status(), StatusCode::UNAUTHORIZED);
    let basic = client.request(Method::POST).header("authorization", format!("Basic {token}"));
    assert_eq!(basic.send().await.expect("a response").status(), StatusCode::UNAUTHORIZED);

    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let found: Value =
            serde_json::from_str(&reqwest::get(server.url(path)).await.expect("a response").text().await.expect("a text")).expect("JSON");
        let expected =
            json!({ "resource": "http://127.0.0.1/mcp", "authorization_servers": [keys.issuer], "bearer_methods_supported": ["header"] });
        assert_eq!(found, expected);
    }
    assert_eq!(reqwest::get(server.url("/healthz")).await.expect("a response").status(), StatusCode::OK);
}

#[tokio::test]
async fn a_token_without_a_required_scope_is_rejected() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, &["--auth-scope", "scripts:run files"]);
    let client = server.client();
    let with = |name: &str, value: Value| {
        let mut claims = keys.claims("user");
        claims[name] = value;
        client.clone().with_token(&keys.sign(&claims))
    };
    for mut client in [
        with("scope", json!("openid files scripts:run")),
        with("scp", json!(["files", "scripts:run"])),
        with("scope", json!(["files", "scripts:run"])),
        with("scp", json!("scripts:run files")),
    ] {
        assert_eq!(client.result("return 1").await, 1);
    }
    for client in
        [client.clone().with_token(&keys.token("user")), with("scope", json!("files scripts:run2")), with("scp", json!(["files"]))]
    {
        let (status, _, challenge) = rejected(&client).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        let expected = "Bearer resource_metadata=\"http://127.0.0.1/.well-known/oauth-protected-resource/mcp\", scope=\"scripts:run files\", \
                        error=\"insufficient_scope\", error_description=\"the token lacks a required scope\"";
        assert_eq!(challenge, expected);
    }
}

#[tokio::test]
async fn a_key_is_used_only_for_its_algorithm_and_purpose() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, &[]);
    let client = server.client();
    let (encryption, other_algorithm) = (key_pair(), key_pair());
    let mut for_encryption = public_key(&encryption, "encryption");
    for_encryption["use"] = json!("enc");
    let mut for_another = public_key(&other_algorithm, "another");
    for_another["alg"] = json!("ES384");
    let rsa = rsa::KeyPair::generate(rsa::KeySize::Rsa2048).expect("a key");
    let component = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let (modulus, exponent) = (rsa.public_key().modulus(), rsa.public_key().exponent());
    let rsa_public = json!({
        "kty": "RSA", "kid": "rsa",
        "n": component(modulus.big_endian_without_leading_zero()), "e": component(exponent.big_endian_without_leading_zero()),
    });
    let symmetric = json!({ "kty": "oct", "kid": "symmetric", "k": component(b"secret") });
    keys.set_keys(vec![json!({ "kty": "unknown" }), for_encryption, for_another, rsa_public, symmetric]);

    let claims = keys.claims("user");
    for token in [
        sign_with(&encryption, "encryption", &claims),
        sign_with(&other_algorithm, "another", &claims),
        // An ES256 token that names the RSA key.
        sign_with(&encryption, "rsa", &claims),
    ] {
        assert_eq!(rejected(&client.clone().with_token(&token)).await.1, "the signing key of the token is unknown");
    }
    let secret = EncodingKey::from_secret(b"secret");
    let header = Header { kid: Some("symmetric".into()), ..Header::new(Algorithm::HS256) };
    let symmetric = jsonwebtoken::encode(&header, &claims, &secret).expect("a token");
    assert_eq!(rejected(&client.clone().with_token(&symmetric)).await.1, "the token does not use a public-key algorithm");

    let encoded = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = |header: Value| {
        let text = format!("{}.{}", encoded(&header), encoded(&claims));
        let mut signature = vec![0; rsa.public_modulus_len()];
        rsa.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).expect("a signature");
        format!("{text}.{}", component(&signature))
    };
    assert_eq!(client.clone().with_token(&signed(json!({ "alg": "RS256", "kid": "rsa" }))).result("return 1").await, 1);
    // Without a key id, the only suitable key is used.
    assert_eq!(client.clone().with_token(&signed(json!({ "alg": "RS256" }))).result("return 1").await, 1);
    let critical = signed(json!({ "alg": "RS256", "kid": "rsa", "crit": ["exp"] }));
    assert_eq!(rejected(&client.clone().with_token(&critical)).await.1, "the token requires an unsupported extension");
}

#[tokio::test]
async fn a_key_that_is_listed_twice_is_used() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, &[]);
    let mut with_certificate = keys.public_key();
    with_certificate["x5t"] = json!("AAAA");
    keys.set_keys(vec![keys.public_key(), with_certificate, keys.public_key()]);
    let client = server.client();
    assert_eq!(client.clone().with_token(&keys.token("user")).result("return 1").await, 1);
}

#[tokio::test]
async fn different_keys_with_the_same_id_are_not_used() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, &[]);
    keys.set_keys(vec![keys.public_key(), public_key(&key_pair(), "main")]);
    let client = server.client().with_token(&keys.token("user"));
    assert_eq!(rejected(&client).await.1, "the signing key of the token is unknown");
}

#[tokio::test]
async fn rejected_requests_are_logged_with_their_reason_at_a_bounded_rate() {
    let keys = KeyServer::start().await;
    let (_directory, mut server) = start(&keys, &["--auth-scope", "run"]);
    let client = server.client();
    let statuses = |line: String, expected: &str| assert!(line.contains("WARN") && line.ends_with(expected), "{line}");
    rejected(&client).await;
    statuses(server.next_log_line(), "rejected a request: a bearer token is required status=401");
    rejected(&client.clone().with_token("secret")).await;
    statuses(server.next_log_line(), "rejected a request: the token is not a signed JWT status=401");
    rejected(&client.clone().with_token(&keys.token("user"))).await;
    statuses(server.next_log_line(), "rejected a request: the token lacks a required scope status=403");
    let foreign = client.request(reqwest::Method::GET).header("origin", "https://evil.example").send().await.expect("a response");
    assert_eq!(foreign.status(), 403);
    statuses(server.next_log_line(), "rejected a request: this Origin is not allowed status=403");
    for _ in 0..100 {
        rejected(&client).await;
    }
    server.signal("KILL");
    let mut lines = 0;
    while !server.next_log_line().is_empty() {
        lines += 1;
    }
    assert!((56..70).contains(&lines), "{lines}");
}

#[tokio::test]
async fn keys_are_fetched_once_and_not_for_every_unknown_key_id() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, &[]);
    let token = keys.token("user");
    assert_eq!(keys.key_requests(), 0);
    let first: Vec<_> = (0..20)
        .map(|_| {
            let mut client = server.client().with_token(&token);
            tokio::spawn(async move { client.result("return 1").await })
        })
        .collect();
    for run in first {
        assert_eq!(run.await.expect("a result"), 1);
    }
    assert_eq!(keys.key_requests(), 1);
    let stranger = key_pair();
    for number in 0..20 {
        let token = sign_with(&stranger, &format!("unknown {number}"), &keys.claims("user"));
        assert_eq!(rejected(&server.client().with_token(&token)).await.1, "the signing key of the token is unknown");
    }
    // Nor for clients that do not wait for the response.
    for number in 0..20 {
        let token = sign_with(&stranger, &format!("unknown {number}"), &keys.claims("user"));
        let client = server.client().with_token(&token);
        let request = tokio::spawn(async move { rejected(&client).await });
        tokio::task::yield_now().await;
        request.abort();
    }
    assert_eq!(keys.key_requests(), 1, "within the minimum interval");
    assert_eq!(server.client().with_token(&token).result("return 2").await, 2);
}

#[tokio::test]
async fn a_new_key_is_fetched_and_a_removed_one_is_rejected() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, &[]);
    let old = server.client().with_token(&keys.token("user"));
    assert_eq!(old.clone().result("return 1").await, 1);
    let next = key_pair();
    keys.set_keys(vec![public_key(&next, "next")]);
    let mut new = server.client().with_token(&sign_with(&next, "next", &keys.claims("user")));
    // There is a minimum interval between two fetches.
    let started = Instant::now();
    while new.send("tools/call", call("return 1")).await.status() == StatusCode::UNAUTHORIZED {
        assert!(started.elapsed() < TIMEOUT);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(new.result("return 2").await, 2);
    assert_eq!(rejected(&old).await.1, "the signing key of the token is unknown");
    assert_eq!(keys.key_requests(), 2);
}

#[tokio::test]
async fn concurrent_requests_share_one_failed_fetch_of_keys() {
    let keys = KeyServer::start().await;
    keys.set_silent(true);
    let (_directory, server) = start(&keys, &[]);
    let token = keys.token("user");
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let client = server.client().with_token(&token);
            tokio::spawn(async move { rejected(&client).await.0 })
        })
        .collect();
    for response in waiting {
        assert_eq!(response.await.expect("a response"), StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(keys.key_requests(), 1);
}

#[tokio::test]
async fn no_key_is_fetched_from_a_url_in_a_token() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, &[]);
    let evil = KeyServer::start().await;
    let stranger = key_pair();
    evil.set_keys(vec![public_key(&stranger, "evil")]);
    let url = format!("{}/keys", evil.issuer);
    let header = Header { kid: Some("evil".into()), jku: Some(url.clone()), x5u: Some(url), ..Header::new(Algorithm::ES256) };
    let token = jsonwebtoken::encode(&header, &keys.claims("user"), &stranger).expect("a token");
    assert_eq!(rejected(&server.client().with_token(&token)).await.1, "the signing key of the token is unknown");
    // Neither from the issuer in the token.
    let token = sign_with(&stranger, "evil", &evil.claims("user"));
    assert_eq!(rejected(&server.client().with_token(&token)).await.1, "the signing key of the token is unknown");
    assert_eq!(evil.key_requests(), 0);
}

#[tokio::test]
async fn without_keys_all_tokens_are_rejected() {
    let keys = KeyServer::start().await;
    keys.set_broken(true);
    let (_directory, server) = start(&keys, &[]);
    let (status, description, _) = rejected(&server.client().with_token(&keys.token("user"))).await;
    assert_eq!((status, description.as_str()), (StatusCode::SERVICE_UNAVAILABLE, "can't fetch the keys of the authorization server"));
    // A configuration of another issuer is rejected.
    let other = KeyServer::start().await;
    let flags = ["--auth-authority".to_owned(), format!("{}/other", other.issuer)];
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--public-url", "http://127.0.0.1", &flags[0], &flags[1]]);
    assert_eq!(rejected(&server.client().with_token(&other.token("user"))).await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(other.key_requests(), 0);
}
