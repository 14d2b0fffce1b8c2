//! The client against scripted peers on raw sockets.
#![expect(clippy::unwrap_used, reason = "tests")]

/// The authority is that of the tests of the TLS crate: one way to make certificates is enough.
#[cfg(feature = "tls")]
#[path = "../../../agui-tls/tests/it/authority.rs"]
mod authority;
mod calls;
mod connections;
mod discovery;
mod failures;
mod peer;
mod polling;
mod streams;
#[cfg(feature = "tls")]
mod tls;
