use std::io;
#[cfg(feature = "tls")]
use std::sync::Arc;

use http::Uri;
use http::header::HeaderValue;
use tokio::net::TcpStream;
#[cfg(feature = "tls")]
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, pki_types::ServerName},
};

use crate::socket::Socket;
use crate::{AgentConfig, ClientError};

const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// Where the agent is.
#[derive(Clone)]
pub(crate) struct Endpoint {
    host: String,
    port: u16,
    /// Value of the `Host` header.
    pub(crate) authority: HeaderValue,
    /// Path and query.
    pub(crate) target: Uri,
    /// Who has to be there, for an `https` address.
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

#[cfg(feature = "tls")]
#[derive(Clone)]
struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// The parts of a URL.
struct Parts {
    is_tls: bool,
    host: String,
    port: u16,
    authority: HeaderValue,
    target: Uri,
}

impl Endpoint {
    pub(crate) fn new(config: &AgentConfig) -> Result<Self, ClientError> {
        let Parts { is_tls, host, port, authority, target } = Parts::parse(&config.url)?;
        #[cfg(not(feature = "tls"))]
        if is_tls {
            return Err(ClientError::TlsUnsupported);
        }
        #[cfg(feature = "tls")]
        let tls = is_tls.then(|| Tls::new(&host, config.tls.clone())).transpose()?;
        Ok(Self {
            host,
            port,
            authority,
            target,
            #[cfg(feature = "tls")]
            tls,
        })
    }

    /// A connection to the first address that answers.
    pub(crate) async fn connect(&self) -> Result<Socket, ClientError> {
        let stream = self.connect_tcp().await?;
        #[cfg(feature = "tls")]
        if let Some(Tls { config, name }) = &self.tls {
            let connected = TlsConnector::from(Arc::clone(config)).connect(name.clone(), stream).await;
            return connected.map(|stream| Socket::Tls(Box::new(stream))).map_err(ClientError::Tls);
        }
        Ok(Socket::Plain(stream))
    }

    async fn connect_tcp(&self) -> Result<TcpStream, ClientError> {
        let mut failure = io::Error::from(io::ErrorKind::NotFound);
        let addresses = tokio::net::lookup_host((self.host.as_str(), self.port));
        for address in addresses.await.map_err(ClientError::Connect)? {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(ClientError::Connect)?;
                    return Ok(stream);
                }
                Err(error) => failure = error,
            }
        }
        Err(ClientError::Connect(failure))
    }
}

#[cfg(feature = "tls")]
impl Tls {
    fn new(host: &str, config: Option<Arc<ClientConfig>>) -> Result<Self, ClientError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| ClientError::InvalidUrl)?;
        let config = match config {
            Some(config) => config,
            None => agui_tls::client_config().map_err(ClientError::TlsSetup)?,
        };
        let mut config = Arc::unwrap_or_clone(config);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), name })
    }
}

impl Parts {
    fn parse(url: &str) -> Result<Self, ClientError> {
        let uri: Uri = url.parse().map_err(|_| ClientError::InvalidUrl)?;
        let (is_tls, default_port) = match uri.scheme_str() {
            Some("http") => (false, HTTP_PORT),
            Some("https") => (true, HTTPS_PORT),
            _ => return Err(ClientError::InvalidUrl),
        };
        let authority = uri.authority().ok_or(ClientError::InvalidUrl)?.as_str();
        let bracketed = uri.host().unwrap_or_default();
        // What stands before the host are credentials, which do not belong into an address.
        let port = match authority.strip_prefix(bracketed).map(|port| port.strip_prefix(':').ok_or(port)) {
            Some(Err("")) => default_port,
            Some(Ok(digits)) => digits.parse().map_err(|_| ClientError::InvalidUrl)?,
            Some(Err(_)) | None => return Err(ClientError::InvalidUrl),
        };
        let host = bracketed.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(ClientError::InvalidUrl);
        }
        let target = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            is_tls,
            host: host.to_owned(),
            port,
            authority: HeaderValue::from_str(authority).map_err(|_| ClientError::InvalidUrl)?,
            target: target.parse().map_err(|_| ClientError::InvalidUrl)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_http_without_credentials() {
        const INVALID: &str = "address is not an http URL without credentials";
        let cases = [
            ("http://127.0.0.1:9102/", "127.0.0.1 9102 / plain"),
            ("http://agent.example/run?x=1", "agent.example 80 /run?x=1 plain"),
            ("http://[::1]:9102", "::1 9102 / plain"),
            ("https://agent.example/", "agent.example 443 / tls"),
            ("https://agent.example:8443/a", "agent.example 8443 /a tls"),
            ("ftp://agent.example/", INVALID),
            ("http://user:password@agent.example/", INVALID),
            ("http://agent.example:99999/", INVALID),
            ("http://", INVALID),
            ("/path", INVALID),
        ];
        for (url, expected) in cases {
            let found = match Parts::parse(url) {
                Ok(Parts { is_tls, host, port, target, .. }) => {
                    format!("{host} {port} {target} {}", if is_tls { "tls" } else { "plain" })
                }
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{url}");
        }
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn without_the_feature_https_is_refused() {
        let refused = Endpoint::new(&AgentConfig::new("https://agent.example/"));
        assert!(matches!(refused, Err(ClientError::TlsUnsupported)));
    }
}
