//! Tokens: which are good, and what those without one are told.

use crate::{
    support::http_server::{Answer, HttpClient, HttpServer, PATIENCE, call},
    support::key_server::{AUDIENCE, KeyServer, key_pair, now, public, sign_with},
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

async fn start(keys: &KeyServer, more: &[&str]) -> (TempDir, HttpServer) {
    let folder = TempDir::new().expect("a folder");
    let flags = keys.flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let server = HttpServer::start(folder.path(), &flags);
    (folder, server)
}

/// Status, error and challenge of a request that is not let in.
async fn refused(client: &HttpClient) -> (StatusCode, String, String) {
    let response = client.clone().send("tools/call", call("return 1")).await;
    let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().expect("a text").to_owned());
    let answer = Answer::of(response).await;
    (answer.status, answer.last()["error_description"].as_str().unwrap_or_default().to_owned(), challenge.unwrap_or_default())
}

#[tokio::test]
async fn a_good_token_is_let_in_and_a_bad_one_is_told_why() {
    let keys = KeyServer::start().await;
    let (_folder, server) = start(&keys, &[]).await;
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
    // What everybody knows of the key, taken for a secret.
    let secret = EncodingKey::from_secret(keys.public_key().to_string().as_bytes());
    let symmetric = jsonwebtoken::encode(&Header { kid: Some("main".into()), ..Header::new(Algorithm::HS256) }, &claims, &secret);
    let mut parts = keys.token("user").split('.').map(str::to_owned).collect::<Vec<_>>();
    parts[1] = encoded(&keys.claims("admin"));
    for (token, reason) in [
        (none, "it is not a signed token"),
        ("x".into(), "it is not a signed token"),
        ("a.b.c".into(), "it is not a signed token"),
        (symmetric.expect("a token"), "its algorithm is not one for public keys"),
        (parts.join("."), "its signature is wrong"),
        (sign_with(&other, "main", &claims), "its signature is wrong"),
        (sign_with(&other, "other", &claims), "its key is not known"),
        (with("exp", json!(now() - 3600)), "it has expired"),
        (with("nbf", json!(now() + 3600)), "it is not valid yet"),
        (with("aud", json!("another")), "it is meant for another audience"),
        (with("iss", json!("https://another.example")), "it is of another issuer"),
        (with("iss", json!([keys.issuer, "https://another.example"])), "its claims can't be read"),
        (with("sub", json!("")), "its subject is empty or too long"),
        (with("sub", json!(7)), "it has no subject"),
        (with("exp", json!("never")), "it has no end"),
        (without("exp"), "it has no end"),
        (without("iss"), "it has no issuer"),
        (without("sub"), "it has no subject"),
        (without("aud"), "it has no audience"),
    ] {
        let (status, said, challenge) = refused(&client.clone().with_token(&token)).await;
        assert_eq!((status, said.as_str()), (StatusCode::UNAUTHORIZED, reason), "{token}");
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
async fn without_a_token_a_client_learns_where_to_get_one() {
    let keys = KeyServer::start().await;
    let (_folder, server) = start(&keys, &[]).await;
    let metadata = "http://127.0.0.1/.well-known/oauth-protected-resource/mcp";
    let expected = format!("Bearer resource_metadata=\"{metadata}\"");
    let client = server.client();
    for method in [Method::GET, Method::POST, Method::DELETE, Method::PUT] {
        let response = client.request(method.clone()).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{method}");
        assert_eq!(response.headers()["www-authenticate"], expected);
    }
    // A token is in its header and nowhere else.
    let token = keys.token("user");
    let in_the_query = HttpClient { url: format!("{}?access_token={token}", client.url), ..client.clone() };
    assert_eq!(refused(&in_the_query).await.0, StatusCode::UNAUTHORIZED);
    let twice = client.request(Method::POST).bearer_auth(&token).header("authorization", format!("Bearer {token}"));
    assert_eq!(twice.send().await.expect("an answer").status(), StatusCode::UNAUTHORIZED);
    let basic = client.request(Method::POST).header("authorization", format!("Basic {token}"));
    assert_eq!(basic.send().await.expect("an answer").status(), StatusCode::UNAUTHORIZED);

    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let found: Value =
            serde_json::from_str(&reqwest::get(server.url(path)).await.expect("an answer").text().await.expect("a text")).expect("JSON");
        let expected =
            json!({ "resource": "http://127.0.0.1/mcp", "authorization_servers": [keys.issuer], "bearer_methods_supported": ["header"] });
        assert_eq!(found, expected);
    }
    assert_eq!(reqwest::get(server.url("/healthz")).await.expect("an answer").status(), StatusCode::OK);
}

#[tokio::test]
async fn a_missing_scope_is_named() {
    let keys = KeyServer::start().await;
    let (_folder, server) = start(&keys, &["--auth-scope", "scripts:run files"]).await;
    let client = server.client();
    let with = |name: &str, value: Value| {
        let mut claims = keys.claims("user");
        claims[name] = value;
        client.clone().with_token(&keys.sign(&claims))
    };
    for mut good in [
        with("scope", json!("openid files scripts:run")),
        with("scp", json!(["files", "scripts:run"])),
        with("scope", json!(["files", "scripts:run"])),
        with("scp", json!("scripts:run files")),
    ] {
        assert_eq!(good.result("return 1").await, 1);
    }
    for bad in [client.clone().with_token(&keys.token("user")), with("scope", json!("files scripts:run2")), with("scp", json!(["files"]))] {
        let (status, _, challenge) = refused(&bad).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        let expected = "Bearer resource_metadata=\"http://127.0.0.1/.well-known/oauth-protected-resource/mcp\", scope=\"scripts:run files\", \
                        error=\"insufficient_scope\", error_description=\"the token does not allow this\"";
        assert_eq!(challenge, expected);
    }
}

#[tokio::test]
async fn a_key_is_bound_to_its_algorithm_and_use() {
    let keys = KeyServer::start().await;
    let (_folder, server) = start(&keys, &[]).await;
    let client = server.client();
    let (encryption, other_algorithm) = (key_pair(), key_pair());
    let mut for_encryption = public(&encryption, "encryption");
    for_encryption["use"] = json!("enc");
    let mut for_another = public(&other_algorithm, "another");
    for_another["alg"] = json!("ES384");
    let rsa = rsa::KeyPair::generate(rsa::KeySize::Rsa2048).expect("a key");
    let component = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let (modulus, exponent) = (rsa.public_key().modulus(), rsa.public_key().exponent());
    let rsa_public = json!({
        "kty": "RSA", "kid": "rsa",
        "n": component(modulus.big_endian_without_leading_zero()), "e": component(exponent.big_endian_without_leading_zero()),
    });
    let symmetric = json!({ "kty": "oct", "kid": "symmetric", "k": component(b"secret") });
    keys.set_keys(vec![json!({ "kty": "of another kind" }), for_encryption, for_another, rsa_public, symmetric]);

    let claims = keys.claims("user");
    for token in [
        sign_with(&encryption, "encryption", &claims),
        sign_with(&other_algorithm, "another", &claims),
        // An ES256 token that names the RSA key.
        sign_with(&encryption, "rsa", &claims),
    ] {
        assert_eq!(refused(&client.clone().with_token(&token)).await.1, "its key is not known");
    }
    let secret = EncodingKey::from_secret(b"secret");
    let header = Header { kid: Some("symmetric".into()), ..Header::new(Algorithm::HS256) };
    let symmetric = jsonwebtoken::encode(&header, &claims, &secret).expect("a token");
    assert_eq!(refused(&client.clone().with_token(&symmetric)).await.1, "its algorithm is not one for public keys");

    let encoded = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = |header: Value| {
        let text = format!("{}.{}", encoded(&header), encoded(&claims));
        let mut signature = vec![0; rsa.public_modulus_len()];
        rsa.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).expect("a signature");
        format!("{text}.{}", component(&signature))
    };
    assert_eq!(client.clone().with_token(&signed(json!({ "alg": "RS256", "kid": "rsa" }))).result("return 1").await, 1);
    // Without a name, the only key that is fit.
    assert_eq!(client.clone().with_token(&signed(json!({ "alg": "RS256" }))).result("return 1").await, 1);
    let critical = signed(json!({ "alg": "RS256", "kid": "rsa", "crit": ["exp"] }));
    assert_eq!(refused(&client.clone().with_token(&critical)).await.1, "it needs an extension that is not known here");
}

