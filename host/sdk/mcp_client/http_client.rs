//! The HTTP client of the MCP transport. It decodes compressed responses and limits the size of every message after decoding.
//!
//! rmcp has a client too, which reads a JSON response of any size. A response that is too large or that can't be decoded becomes the error
//! of its request, so that the call ends at once and the connection stays in use.

use super::oversized_messages::TOO_LARGE;
use crate::sdk::egress::{public_message, unknown_encoding};
use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
};
use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, ErrorCode, RequestId, ServerJsonRpcMessage},
    transport::{
        common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE},
        streamable_http_client::{HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse},
    },
};
use sse_stream::{Sse, SseStream};
use std::{collections::HashMap, sync::Arc};

/// The code of the error for a response that can't be decoded. Servers do not use it, as for [`TOO_LARGE`].
const NOT_DECODED: ErrorCode = ErrorCode(-32_098);

/// The length of a `retry-after` header that is kept.
const MAX_RETRY_AFTER: usize = 128;

type Error = StreamableHttpError<reqwest::Error>;

/// A client whose messages have at most `max_message` bytes.
#[derive(Clone)]
pub struct HttpClient {
    client: Client,
    max_message: usize,
}

/// The reason why a response can't be used.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("the message is too large")]
    TooLarge,
    #[error(transparent)]
    Client(#[from] reqwest::Error),
}

impl HttpClient {
    pub fn new(client: Client, max_message: usize) -> Self {
        Self { client, max_message }
    }

    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let body = serde_json::to_vec(message)?;
        let request = self.client.post(uri).headers(request_headers(headers, session)?).body(body);
        let response = request.send().await.map_err(StreamableHttpError::Client)?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let is_success = status.is_success();
        let ClientJsonRpcMessage::Request(request) = message else {
            // Nothing answers a notification.
            return if is_success { Ok(StreamableHttpPostResponse::Accepted) } else { Err(status_error(&response)) };
        };
        let id = &request.id;
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let content_type = response.headers().get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let has_type = |name: &str| content_type.as_deref().is_some_and(|content_type| content_type.starts_with(name));
        let session = response.headers().get(HEADER_SESSION_ID).and_then(|value| value.to_str().ok()).map(str::to_owned);
        if let Some(encoding) = unknown_encoding(response.headers()).filter(|_| is_success) {
            let message = format!("the response has the content encoding '{encoding}', which is not supported");
            return Ok(StreamableHttpPostResponse::Json(error_response(id, NOT_DECODED, message), session));
        }
        if has_type(JSON_MIME_TYPE) {
            return match self.read_json(response, id).await? {
                Some(message) if is_success || matches!(message, ServerJsonRpcMessage::Error(_)) => {
                    Ok(StreamableHttpPostResponse::Json(message, session))
                }
                _ if is_success => Err(StreamableHttpError::UnexpectedServerResponse("the JSON is not an MCP message".into())),
                _ => Err(StreamableHttpError::UnexpectedServerResponse(format!("HTTP {status}").into())),
            };
        }
        if !is_success {
            return Err(status_error(&response));
        }
        if has_type(EVENT_STREAM_MIME_TYPE) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response, id.clone()), session));
        }
        Err(StreamableHttpError::UnexpectedContentType(content_type))
    }

    /// Reads a message. Returns `None` if the body is not one.
    async fn read_json(&self, mut response: Response, id: &RequestId) -> Result<Option<ServerJsonRpcMessage>, Error> {
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > self.max_message => return Ok(answer(&Fault::TooLarge, id)),
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(serde_json::from_slice(&body).ok()),
                Err(error) => {
                    let fault = Fault::Client(error);
                    return match (answer(&fault, id), fault) {
                        (None, Fault::Client(error)) => Err(StreamableHttpError::Client(error)),
                        (answer, _) => Ok(answer),
                    };
                }
            }
        }
    }

    /// Returns the events of a stream. An event that is too large or can't be decoded is replaced by an error response, the last event.
    fn events(&self, response: Response, id: RequestId) -> BoxStream<'static, Result<Sse, SseError>> {
        let chunks = stream::try_unfold((response, EventSize::new(self.max_message)), |(mut response, mut size)| async move {
            let Some(chunk) = response.chunk().await? else { return Ok(None) };
            if size.add(&chunk) { Ok(Some((chunk, (response, size)))) } else { Err(Fault::TooLarge) }
        });
        let replace = move |error: SseError| match &error {
            SseError::Body(fault) => {
                let message =
                    fault.downcast_ref().and_then(|fault| answer(fault, &id)).and_then(|message| serde_json::to_string(&message).ok());
                message.map(|message| Sse::default().data(message)).ok_or(error)
            }
            _ => Err(error),
        };
        SseStream::from_bytes_stream(Box::pin(chunks)).map(move |event| event.or_else(&replace)).boxed()
    }
}

