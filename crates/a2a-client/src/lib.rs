#![doc = include_str!("../README.md")]

mod answer;
mod client;
mod config;
mod datum;
mod discovery;
mod endpoint;
mod error;
mod extension;
mod failure;
mod polling;
mod stream;

pub use client::Client;
pub use config::{
    CALL_TIMEOUT, CONNECT_TIMEOUT, ClientConfig, FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT, MAX_BODY_BYTES,
    MAX_DATUM_BYTES, POLL_FIRST, POLL_LONGEST, SEND_TIMEOUT, UNKNOWN_AGENT_TIMEOUT,
};
pub use datum::Datum;
pub use discovery::{Discovered, discover};
pub use error::{ClientError, Delivery, HttpFailure};
pub use extension::{Health, PipelineStateQuery, RestoreRequest, Restored};
pub use failure::RpcFailure;
pub use stream::UpdateStream;
