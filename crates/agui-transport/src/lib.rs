#![doc = include_str!("../README.md")]

mod activity;
mod answer;
mod connection;
mod error;
mod event_body;
mod gate;
mod health;
mod intake;
mod media;
mod percent;
mod refusal;
mod request_log;
mod route;
mod route_table;
mod serve;
mod server;
mod settings;
mod site;
mod socket;
mod words;

pub use activity::Activity;
pub use error::{RouteProblem, ServerError};
pub use health::Health;
pub use route::{Handler, HandlerFuture, Route, RouteReply, RouteRequest, SseRecord};
pub use serve::Stopped;
pub use server::{Server, ServerBuilder};
pub use settings::{Limits, Timeouts};