/// Returns the headers of a request. The transport sets some of them itself.
fn request_headers(custom: HashMap<HeaderName, HeaderValue>, session: Option<&str>) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    for (name, value) in custom {
        if [ACCEPT.as_str(), HEADER_SESSION_ID, HEADER_LAST_EVENT_ID].iter().any(|own| name.as_str().eq_ignore_ascii_case(own)) {
            return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
        }
        headers.insert(name, value);
    }
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON_MIME_TYPE));
    if let Some(session) = session {
        let value = HeaderValue::from_str(session);
        let value = value.map_err(|_| StreamableHttpError::UnexpectedServerResponse("invalid session id".into()))?;
        headers.insert(HeaderName::from_static("mcp-session-id"), value);
    }
    Ok(headers)
}

/// Returns the error for a response without a message.
fn status_error(response: &Response) -> Error {
    let status = response.status();
    if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() {
        return StreamableHttpError::UnexpectedServerResponse(format!("HTTP {status}").into());
    }
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = retry_after.filter(|text| text.len() <= MAX_RETRY_AFTER).map(str::to_owned);
    HttpStatusError::new(status.as_u16(), retry_after).into()
}

fn error_response(id: &RequestId, code: ErrorCode, message: String) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::new(code, message, None), Some(id.clone()))
}

/// Returns the response to a request whose real response can't be used. Returns `None` if the connection failed.
fn answer(fault: &Fault, id: &RequestId) -> Option<ServerJsonRpcMessage> {
    match fault {
        Fault::TooLarge => Some(error_response(id, TOO_LARGE, fault.to_string())),
        Fault::Client(error) if error.is_decode() => Some(error_response(id, NOT_DECODED, public_message(error))),
        Fault::Client(_) => None,
    }
}

/// Returns the reason why a response of a server can't be decoded, if the error is about that.
pub fn undecoded_reason(error: &ErrorData) -> Option<String> {
    let message = (error.code == NOT_DECODED).then_some(&error.message)?;
    Some(message.strip_prefix("the server ").map_or_else(|| message.to_string(), |reason| format!("it {reason}")))
}

/// Counts the bytes of the current event of a stream. An empty line ends an event.
struct EventSize {
    max: usize,
    event: usize,
    line: usize,
    previous: u8,
}

impl EventSize {
    fn new(max: usize) -> Self {
        Self { max, event: 0, line: 0, previous: 0 }
    }

    /// Adds a part of the stream. Returns `false` if an event is too large.
    fn add(&mut self, part: &[u8]) -> bool {
        for byte in part {
            match (byte, self.previous) {
                // The second half of a line break.
                (b'\n', b'\r') => {}
                (b'\n' | b'\r', _) => {
                    self.event = if self.line == 0 { 0 } else { self.event + self.line };
                    self.line = 0;
                }
                _ => self.line += 1,
            }
            if self.event + self.line > self.max {
                return false;
            }
            self.previous = *byte;
        }
        true
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.post(&uri, &message, session_id.as_deref(), custom_headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let max = self.max_message;
        self.client.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, max).await
    }
}

#[cfg(test)]
mod tests {
    use super::EventSize;

    #[test]
    fn an_event_ends_with_an_empty_line_of_any_kind() {
        for text in ["data: 12\n\n", "data: 12\r\n\r\n", "data: 12\r\r", ":c\ndata:1\n\n"] {
            assert!(EventSize::new(9).add(text.repeat(100).as_bytes()), "{text:?}");
            let mut size = EventSize::new(9);
            assert!(text.repeat(100).bytes().all(|byte| size.add(&[byte])), "{text:?}");
        }
        for text in ["data: 1234", "data:1\ndata:2\n\n", "data:1\r\ndata:2"] {
            assert!(!EventSize::new(9).add(text.as_bytes()), "{text:?}");
        }
    }
}
