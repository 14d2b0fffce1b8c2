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
pub use settings::{Limits, Timeouts};
pub use upgrade::{Upgrade, UpgradeStop, Upgraded};

// What callers have to name, in the version that is meant.
#[cfg(feature = "axum")]
pub use axum;
pub use tokio_util::sync::CancellationToken;
