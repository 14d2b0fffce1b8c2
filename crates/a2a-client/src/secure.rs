//! TLS for `https` addresses.

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig as TlsConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::socket::Socket;
use crate::{ClientConfig, ClientError};

/// Who has to be at the other end, and whom to trust.
#[derive(Clone)]
pub(crate) struct Secure {
    config: Arc<TlsConfig>,
    name: ServerName<'static>,
}

impl Secure {
    pub(crate) fn new(host: &str, config: Option<Arc<TlsConfig>>) -> Result<Self, ClientError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| ClientError::InvalidUrl)?;
        let mut config = Arc::unwrap_or_clone(config.map_or_else(default, Ok)?);
        // The only version of HTTP that is spoken here.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), name })
    }

    pub(crate) async fn connect(&self, stream: TcpStream) -> Result<Socket, ClientError> {
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let stream = connector.connect(self.name.clone(), stream).await.map_err(ClientError::Tls)?;
        Ok(Socket::Tls(Box::new(stream)))
    }
}

/// The configuration with the default one for TLS, which takes a while to make, for several clients.
pub(crate) fn with_shared(mut config: ClientConfig) -> Result<ClientConfig, ClientError> {
    let is_https = config.url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    if config.tls.is_none() && is_https {
        config.tls = Some(default()?);
    }
    Ok(config)
}

fn default() -> Result<Arc<TlsConfig>, ClientError> {
    agui_tls::client_config().map_err(ClientError::TlsSetup)
}
