//! Sockets as clients see them.

#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::panic, reason = "tests")]

mod agents;
mod client;
mod endings;
mod loopback;
mod runs;
