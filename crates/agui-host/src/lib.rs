#![doc = include_str!("../README.md")]

mod agent;
mod descriptors;
mod error;
pub mod extensions;
pub mod guard;
mod host;
mod idle;
mod kernel;
mod logs;
mod managed;
mod signals;
mod tuning;
pub mod values;

pub use descriptors::raise_descriptor_limit;
pub use error::HostError;
pub use host::{HostConfig, KernelChoice, Running};
pub use idle::stop_when_idle;
pub use logs::{LogConfig, LogFormat};
pub use managed::{CommandLine, FAILING_AFTER, Managed, Output, Phase, Program, READY_WITHIN, Status};
pub use signals::stop_on_signal;
pub use tuning::{Tuning, seconds};
