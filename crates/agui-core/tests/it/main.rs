//! Behaviour of the crate as its users see it.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod conformance;
mod events;
mod fixtures;
mod hostile;
mod input;
mod nulls;
mod refusals;
#[cfg(feature = "schema")]
mod schema;
mod shapes;
mod streams;
#[cfg(feature = "agent")]
mod unwritable;
