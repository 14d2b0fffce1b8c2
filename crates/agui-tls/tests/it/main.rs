//! Handshakes over loopback, and files of authorities.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod authority;
mod files;
mod handshake;
