#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod address;
mod dialer;
mod error;
mod exchange;
mod socket;
#[cfg(feature = "tls")]
mod tls;

pub use address::Address;
pub use dialer::Dialer;
pub use error::ExchangeError;
pub use exchange::{Body, Exchange, READ_BUFFER_BYTES, millis};
#[cfg(feature = "tls")]
pub use tls::default_config;
#[cfg(feature = "tls")]
pub use tokio_rustls::rustls;
