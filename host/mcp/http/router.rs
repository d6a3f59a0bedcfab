//! The paths of the server, and the checks that each request passes.

use super::{
    guarded_body::GuardedBody,
    host_check::HostCheck,
    offload::{self, Offload, OffloadedBody},
    rejection_log::RejectionLog,
    request_body::BodyReader,
    tenant_services::{TenantService, TenantServices},
};
use crate::mcp::{
    auth::{AuthSettings, Authenticator, Rejection, Subject},
    error::chain,
    large_response::LargeResponse,
    metrics,
    state::ServerState,
    urls::join_path,
};
use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, COOKIE, RETRY_AFTER, WWW_AUTHENTICATE},
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
use tokio::{runtime::Handle, sync::OwnedSemaphorePermit};

/// The path of the OAuth metadata. With `/mcp` appended, it is the path that RFC 9728 defines for a resource at `/mcp`.
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// The size of a request in bytes from which other clients must not wait until it is parsed and checked.
const LARGE_REQUEST: usize = 16 << 10;

/// The reason for a client without a token.
const TOKEN_REQUIRED: &str = "a bearer token is required";

/// The response to a request that the server failed to handle. It contains no details, because they may be secret.
const FAILED: &str = "the server failed; the cause is in its log";

/// The state of the router.
pub struct HttpState {
    pub state: Arc<ServerState>,
    pub host_check: HostCheck,
    pub body_reader: BodyReader,
    pub access: Access,
    pub rejections: RejectionLog,
}

/// The clients that the server accepts.
pub enum Access {
    /// All clients, as one tenant.
    Anonymous(Arc<TenantService>),
    /// Clients with a token. Each subject is a tenant.
    Authenticated(Box<Authenticated>),
}

/// The authentication and the tenants of a server.
pub struct Authenticated {
    pub authenticator: Authenticator,
    pub services: Arc<TenantServices>,
}

/// Returns the router with all paths.
pub fn router(state: Arc<HttpState>) -> Router {
    Router::new()
        .route("/mcp", any(handle_mcp))
        .route("/healthz", get(handle_health))
        .route("/metrics", get(handle_metrics))
        .route(METADATA_PATH, get(handle_metadata))
        .route(&format!("{METADATA_PATH}/mcp"), get(handle_metadata))
        .layer(middleware::from_fn_with_state(Arc::clone(&state), check_host))
        .with_state(state)
}

async fn check_host(State(http): State<Arc<HttpState>>, request: Request, next: Next) -> Response {
    match http.host_check.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(reason) => {
            http.state.metrics.count_rejected("host");
            http.rejections.add(StatusCode::FORBIDDEN, reason);
            (StatusCode::FORBIDDEN, reason).into_response()
        }
    }
}

async fn handle_health() -> &'static str {
    "ok\n"
}

async fn handle_metrics(State(http): State<Arc<HttpState>>) -> Response {
    let state = &http.state;
    ([(CONTENT_TYPE, metrics::MEDIA_TYPE)], state.metrics.encode(&state.engine, state.active_runs.len())).into_response()
}

/// Returns the OAuth metadata, which contains the authorization server.
async fn handle_metadata(State(http): State<Arc<HttpState>>) -> Response {
    let Access::Authenticated(authenticated) = &http.access else { return StatusCode::NOT_FOUND.into_response() };
    let AuthSettings { options, public_url, .. } = authenticated.authenticator.settings();
    let mut metadata = json!({
        "resource": join_path(public_url, "/mcp"),
        "authorization_servers": [options.authority_name()],
        "bearer_methods_supported": ["header"],
    });
    if !options.scopes().is_empty() {
        metadata["scopes_supported"] = json!(options.scopes());
    }
    Json(metadata).into_response()
}

async fn handle_mcp(State(http): State<Arc<HttpState>>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    let (tenant, token_expires) = match find_tenant(&http, &head.headers).await {
        Ok(found) => found,
        Err(response) => return *response,
    };
    let Ok(permit) = Arc::clone(&tenant.requests).try_acquire_owned() else {
        let reason = "too many requests at the same time";
        http.state.metrics.count_rejected("requests");
        http.rejections.add(StatusCode::TOO_MANY_REQUESTS, reason);
        return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "1")], reason).into_response();
    };
    // Credentials for this server are not passed on.
    head.headers.remove(AUTHORIZATION);
    head.headers.remove(COOKIE);
    let body = match http.body_reader.read(body, &tenant.large_bodies).await {
        Ok(body) => body,
        Err((status, reason)) => {
            http.state.metrics.count_rejected("body");
            http.rejections.add(status, reason);
            return (status, reason).into_response();
        }
    };
    let method = head.method.clone();
    let is_notification_stream = method == Method::GET && !head.headers.contains_key("last-event-id");
    let session = tenant.session(&head.headers);
    if method == Method::DELETE && session.is_none() {
        return (StatusCode::NOT_FOUND, "unknown session").into_response();
    }
    if method == Method::GET && !tenant.can_resume(&head.headers) {
        // Clients end a request on this status. After an empty stream, they would resume for ever.
        let reason = "there is nothing to resume: the response was received, or the request was cancelled or has ended long ago";
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST, DELETE")], reason).into_response();
    }
    let is_json = head.headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    let large = LargeResponse::default();
    // A client that resumes a stream may receive a large response that is ready.
    if body.len() >= LARGE_REQUEST || (method == Method::GET && !is_notification_stream) {
        large.announce();
    }
    head.extensions.insert(large.clone());
    let runtime = http.state.script_runtime.clone().unwrap_or_else(Handle::current);
    let offload = Offload::new(runtime, Arc::clone(&tenant.response_slots));
    let (service, request) = (Arc::clone(&tenant), Request::from_parts(head, Full::new(body.clone())));
    let response = match offload::run(async move { service.service.handle(request).await }, &large, &offload).await {
        Ok(response) => response.map(Body::new),
        Err(error) => {
            tracing::error!(%error, "a request failed");
            return (StatusCode::INTERNAL_SERVER_ERROR, FAILED).into_response();
        }
    };
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
        return invalid_message(&body);
    }
    if method == Method::DELETE
        && response.status() == StatusCode::ACCEPTED
        && let Some(session) = &session
    {
        tenant.end_session(session);
        // Some clients treat 202 as a failure.
        return StatusCode::NO_CONTENT.into_response();
    }
    let response = response.map(|body| Body::new(OffloadedBody::new(body, large, offload)));
    guard_response(response, permit, stream_end(Arc::clone(&http.state), is_notification_stream, token_expires))
}

