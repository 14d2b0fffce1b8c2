//! Tokens against an issuer on loopback.

#![cfg(feature = "jwt")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../../../agui-tls/tests/it/authority.rs"]
mod authority;
mod callers;
mod issuer;
mod keys;
mod refusals;
mod signatures;
mod tls;
mod tokens;
