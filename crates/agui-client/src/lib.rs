#![doc = include_str!("../README.md")]

mod agent;
mod config;
mod conversation;
mod end;
mod endpoint;
mod error;
mod exchange;
mod outgoing;
mod pipeline;
mod refusal;
mod run;
mod silence;

pub use agent::HttpAgent;
pub use config::AgentConfig;
pub use conversation::{Conversation, MAX_STATE_BYTES, PatchFailure, Warning};
pub use end::RunEnd;
pub use error::ClientError;
pub use outgoing::{Dialect, outgoing};
pub use pipeline::{Note, Pipeline};
pub use run::Run;
