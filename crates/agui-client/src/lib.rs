#![doc = include_str!("../README.md")]

mod agent;
mod answer;
mod config;
mod conversation;
mod end;
mod error;
mod framing;
mod legacy;
mod notes;
mod outgoing;
mod pipeline;
mod records;
mod refusal;
mod run;
mod silence;

pub use agent::{HttpAgent, Seen};
pub use answer::Answer;
pub use config::AgentConfig;
pub use conversation::{Conversation, MAX_STATE_BYTES, PatchFailure, Warning};
pub use end::RunEnd;
pub use error::ClientError;
pub use framing::Accept;
pub use legacy::Modernizer;
pub use outgoing::{Dialect, outgoing};
pub use pipeline::{Note, Pipeline};
pub use records::Records;
pub use run::Run;

/// Of the version whose configuration [`AgentConfig`] takes.
#[cfg(feature = "tls")]
pub use http_exchange::rustls;
