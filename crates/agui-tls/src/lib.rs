#![doc = include_str!("../README.md")]

mod error;
mod trust;

use std::sync::Arc;

use rustls::ClientConfig;

pub use error::TlsError;
/// Of the version whose configuration is made here.
pub use rustls;
pub use trust::Trust;

/// Whether the cryptography used here runs on this processor.
///
/// Whoever calls it directly has to ask first: on a processor that it does not know, it panics.
#[must_use]
pub fn is_processor_supported() -> bool {
    graviola::util::is_cpu_supported()
}

/// The configuration for clients: [`Trust::from_env`], TLS 1.2 and 1.3, ALPN `http/1.1`.
///
/// Reads a file and parses every authority: make it once and share it.
///
/// # Errors
/// See [`Trust::client_config`].
pub fn client_config() -> Result<Arc<ClientConfig>, TlsError> {
    Trust::from_env().client_config()
}