#[tokio::test]
async fn keys_are_fetched_once_for_all_and_not_for_every_unknown_name() {
    let keys = KeyServer::start().await;
    let (_folder, server) = start(&keys, &[]).await;
    let token = keys.token("user");
    assert_eq!(keys.asked(), 0);
    let first: Vec<_> = (0..20)
        .map(|_| {
            let mut client = server.client().with_token(&token);
            tokio::spawn(async move { client.result("return 1").await })
        })
        .collect();
    for run in first {
        assert_eq!(run.await.expect("a result"), 1);
    }
    assert_eq!(keys.asked(), 1);
    let stranger = key_pair();
    for number in 0..20 {
        let token = sign_with(&stranger, &format!("unknown {number}"), &keys.claims("user"));
        assert_eq!(refused(&server.client().with_token(&token)).await.1, "its key is not known");
    }
    // Nor for those who do not wait for the answer.
    for number in 0..20 {
        let token = sign_with(&stranger, &format!("unknown {number}"), &keys.claims("user"));
        let client = server.client().with_token(&token);
        let asking = tokio::spawn(async move { refused(&client).await });
        tokio::task::yield_now().await;
        asking.abort();
    }
    assert_eq!(keys.asked(), 1, "a moment after the first");
    assert_eq!(server.client().with_token(&token).result("return 2").await, 2);
}

