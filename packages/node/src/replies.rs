//! The answers of JavaScript to function calls.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};
use tokio::sync::oneshot::{Receiver, Sender, channel};
use toolscript::functions::{Attachment, FunctionError, FunctionResponse, FunctionValue, JsonValue};

type Reply = Result<FunctionResponse, FunctionError>;

/// The calls that wait for an answer.
#[derive(Default)]
pub struct Replies {
    next: AtomicU32,
    waiting: Mutex<HashMap<u32, Sender<Reply>>>,
}

/// A call that waits for its answer. Dropping it ends the wait.
pub struct WaitingCall<'a> {
    replies: &'a Replies,
    pub number: u32,
    pub reply: Receiver<Reply>,
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.replies.waiting().remove(&self.number);
    }
}

impl Replies {
    /// Registers a call.
    pub fn wait(&self) -> WaitingCall<'_> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = channel();
        self.waiting().insert(number, sender);
        WaitingCall { replies: self, number, reply }
    }

    /// Answers a call. Does nothing if its run has ended.
    pub fn resolve(&self, number: u32, text: &str, buffers: Vec<Vec<u8>>) {
        let sender = self.waiting().remove(&number);
        if let Some(sender) = sender {
            let _ = sender.send(decode(text, buffers));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u32, Sender<Reply>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer. The buffers are in the order of the pointers. A value that is bytes itself has one pointer, which is empty.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EncodedReply {
    /// The return value, or the body of an error.
    value: Option<Box<RawValue>>,
    #[serde(default)]
    pointers: Vec<String>,
    /// The message of an error.
    message: Option<String>,
    status: Option<u16>,
    headers: Option<BTreeMap<String, String>>,
    retry_after: Option<f64>,
}

fn decode(text: &str, mut buffers: Vec<Vec<u8>>) -> Reply {
    let invalid = |error: serde_json::Error| FunctionError::from(format!("the return value can't be passed to the script: {error}"));
    let EncodedReply { value, pointers, message, status, headers, retry_after } = serde_json::from_str(text).map_err(invalid)?;
    let value: Option<FunctionValue> = if pointers.first().is_some_and(String::is_empty) && buffers.len() == 1 {
        Some(buffers.remove(0).into())
    } else {
        let attachments = pointers.into_iter().zip(buffers).map(|(pointer, bytes)| Attachment { pointer, bytes }).collect();
        value.map(|value| JsonValue::from(value).with_attachments(attachments).into())
    };
    let Some(message) = message else {
        return Ok(FunctionResponse::new(value.unwrap_or_else(|| RawValue::NULL.to_owned().into())));
    };
    let mut failure = FunctionError::from(message);
    failure.status = status;
    failure.retry_after = retry_after;
    failure.headers = headers.unwrap_or_default();
    failure.body = value.map(Box::new);
    Err(failure)
}