/// Returns the service of the client's tenant, and the time when its token expires.
async fn find_tenant(http: &HttpState, headers: &HeaderMap) -> Result<(Arc<TenantService>, Option<SystemTime>), Box<Response>> {
    let authenticated = match &http.access {
        Access::Anonymous(service) => return Ok((Arc::clone(service), None)),
        Access::Authenticated(authenticated) => authenticated,
    };
    let Subject { name, expires } = authenticated.authenticator.authenticate(headers).await.map_err(|rejection| {
        http.state.metrics.count_rejected("token");
        http.rejections.add(rejection.status(), rejection.error().map_or(TOKEN_REQUIRED, |(_, description)| description));
        unauthorized(&rejection, authenticated.authenticator.settings())
    })?;
    match authenticated.services.get(&name).await {
        Ok(Some(service)) => Ok((service, Some(expires))),
        Ok(None) => {
            let reason = "too many users at the same time";
            http.state.metrics.count_rejected("tenants");
            http.rejections.add(StatusCode::SERVICE_UNAVAILABLE, reason);
            Err(Box::new((StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "60")], reason).into_response()))
        }
        Err(error) => {
            tracing::error!("can't serve a tenant: {}", chain(&error));
            Err(Box::new((StatusCode::INTERNAL_SERVER_ERROR, FAILED).into_response()))
        }
    }
}

/// Returns the response to a client without a valid token. Its challenge contains the URL of the metadata.
fn unauthorized(rejection: &Rejection, settings: &AuthSettings) -> Box<Response> {
    let mut challenge = format!("Bearer resource_metadata=\"{}\"", join_path(&settings.public_url, &format!("{METADATA_PATH}/mcp")));
    let scopes = settings.options.scopes().join(" ");
    if !scopes.is_empty() {
        challenge.push_str(&format!(", scope=\"{scopes}\""));
    }
    let body = match rejection.error() {
        None => json!({ "error": "unauthorized", "error_description": TOKEN_REQUIRED }),
        Some((error, description)) => {
            challenge.push_str(&format!(", error=\"{error}\", error_description=\"{description}\""));
            json!({ "error": error, "error_description": description })
        }
    };
    let mut response = (rejection.status(), Json(body)).into_response();
    if *rejection == Rejection::Unavailable {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
    } else if let Ok(challenge) = challenge.parse() {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    Box::new(response)
}

/// Returns the JSON-RPC error for a body that is not a message.
fn invalid_message(body: &Bytes) -> Response {
    let (code, message) = match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
        Err(_) => (-32700, "Parse error: the body is not JSON"),
        Ok(_) if body.trim_ascii_start().starts_with(b"[") => (-32600, "Invalid Request: batches are not supported"),
        Ok(_) => (-32600, "Invalid Request: the body is not a JSON-RPC message, or is nested too deep"),
    };
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

fn is_event_stream(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream")
}

/// Holds the permit of the request until the response is sent. An event stream ends at `stream_end`, so that it does not outlive the
/// token that authorized it.
fn guard_response(response: Response, permit: OwnedSemaphorePermit, stream_end: impl Future<Output = ()> + Send + 'static) -> Response {
    if !is_event_stream(&response) {
        return response.map(|body| Body::new(GuardedBody::new(body, permit)));
    }
    response.map(|body| {
        let events = Body::from_stream(body.into_data_stream().take_until(Box::pin(stream_end)));
        Body::new(GuardedBody::new(events, permit))
    })
}

/// Waits for the end of an event stream: the expiry of its token, or the drain of the server if the stream has only notifications.
async fn stream_end(state: Arc<ServerState>, ends_at_drain: bool, token_expires: Option<SystemTime>) {
    tokio::select! {
        () = state.drain.cancelled(), if ends_at_drain => {}
        () = sleep_until_expired(token_expires, state.limits.timeout) => {}
    }
}

/// Waits until a token has expired and a run that started before has timed out. Never ends without a token.
async fn sleep_until_expired(expires: Option<SystemTime>, run_timeout: Duration) {
    match expires {
        None => std::future::pending().await,
        Some(expires) => tokio::time::sleep(expires.duration_since(SystemTime::now()).unwrap_or_default() + run_timeout).await,
    }
}
