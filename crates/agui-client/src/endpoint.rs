use std::io;

use http::Uri;
use http::header::HeaderValue;
use tokio::net::TcpStream;

use crate::ClientError;

const DEFAULT_PORT: u16 = 80;

/// Where the agent is.
#[derive(Clone)]
pub(crate) struct Endpoint {
    host: String,
    port: u16,
    /// Value of the `Host` header.
    pub(crate) authority: HeaderValue,
    /// Path and query.
    pub(crate) target: Uri,
}

impl Endpoint {
    pub(crate) fn parse(url: &str) -> Result<Self, ClientError> {
        let uri: Uri = url.parse().map_err(|_| ClientError::InvalidUrl)?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(ClientError::TlsUnsupported),
            _ => return Err(ClientError::InvalidUrl),
        }
        let authority = uri.authority().ok_or(ClientError::InvalidUrl)?.as_str();
        let bracketed = uri.host().unwrap_or_default();
        // What stands before the host are credentials, which do not belong into an address.
        let port = match authority.strip_prefix(bracketed).map(|port| port.strip_prefix(':').ok_or(port)) {
            Some(Err("")) => DEFAULT_PORT,
            Some(Ok(digits)) => digits.parse().map_err(|_| ClientError::InvalidUrl)?,
            Some(Err(_)) | None => return Err(ClientError::InvalidUrl),
        };
        let host = bracketed.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(ClientError::InvalidUrl);
        }
        let target = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            host: host.to_owned(),
            port,
            authority: HeaderValue::from_str(authority).map_err(|_| ClientError::InvalidUrl)?,
            target: target.parse().map_err(|_| ClientError::InvalidUrl)?,
        })
    }

    /// A TCP connection to the first address that answers.
    pub(crate) async fn connect(&self) -> Result<TcpStream, ClientError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_plain_http_without_credentials() {
        let cases = [
            ("http://127.0.0.1:9102/", "127.0.0.1 9102 /"),
            ("http://agent.example/run?x=1", "agent.example 80 /run?x=1"),
            ("http://[::1]:9102", "::1 9102 /"),
            ("https://agent.example/", "https is not supported"),
            ("ftp://agent.example/", "address is not a plain http URL"),
            ("http://user:password@agent.example/", "address is not a plain http URL"),
            ("http://agent.example:99999/", "address is not a plain http URL"),
            ("http://", "address is not a plain http URL"),
            ("/path", "address is not a plain http URL"),
        ];
        for (url, expected) in cases {
            let found = match Endpoint::parse(url) {
                Ok(endpoint) => format!("{} {} {}", endpoint.host, endpoint.port, endpoint.target),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{url}");
        }
    }
}
