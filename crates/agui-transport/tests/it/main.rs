//! The server as clients see it: raw sockets against scripted agents.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod agents;
mod bodies;
mod browser;
mod client;
mod connections;
mod disconnect;
#[cfg(feature = "axum")]
mod embedded;
mod extension;
mod logs;
mod platform;
#[cfg(unix)]
mod ready;
mod rig;
mod shutdown;
mod stream;
mod surface;
mod upgrade;
