#![doc = include_str!("../README.md")]

mod activity;
mod config;
mod context;
mod control;
mod frames;
pub mod handshake;
mod inbound;
mod pace;
mod pieces;
mod replies;
mod serve;
mod session;
mod stall;
mod watch;
mod words;

pub use activity::Activity;
pub use config::{RefusalForm, WsConfig, WsFraming, WsTimeouts};
pub use context::WsContext;
pub use control::{CancelMessage, Control, OpenRun};
pub use handshake::{Refused, accept, authorization};
pub use serve::{WsEnd, serve};

// What callers have to name, in the version that is meant.
pub use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Name of the `CUSTOM` event that answers a cancel message.
///
/// Example: see [`CancelMessage`].
pub const CANCEL: &str = "agui.cancel.v1";

/// Name of the `CUSTOM` event that refuses a message, with [`RefusalForm::Custom`].
///
/// Example: see [`WsConfig`].
pub const REFUSED: &str = "agui.refused.v1";
