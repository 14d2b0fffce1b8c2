#![doc = include_str!("../README.md")]

pub mod client;
pub mod demo;
mod error;
pub mod faulty;
mod http1;
mod log;
pub mod model;
mod net;
pub mod replay;
pub mod sse;
pub mod wire;

pub use error::TestkitError;
pub use log::{LoggedRequest, RequestLog};
pub use net::Connections;
