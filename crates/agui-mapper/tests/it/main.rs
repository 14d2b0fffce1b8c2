//! Behaviour of the mapper as its caller sees it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![expect(clippy::needless_pass_by_value, reason = "JSON is built from values")]
#![expect(clippy::disallowed_methods, reason = "the recorded exchanges are files")]

mod agents;
mod answers;
mod kernel;
mod nonsense;
mod pipeline;
mod plain;
mod questions;
mod recovery;
mod resume;
mod stream;
mod text;
mod tools;
mod traces;
