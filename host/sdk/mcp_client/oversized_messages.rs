//! Answers oversized responses of a server. rmcp skips a line that is too long, so its call would wait until the run ends.
//!
//! The reader passes all bytes on. After an oversized line it inserts an error response for the same request.

use rmcp::model::ErrorCode;
use serde::{
    Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, json};
use std::{
    fmt, io,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncBufRead as _, AsyncRead, BufReader, ReadBuf};

/// The code of the inserted error. Servers do not use it, because the range is reserved for implementations.
pub const TOO_LARGE: ErrorCode = ErrorCode(-32_099);

/// The number of bytes at the start and the end of a line that are searched for the id of the request.
const SEARCHED: usize = 512;

/// A line of this many times the limit ends the connection, because its end may never come.
const MAX_FACTOR: usize = 8;

/// A reader of lines with JSON-RPC messages.
pub struct OversizedMessages<R> {
    input: BufReader<R>,
    line: Line,
    /// Bytes that are returned before the next line.
    inserted: Vec<u8>,
}

/// The current line.
struct Line {
    max_length: usize,
    /// The length of the current line so far, with its line break.
    length: usize,
    start: Vec<u8>,
    end: Vec<u8>,
}

impl<R: AsyncRead> OversizedMessages<R> {
    /// Creates a reader. `max_length` is the limit of the code that reads lines from it.
    pub fn new(input: R, max_length: usize) -> Self {
        let line = Line { max_length, length: 0, start: Vec::new(), end: Vec::new() };
        Self { input: BufReader::new(input), line, inserted: Vec::new() }
    }
}

impl Line {
    /// Records a part of the line. At the end of an oversized line, returns the error response.
    fn observe(&mut self, part: &[u8]) -> io::Result<Vec<u8>> {
        self.length = self.length.saturating_add(part.len());
        self.start.extend(part.iter().take(SEARCHED - self.start.len()));
        self.end.extend_from_slice(&part[part.len().saturating_sub(SEARCHED)..]);
        self.end.drain(..self.end.len().saturating_sub(SEARCHED));
        let is_oversized = self.length > self.max_length;
        if part.last() != Some(&b'\n') {
            let is_endless = is_oversized && self.length / MAX_FACTOR > self.max_length;
            return if is_endless { Err(io::Error::other("a message is too long")) } else { Ok(Vec::new()) };
        }
        let mut response = Vec::new();
        if is_oversized {
            match answered_request(&self.start, &self.end) {
                Answer::To(id) => {
                    let error = json!({ "code": TOO_LARGE.0, "message": "the message is too large" });
                    response = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes();
                    response.push(b'\n');
                }
                Answer::None => {}
                // Without the id, the call can only end with the connection.
                Answer::Unknown => return Err(io::Error::other("a message is too long, and its id is unknown")),
            }
        }
        self.length = 0;
        self.start.clear();
        self.end.clear();
        Ok(response)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for OversizedMessages<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.inserted.is_empty() {
            let count = this.inserted.len().min(buffer.remaining());
            buffer.put_slice(&this.inserted[..count]);
            this.inserted.drain(..count);
            return Poll::Ready(Ok(()));
        }
        let available = ready!(Pin::new(&mut this.input).poll_fill_buf(context))?;
        let available = &available[..available.len().min(buffer.remaining())];
        let count = memchr::memchr(b'\n', available).map_or(available.len(), |end| end + 1);
        let part = &available[..count];
        // Before anything is returned, because a read that fails must return no bytes. The end of the input is an empty part.
        if !part.is_empty() {
            this.inserted = this.line.observe(part)?;
        }
        buffer.put_slice(part);
        Pin::new(&mut this.input).consume(count);
        Poll::Ready(Ok(()))
    }
}

/// The request that a message answers.
#[derive(Debug, PartialEq)]
enum Answer {
    To(Value),
    /// The message is a request or a notification.
    None,
    Unknown,
}

/// Finds the id of the request that a message answers, from the start and the end of the message. The id is before or after the result.
fn answered_request(start: &[u8], end: &[u8]) -> Answer {
    let mut message = Message::default();
    let mut decoder = serde_json::Deserializer::from_slice(start);
    // The start of a message is not valid JSON. The members before the result are read anyway.
    let _ = decoder.deserialize_map(&mut message);
    if message.has_method {
        return Answer::None;
    }
    if let Some(id) = message.id {
        return Answer::To(id);
    }
    let key = b"\"id\"";
    for (position, _) in end.windows(key.len()).enumerate().filter(|(_, window)| window == key) {
        let members = [b"{", &end[position..]].concat();
        let mut message = Message::default();
        let mut decoder = serde_json::Deserializer::from_slice(&members);
        // Members of an inner object are followed by more braces.
        if decoder.deserialize_map(&mut message).is_ok() && decoder.end().is_ok() {
            return message.id.map_or(Answer::Unknown, Answer::To);
        }
    }
    Answer::Unknown
}

/// The members of a message that are read so far.
#[derive(Default)]
struct Message {
    id: Option<Value>,
    has_method: bool,
}

impl<'de> Visitor<'de> for &mut Message {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<String>()? {
            match key.as_str() {
                "id" => self.id = Some(members.next_value::<Value>()?).filter(|id| id.is_string() || id.is_number()),
                _ => {
                    self.has_method |= key == "method";
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, OversizedMessages, answered_request};
    use serde_json::json;
    use tokio::io::AsyncReadExt as _;

    async fn read(input: &[u8]) -> std::io::Result<String> {
        let mut text = String::new();
        OversizedMessages::new(input, 60).read_to_string(&mut text).await.map(|_| text)
    }

    #[tokio::test]
    async fn an_error_follows_an_oversized_response() {
        let large = "x".repeat(60);
        let error = r#""error":{"code":-32099,"message":"the message is too large"}"#;
        for (line, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"id":3,"text":"{large}"}}}}"#), "7"),
            (format!(r#"{{"result":{{"text":"{large}","id":3}},"jsonrpc":"2.0","id":"a"}}"#), "\"a\""),
            (format!(r#"{{"result":{{"text":"{large}"}},"id":8,"jsonrpc":"2.0"}}"#), "8"),
        ] {
            let expected = format!("{line}\n{{{error},\"id\":{id},\"jsonrpc\":\"2.0\"}}\n{{}}\n");
            assert_eq!(read(format!("{line}\n{{}}\n").as_bytes()).await.unwrap(), expected);
        }
        // A notification needs no answer, and neither does a short line.
        for line in [format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{large}"}}"#), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into()] {
            assert_eq!(read(format!("{line}\n").as_bytes()).await.unwrap(), format!("{line}\n"));
        }
    }

    #[tokio::test]
    async fn a_line_without_an_end_or_an_id_ends_the_connection() {
        assert_eq!(read("x".repeat(1000).as_bytes()).await.unwrap_err().to_string(), "a message is too long");
        let unknown = format!("{}\n", "x".repeat(100));
        assert_eq!(read(unknown.as_bytes()).await.unwrap_err().to_string(), "a message is too long, and its id is unknown");
    }

    #[test]
    fn an_id_inside_of_the_result_is_not_that_of_the_request() {
        assert_eq!(answered_request(br#"{"result":{"id":1,"te"#, br#"xt":"","id":2}}"#), Answer::Unknown);
        assert_eq!(answered_request(br#"{"result":[{"id":1,"te"#, br#"xt":""}],"id":2} "#), Answer::To(json!(2)));
        assert_eq!(answered_request(br#"{"id":null,"result":"#, b"}"), Answer::Unknown);
    }
}
