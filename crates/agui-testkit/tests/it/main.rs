//! The servers of the test kit, each driven through its socket.

#![expect(clippy::unwrap_used, reason = "tests")]

mod bulk;
mod client;
mod demo_normal;
mod demo_pipeline;
mod demo_rpc;
mod faulty;
mod fidelity;
mod kernel;
mod model;
mod replay;
