//! The client against scripted peers on raw sockets.
#![expect(clippy::unwrap_used, reason = "tests")]

mod calls;
mod connections;
mod discovery;
mod failures;
mod peer;
mod polling;
mod streams;
