#![doc = include_str!("../README.md")]

mod activity;
mod answer;
mod builder;
mod connection;
mod echo;
mod elsewhere;
mod error;
mod error_form;
mod event_body;
mod gate;
mod head_timer;
mod health;
mod intake;
mod media;
mod percent;
mod ready;
mod refusal;
mod request_log;
mod route;
mod route_table;
#[cfg(feature = "axum")]
mod router;
mod serve;
mod server;
#[cfg(feature = "tower")]
mod service;
mod sessions;
mod settings;
mod site;
mod socket;
mod still_let_in;
mod upgrade;
mod words;
mod work;

pub use activity::Activity;
pub use builder::ServerBuilder;
pub use echo::EchoHeaders;
pub use elsewhere::on_runtime;
pub use error::{RouteProblem, ServerError};
pub use error_form::ErrorMode;
pub use health::Health;
pub use ready::serve;
pub use route::{Handler, HandlerFuture, Route, RouteReply, RouteRequest, SseRecord};
#[cfg(feature = "axum")]
pub use router::router;
pub use serve::Stopped;
pub use server::Server;
#[cfg(feature = "tower")]
pub use service::{AguiBody, AguiService};
pub use sessions::rate_limited;
pub use settings::{Limits, Timeouts};
pub use still_let_in::still_let_in;
pub use upgrade::{Upgrade, UpgradeStop, Upgraded};

/// Name of the entry among the [headers of a run request](agui_core::RunRequest::headers) that says who the caller is,
/// as far as the [authenticator](ServerBuilder::authenticator) knows: an [`agui_auth::Caller`], the same for all
/// requests of one caller.
///
/// No client can send it, and no HTTP client can pass it on: the name of no header has a colon.
///
/// ```
/// assert!(http::HeaderName::from_bytes(agui_transport::CALLER.as_bytes()).is_err());
/// ```
pub const CALLER: &str = ":caller";

// What callers have to name, in the version that is meant.
#[cfg(feature = "axum")]
pub use axum;
pub use tokio_util::sync::CancellationToken;
