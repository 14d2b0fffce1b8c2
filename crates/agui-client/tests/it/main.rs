//! The client against public and own streams, and against peers on raw sockets.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod conformance;
mod http;
mod own_streams;
mod turns;
