//! The paths of the server.

use super::{
    body::Bodies,
    guard::Guard,
    held::Held,
    tenants::{Place, Tenants},
};
use crate::mcp::{
    address::below,
    auth::{Authenticator, Rejection, Subject},
    metrics,
    tenant::Settings,
};
use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{any, get},
};
use futures_util::StreamExt as _;
use http_body_util::Full;
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::sync::OwnedSemaphorePermit;
use url::Url;

/// Where the metadata for a client without a token are, below the public address: as RFC 9728 has it for the path `/mcp`.
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// What all paths work with.
pub struct Site {
    pub settings: Arc<Settings>,
    pub guard: Guard,
    pub bodies: Bodies,
    pub door: Door,
}

/// Who is let in.
pub enum Door {
    /// Everybody, as one tenant.
    Open(Arc<Place>),
    /// Those with a token, each a tenant of their own.
    Guarded(Box<Guarded>),
}

/// What it takes to tell tenants apart.
pub struct Guarded {
    pub authenticator: Authenticator,
    pub tenants: Arc<Tenants>,
    pub public_url: Url,
}

/// All paths.
pub fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route("/mcp", any(mcp))
        .route("/healthz", get(health))
        .route("/metrics", get(measures))
        .route(METADATA, get(metadata))
        .route(&format!("{METADATA}/mcp"), get(metadata))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), check_host))
        .with_state(site)
}

async fn check_host(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    match site.guard.refuses(request.uri(), request.headers()) {
        Some(reason) => {
            site.settings.metrics.refused("host");
            (StatusCode::FORBIDDEN, reason).into_response()
        }
        None => next.run(request).await,
    }
}

async fn health() -> &'static str {
    "ok\n"
}

async fn measures(State(site): State<Arc<Site>>) -> Response {
    ([(CONTENT_TYPE, metrics::MEDIA_TYPE)], site.settings.metrics.text(&site.settings.engine, site.settings.runs.len())).into_response()
}

/// Where a client gets a token from.
async fn metadata(State(site): State<Arc<Site>>) -> Response {
    let Door::Guarded(guarded) = &site.door else { return StatusCode::NOT_FOUND.into_response() };
    let Guarded { authenticator, public_url, .. } = &**guarded;
    let mut metadata = json!({
        "resource": below(public_url, "/mcp"),
        "authorization_servers": [authenticator.settings().name],
        "bearer_methods_supported": ["header"],
    });
    if !authenticator.settings().scopes.is_empty() {
        metadata["scopes_supported"] = json!(authenticator.settings().scopes);
    }
    Json(metadata).into_response()
}

async fn mcp(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    let (place, until) = match enter(&site, &head.headers).await {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    let Ok(permit) = Arc::clone(&place.requests).try_acquire_owned() else {
        site.settings.metrics.refused("requests");
        return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "1")], "too many requests at once").into_response();
    };
    // What is for this server alone goes no further.
    head.headers.remove(AUTHORIZATION);
    head.headers.remove(COOKIE);
    let body = match site.bodies.take(body, &place.large_bodies).await {
        Ok(body) => body,
        Err((status, reason)) => {
            site.settings.metrics.refused("body");
            return (status, reason).into_response();
        }
    };
    let method = head.method.clone();
    let waits_for_news = method == Method::GET && !head.headers.contains_key("last-event-id");
    if method == Method::DELETE && !place.has_session(&head.headers) {
        return (StatusCode::NOT_FOUND, "there is no such session").into_response();
    }
    let is_json = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let response = place.service.handle(Request::from_parts(head, Full::new(body.clone()))).await;
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
        return no_message(&body);
    }
    if method == Method::DELETE && response.status() == StatusCode::ACCEPTED {
        // It is done, and some clients take "accepted" for a failure.
        return StatusCode::NO_CONTENT.into_response();
    }
    hold(response.map(Body::new), permit, &site, waits_for_news, until)
}

/// The place of whoever asks, and when their token ends.
async fn enter(site: &Site, headers: &HeaderMap) -> Result<(Arc<Place>, Option<SystemTime>), Box<Response>> {
    match &site.door {
        Door::Open(place) => Ok((Arc::clone(place), None)),
        Door::Guarded(guarded) => {
            let Subject { name, until } = guarded.authenticator.check(headers).await.map_err(|rejection| {
                site.settings.metrics.refused("token");
                challenge(&rejection, guarded)
            })?;
            match guarded.tenants.place(&name).await {
                Ok(Some(place)) => Ok((place, Some(until))),
                Ok(None) => {
                    site.settings.metrics.refused("tenants");
                    Err(Box::new((StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "60")], "too many users at once").into_response()))
                }
                Err(error) => {
                    tracing::error!("a tenant can't be served: {error:#}");
                    let text = "the server failed; the cause is in its log";
                    Err(Box::new((StatusCode::INTERNAL_SERVER_ERROR, text).into_response()))
                }
            }
        }
    }
}

/// What a client without a good token is told, and where it gets one.
fn challenge(rejection: &Rejection, Guarded { authenticator, public_url, .. }: &Guarded) -> Box<Response> {
    let mut value = format!("Bearer resource_metadata=\"{}\"", below(public_url, &format!("{METADATA}/mcp")));
    let scopes = authenticator.settings().scopes.join(" ");
    if !scopes.is_empty() {
        value.push_str(&format!(", scope=\"{scopes}\""));
    }
    let body = match rejection.error() {
        None => json!({ "error": "unauthorized", "error_description": "a bearer token is needed" }),
        Some((error, description)) => {
            value.push_str(&format!(", error=\"{error}\", error_description=\"{description}\""));
            json!({ "error": error, "error_description": description })
        }
    };
    let mut response = (rejection.status(), Json(body)).into_response();
    if *rejection == Rejection::Unavailable {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
    } else if let Ok(value) = value.parse() {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    Box::new(response)
}

/// A body that is not a message, in the words of JSON-RPC.
fn no_message(body: &Bytes) -> Response {
    let (code, message) = match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
        Err(_) => (-32700, "Parse error: the body is not JSON"),
        Ok(_) if body.trim_ascii_start().starts_with(b"[") => (-32600, "Invalid Request: batches are not supported"),
        Ok(_) => (-32600, "Invalid Request: the body is no JSON-RPC message, or is nested too deep"),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    (StatusCode::BAD_REQUEST, Json(answer)).into_response()
}

/// An answer counts as a request until it is sent; and one that is a stream lasts no longer than the token by which it was given and
/// a run that it may be the answer to. What only waits for news ends when the server drains.
fn hold(response: Response, permit: OwnedSemaphorePermit, site: &Site, waits_for_news: bool, until: Option<SystemTime>) -> Response {
    if response.headers().get(CONTENT_TYPE).is_none_or(|kind| kind != "text/event-stream") {
        return response.map(|body| Body::new(Held::new(body, permit)));
    }
    let end = end_of(until, site.settings.limits.timeout);
    let draining = site.settings.draining.clone();
    let ended = async move {
        tokio::select! {
            () = draining.cancelled(), if waits_for_news => {}
            () = end => {}
        }
    };
    response.map(|body| {
        let events = Body::from_stream(body.into_data_stream().take_until(Box::pin(ended)));
        Body::new(Held::new(events, permit))
    })
}

async fn end_of(until: Option<SystemTime>, longest: Duration) {
    match until {
        None => std::future::pending().await,
        Some(until) => tokio::time::sleep(until.duration_since(SystemTime::now()).unwrap_or_default() + longest).await,
    }
}