#[tokio::test]
async fn a_new_key_is_found_and_an_old_one_forgotten() {
    let keys = KeyServer::start().await;
    let (_folder, server) = start(&keys, &[]).await;
    let old = server.client().with_token(&keys.token("user"));
    assert_eq!(old.clone().result("return 1").await, 1);
    let next = key_pair();
    keys.set_keys(vec![public(&next, "next")]);
    let mut new = server.client().with_token(&sign_with(&next, "next", &keys.claims("user")));
    // Not more often than every few seconds.
    let started = Instant::now();
    while new.send("tools/call", call("return 1")).await.status() == StatusCode::UNAUTHORIZED {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(new.result("return 2").await, 2);
    assert_eq!(refused(&old).await.1, "its key is not known");
    assert_eq!(keys.asked(), 2);
}

#[tokio::test]
async fn those_who_wait_for_keys_that_do_not_come_wait_once() {
    let keys = KeyServer::start().await;
    keys.set_silent(true);
    let (_folder, server) = start(&keys, &[]).await;
    let token = keys.token("user");
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let client = server.client().with_token(&token);
            tokio::spawn(async move { refused(&client).await.0 })
        })
        .collect();
    for refused in waiting {
        assert_eq!(refused.await.expect("an answer"), StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(keys.asked(), 1);
}

#[tokio::test]
async fn no_key_is_fetched_from_where_a_token_says() {
    let keys = KeyServer::start().await;
    let (_folder, server) = start(&keys, &[]).await;
    let evil = KeyServer::start().await;
    let stranger = key_pair();
    evil.set_keys(vec![public(&stranger, "evil")]);
    let place = format!("{}/keys", evil.issuer);
    let header = Header { kid: Some("evil".into()), jku: Some(place.clone()), x5u: Some(place), ..Header::new(Algorithm::ES256) };
    let token = jsonwebtoken::encode(&header, &keys.claims("user"), &stranger).expect("a token");
    assert_eq!(refused(&server.client().with_token(&token)).await.1, "its key is not known");
    // By its own issuer, too.
    let token = sign_with(&stranger, "evil", &evil.claims("user"));
    assert_eq!(refused(&server.client().with_token(&token)).await.1, "its key is not known");
    assert_eq!(evil.asked(), 0);
}

#[tokio::test]
async fn without_keys_nobody_is_let_in() {
    let keys = KeyServer::start().await;
    keys.set_broken(true);
    let (_folder, server) = start(&keys, &[]).await;
    let (status, said, _) = refused(&server.client().with_token(&keys.token("user"))).await;
    assert_eq!((status, said.as_str()), (StatusCode::SERVICE_UNAVAILABLE, "the authorization server's keys can't be had"));
    // A document of another issuer is not believed.
    let other = KeyServer::start().await;
    let flags = ["--auth-authority".to_owned(), format!("{}/other", other.issuer)];
    let folder = TempDir::new().expect("a folder");
    let server = HttpServer::start(folder.path(), &["--public-url", "http://127.0.0.1", &flags[0], &flags[1]]);
    assert_eq!(refused(&server.client().with_token(&other.token("user"))).await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(other.asked(), 0);
}
