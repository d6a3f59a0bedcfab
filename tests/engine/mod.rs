//! Tests of running scripts: language, limits, isolation, cancellation and functions.

mod builtins;
mod cancellation;
mod fixtures;
mod function_errors;
mod functions;
mod globals;
mod hostile_scripts;
mod isolation;
mod limits;
mod messages;
mod metering;
mod numbers;
mod sleep;
