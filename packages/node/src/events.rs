//! Events that are passed to JavaScript: log lines, progress, function calls, and the ends of operations.

use crate::{errors::Failure, replies::Replies};
use napi::{
    Status,
    bindgen_prelude::{Buffer, FnArgs, Function},
    threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue},
};
use napi_derive::napi;
use serde::Serialize;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use toolscript::CancellationToken;

/// The kind of an event. `lib/bridge.ts` has the same numbers.
#[derive(Clone, Copy)]
pub enum EventKind {
    Done = 0,
    Print = 1,
    Progress = 2,
    Call = 3,
}

/// The text of an event.
pub enum Text {
    Fixed(String),
    /// The latest text at the time when JavaScript receives the event.
    Latest(Arc<Mutex<Option<String>>>),
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Fixed(text)
    }
}

impl Text {
    fn take(self) -> String {
        match self {
            Self::Fixed(text) => text,
            Self::Latest(text) => text.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default(),
        }
    }
}

/// An event of an operation.
struct Event {
    kind: EventKind,
    operation: u32,
    text: Text,
    buffers: Vec<Vec<u8>>,
}

type EventArguments = FnArgs<(u32, u32, String, Vec<Buffer>)>;

/// The function that receives the events. It does not keep the process alive.
type Receiver = ThreadsafeFunction<Event, UnknownReturnValue, EventArguments, Status, false, true>;

/// The result of an operation: JSON text and buffers.
pub struct Output {
    pub text: String,
    pub buffers: Vec<Vec<u8>>,
}

impl Output {
    /// Serializes a value.
    pub fn json(value: &impl Serialize) -> Result<Self, Failure> {
        let text = serde_json::to_string(value).map_err(|error| Failure::argument(error.to_string()))?;
        Ok(Self { text, buffers: Vec::new() })
    }

    /// Adds a buffer.
    pub fn with_buffer(mut self, bytes: Vec<u8>) -> Self {
        self.buffers.push(bytes);
        self
    }
}

/// The connection between the operations of one JavaScript environment and its event function.
pub struct Events {
    receiver: Receiver,
    cancellations: Mutex<HashMap<u32, CancellationToken>>,
    pub replies: Replies,
}

impl Events {
    /// Adds an event to the queue. It is dropped if the environment is closing.
    pub fn send(&self, kind: EventKind, operation: u32, text: impl Into<Text>, buffers: Vec<Vec<u8>>) {
        let text = text.into();
        self.receiver.call(Event { kind, operation, text, buffers }, ThreadsafeFunctionCallMode::NonBlocking);
    }

    /// Starts an operation as a task. Its end is always reported, even if it panics.
    pub fn spawn<F>(self: &Arc<Self>, operation: u32, start: impl FnOnce(CancellationToken) -> F) -> napi::Result<()>
    where
        F: Future<Output = Result<Output, Failure>> + Send + 'static,
    {
        let cancellation = CancellationToken::new();
        self.cancellations().insert(operation, cancellation.clone());
        let future = start(cancellation);
        let end = End { events: Arc::clone(self), operation, result: Err(Failure::internal()) };
        crate::runtime::runtime()?.spawn(async move { end.report(future.await) });
        Ok(())
    }

    fn cancellations(&self) -> MutexGuard<'_, HashMap<u32, CancellationToken>> {
        self.cancellations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports the end of an operation when it is dropped.
struct End {
    events: Arc<Events>,
    operation: u32,
    result: Result<Output, Failure>,
}

impl End {
    fn report(mut self, result: Result<Output, Failure>) {
        self.result = result;
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.events.cancellations().remove(&self.operation);
        let result = std::mem::replace(&mut self.result, Err(Failure::internal()));
        let output = result.unwrap_or_else(|failure| {
            #[derive(Serialize)]
            struct Failed {
                failure: Failure,
            }
            let text = serde_json::to_string(&Failed { failure }).unwrap_or_default();
            Output { text, buffers: Vec::new() }
        });
        self.events.send(EventKind::Done, self.operation, output.text, output.buffers);
    }
}

/// Receives the events of all operations of one JavaScript environment.
#[napi]
pub struct Bridge {
    pub(crate) events: Arc<Events>,
}

#[napi]
impl Bridge {
    #[napi(constructor)]
    pub fn new(
        #[napi(ts_arg_type = "(kind: number, operation: number, text: string, buffers: Buffer[]) => void")] receive: Function<
            '_,
            EventArguments,
            UnknownReturnValue,
        >,
    ) -> napi::Result<Self> {
        let builder = receive.build_threadsafe_function::<Event>().weak::<true>();
        let receiver = builder.build_callback(|context| {
            let Event { kind, operation, text, buffers } = context.value;
            Ok(FnArgs::from((kind as u32, operation, text.take(), buffers.into_iter().map(Buffer::from).collect())))
        })?;
        Ok(Self { events: Arc::new(Events { receiver, cancellations: Mutex::default(), replies: Replies::default() }) })
    }

    /// Stops an operation. It still reports its end.
    #[napi]
    pub fn cancel(&self, operation: u32) {
        let cancellation = self.events.cancellations().get(&operation).cloned();
        if let Some(cancellation) = cancellation {
            cancellation.cancel();
        }
    }

    /// Answers a function call: with JSON text that describes the value, or with an error.
    #[napi]
    pub fn reply(&self, call: u32, text: String, buffers: Vec<Buffer>) {
        self.events.replies.resolve(call, &text, buffers.iter().map(|buffer| buffer.to_vec()).collect());
    }
}
