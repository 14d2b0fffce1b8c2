//! The client against public and own streams, and against peers on raw sockets.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

/// The authority is that of the tests of the TLS crate: one way to make certificates is enough.
#[cfg(feature = "tls")]
#[path = "../../../agui-tls/tests/it/authority.rs"]
mod authority;
mod binary;
mod conformance;
mod http;
mod own_streams;
#[cfg(feature = "tls")]
mod tls;
mod turns;
