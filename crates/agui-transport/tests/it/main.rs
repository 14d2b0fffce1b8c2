//! The server as clients see it: raw sockets against scripted agents.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod agents;
mod bodies;
mod browser;
mod callers;
mod client;
mod connections;
mod disconnect;
#[cfg(feature = "axum")]
mod embedded;
mod extension;
#[cfg(feature = "tower")]
mod http2;
mod logs;
mod platform;
#[cfg(unix)]
mod ready;
mod rig;
mod shutdown;
mod stream;
mod surface;
mod upgrade;
