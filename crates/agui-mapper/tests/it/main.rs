//! Behaviour of the mapper as its caller sees it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod answers;
mod kernel;
mod nonsense;
mod pipeline;
mod plain;
mod questions;
mod resume;
mod stream;
mod text;
mod tools;
mod traces;
