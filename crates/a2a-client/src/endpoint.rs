use std::io;
use std::net::{IpAddr, SocketAddr};

use http::Uri;
use http::header::HeaderValue;
use tokio::net::TcpStream;

#[cfg(feature = "tls")]
use crate::secure::Secure;
use crate::socket::Socket;
use crate::{ClientConfig, ClientError};

const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// Where the peer is.
#[derive(Clone)]
pub(crate) struct Endpoint {
    host: String,
    port: u16,
    allow_remote: bool,
    is_https: bool,
    /// Who has to be there, for an `https` address.
    #[cfg(feature = "tls")]
    secure: Option<Secure>,
    /// Value of the `Host` header.
    pub(crate) authority: HeaderValue,
    /// Path and query of the JSON-RPC endpoint.
    pub(crate) rpc: Uri,
}

impl Endpoint {
    /// Where a client of this configuration connects to.
    pub(crate) fn new(config: &ClientConfig) -> Result<Self, ClientError> {
        let endpoint = Self::parse(&config.url, config.allow_remote)?;
        #[cfg(not(feature = "tls"))]
        if endpoint.is_https {
            return Err(ClientError::TlsUnsupported);
        }
        #[cfg(feature = "tls")]
        let endpoint = {
            let secure = endpoint.is_https.then(|| Secure::new(&endpoint.host, config.tls.clone()));
            Self { secure: secure.transpose()?, ..endpoint }
        };
        Ok(endpoint)
    }

    pub(crate) fn parse(url: &str, allow_remote: bool) -> Result<Self, ClientError> {
        let uri: Uri = url.parse().map_err(|_| ClientError::InvalidUrl)?;
        let (is_https, default_port) = match uri.scheme_str() {
            Some("http") => (false, HTTP_PORT),
            Some("https") => (true, HTTPS_PORT),
            _ => return Err(ClientError::InvalidUrl),
        };
        let authority = uri.authority().ok_or(ClientError::InvalidUrl)?.as_str();
        let bracketed = uri.host().unwrap_or_default();
        // Credentials, if there are any, come before the host and are refused with it.
        let port = match authority.strip_prefix(bracketed) {
            Some("") => default_port,
            Some(port) => read_port(port)?,
            None => return Err(ClientError::InvalidUrl),
        };
        let host = bracketed.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(ClientError::InvalidUrl);
        }
        if !allow_remote && !is_local_name(host) {
            return Err(ClientError::RemoteRefused);
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            host: host.to_owned(),
            port,
            allow_remote,
            is_https,
            #[cfg(feature = "tls")]
            secure: None,
            authority: HeaderValue::from_str(authority).map_err(|_| ClientError::InvalidUrl)?,
            rpc: path.parse().map_err(|_| ClientError::InvalidUrl)?,
        })
    }

    /// Whether both are reached by the same host name and port.
    pub(crate) fn is_same_server(&self, other: &Self) -> bool {
        self.is_https == other.is_https
            && self.port == other.port
            && self.host.eq_ignore_ascii_case(&other.host)
    }

    /// Whether `named` is the name that a program gives itself on its own machine, which is where it is
    /// reached on the same port: `localhost`, a loopback address, or "all addresses".
    pub(crate) fn is_own_name_of_server(&self, named: &Self) -> bool {
        let unspecified = named.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified());
        self.port == named.port && (unspecified || is_local_name(&named.host))
    }

    /// `http` or `https`.
    pub(crate) const fn scheme(&self) -> &'static str {
        if self.is_https { "https" } else { "http" }
    }

    /// A connection to the first address that answers.
    pub(crate) async fn connect(&self) -> Result<Socket, ClientError> {
        let stream = self.connect_tcp().await?;
        #[cfg(feature = "tls")]
        if let Some(secure) = &self.secure {
            return secure.connect(stream).await;
        }
        Ok(Socket::Plain(stream))
    }

    async fn connect_tcp(&self) -> Result<TcpStream, ClientError> {
        let addresses = tokio::net::lookup_host((self.host.as_str(), self.port));
        let mut failure = ClientError::Connect(io::ErrorKind::NotFound.into());
        for address in addresses.await.map_err(ClientError::Connect)? {
            if !self.allow_remote && !is_loopback(address) {
                failure = ClientError::RemoteRefused;
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(ClientError::Connect)?;
                    return Ok(stream);
                }
                Err(error) => failure = ClientError::Connect(error),
            }
        }
        Err(failure)
    }
}

/// Reads `:port`; the URI library lets numbers pass that are no ports.
fn read_port(text: &str) -> Result<u16, ClientError> {
    let digits = text.strip_prefix(':').ok_or(ClientError::InvalidUrl)?;
    digits.parse().map_err(|_| ClientError::InvalidUrl)
}

/// A name that can mean this machine; its addresses are checked again when it is connected to.
fn is_local_name(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| is_loopback(SocketAddr::new(ip, 0)))
}

fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str, allow_remote: bool) -> String {
        match Endpoint::parse(url, allow_remote) {
            Ok(endpoint) => format!(
                "{} {} {} {}",
                endpoint.host,
                endpoint.port,
                endpoint.authority.to_str().unwrap(),
                endpoint.rpc
            ),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn addresses_on_this_machine_are_accepted() {
        let cases = [
            ("http://127.0.0.1:9102/", "127.0.0.1 9102 127.0.0.1:9102 /"),
            ("http://127.0.0.1:9102", "127.0.0.1 9102 127.0.0.1:9102 /"),
            ("http://LOCALHOST/a2a?x=1", "LOCALHOST 80 LOCALHOST /a2a?x=1"),
            ("http://[::1]:9102/", "::1 9102 [::1]:9102 /"),
            ("https://localhost/a2a", "localhost 443 localhost /a2a"),
            ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1 80 [::ffff:127.0.0.1] /"),
        ];
        for (url, expected) in cases {
            assert_eq!(parse(url, false), expected, "{url}");
        }
    }

    #[test]
    fn other_addresses_need_leave() {
        for url in
            ["http://10.0.0.1/", "https://kernel.example/", "http://0.0.0.0/", "http://localhost.example/"]
        {
            assert_eq!(parse(url, false), "address is not on this machine", "{url}");
        }
        assert_eq!(parse("http://kernel.example/", true), "kernel.example 80 kernel.example /");
        assert_eq!(parse("http://1:1/", true), "1 1 1:1 /");
    }

    #[test]
    fn what_is_no_plain_http_url_is_refused_without_showing_it() {
        let cases = [
            ("ftp://127.0.0.1/", "address is not a plain http URL"),
            ("http://user:password@127.0.0.1/", "address is not a plain http URL"),
            ("http://127.0.0.1@elsewhere.example/", "address is not a plain http URL"),
            ("127.0.0.1:9102", "address is not a plain http URL"),
            ("http://", "address is not a plain http URL"),
            ("http://127.0.0.1:99999/", "address is not a plain http URL"),
            ("http://127.0.0.1:/", "address is not a plain http URL"),
            ("", "address is not a plain http URL"),
            ("/path", "address is not a plain http URL"),
        ];
        for (url, expected) in cases {
            assert_eq!(parse(url, true), expected, "{url}");
        }
    }
}
