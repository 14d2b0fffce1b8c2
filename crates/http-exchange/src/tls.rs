//! TLS for `https` addresses.

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::ExchangeError;
use crate::socket::Socket;

/// Who has to be at the other end, and whom to trust.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Tls {
    pub(crate) fn new(host: &str, config: Option<Arc<ClientConfig>>) -> Result<Self, ExchangeError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| ExchangeError::InvalidUrl)?;
        let mut config = Arc::unwrap_or_clone(config.map_or_else(default_config, Ok)?);
        // The only version of HTTP that is spoken here.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), name })
    }

    pub(crate) async fn connect(&self, stream: TcpStream) -> Result<Socket, ExchangeError> {
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let stream = connector.connect(self.name.clone(), stream).await.map_err(ExchangeError::Tls)?;
        Ok(Socket::Tls(Box::new(stream)))
    }
}

/// What a dialer uses when it is given nothing, for several of them: it takes a while to make.
///
/// ```
/// let shared = http_exchange::default_config()?;
/// # Ok::<(), http_exchange::ExchangeError>(())
/// ```
///
/// # Errors
/// [`ExchangeError::TlsSetup`] if TLS cannot be had on this machine.
pub fn default_config() -> Result<Arc<ClientConfig>, ExchangeError> {
    agui_tls::client_config().map_err(ExchangeError::TlsSetup)
}
