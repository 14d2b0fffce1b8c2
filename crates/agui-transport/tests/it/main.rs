//! The server as clients see it: raw sockets against scripted agents.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod agents;
mod bodies;
mod browser;
mod client;
mod connections;
mod disconnect;
mod extension;
mod logs;
mod rig;
mod shutdown;
mod stream;
mod surface;
