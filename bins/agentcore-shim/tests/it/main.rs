//! The shim as the platform meets it: the real binary, real sockets, agents that do as they are told.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod agents;
mod callers;
mod cancel;
mod contract;
mod fake_agent;
mod owners;
mod ping;
mod process;
mod refusals;
mod retries;
mod socket;
mod sockets;
mod stack;
