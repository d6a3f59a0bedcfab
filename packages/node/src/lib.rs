//! The addon of the npm package. The TypeScript files in `lib/` around it have the documented interface.
//!
//! Operations run on a tokio runtime and never block the event loop. Each ends with an event, which is passed to one JavaScript function
//! in the order in which events occur. Values cross the boundary as JSON text and buffers.

mod check;
pub mod command;
mod engine;
mod errors;
mod events;
mod execution;
mod file_results;
mod functions;
mod listener;
mod operations;
mod options;
mod replies;
mod runtime;
mod sandbox;
mod sources;
