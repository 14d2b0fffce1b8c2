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
///
/// ```
/// if agui_tls::is_processor_supported() {
///     assert!(agui_tls::client_config().is_ok());
/// }
/// ```
#[must_use]
pub fn is_processor_supported() -> bool {
    graviola::util::is_cpu_supported()
}

/// The configuration for clients: [`Trust::from_env`], TLS 1.2 and 1.3, ALPN `http/1.1`.
///
/// Reads a file and parses every authority: make it once and share it.
///
/// ```no_run
/// // With tokio: `tokio_rustls::TlsConnector::from(config).connect(server_name, socket)`.
/// let config = agui_tls::client_config()?;
/// assert_eq!(config.alpn_protocols, [b"http/1.1"]);
/// # Ok::<(), agui_tls::TlsError>(())
/// ```
///
/// # Errors
/// See [`Trust::client_config`].
pub fn client_config() -> Result<Arc<ClientConfig>, TlsError> {
    Trust::from_env().client_config()
}
