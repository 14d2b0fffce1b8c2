//! Where a peer is.

use std::net::{IpAddr, SocketAddr};

use http::Uri;
use http::header::HeaderValue;

use crate::ExchangeError;

const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// An `http` or `https` URL, taken apart. It holds no credentials.
///
/// ```
/// use http_exchange::Address;
///
/// let address = Address::parse("https://agent.example/run?x=1").unwrap();
/// assert_eq!((address.host(), address.port()), ("agent.example", 443));
/// assert_eq!(address.target(), "/run?x=1");
/// assert!(Address::parse("https://user:password@agent.example/").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    is_https: bool,
    host: Box<str>,
    port: u16,
    authority: HeaderValue,
    target: Uri,
}

impl Address {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// [`ExchangeError::InvalidUrl`] if it has another scheme, credentials, a port that is none, or no host.
    pub fn parse(url: &str) -> Result<Self, ExchangeError> {
        Self::read(url).ok_or(ExchangeError::InvalidUrl)
    }

    fn read(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let (is_https, default_port) = match uri.scheme_str()? {
            "http" => (false, HTTP_PORT),
            "https" => (true, HTTPS_PORT),
            _ => return None,
        };
        let authority = uri.authority()?.as_str();
        let bracketed = uri.host()?;
        // Credentials, if there are any, come before the host and are refused with it. The URI library lets
        // numbers pass that are no ports.
        let port = match authority.strip_prefix(bracketed)? {
            "" => default_port,
            port => port.strip_prefix(':')?.parse().ok()?,
        };
        let host = bracketed.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return None;
        }
        let target = uri.path_and_query().map_or("/", |path| path.as_str());
        Some(Self {
            is_https,
            host: host.into(),
            port,
            authority: HeaderValue::from_str(authority).ok()?,
            target: target.parse().ok()?,
        })
    }

    /// Whether it asks for TLS.
    #[must_use]
    pub const fn is_https(&self) -> bool {
        self.is_https
    }

    /// Name or number of the host, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, also where the URL leaves it out.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Value of the `Host` header.
    #[must_use]
    pub const fn authority(&self) -> &HeaderValue {
        &self.authority
    }

    /// Path and query, `/` at least.
    #[must_use]
    pub const fn target(&self) -> &Uri {
        &self.target
    }

    /// Whether the host can mean this machine. Its addresses are looked at again when it is connected to, by
    /// a [`Dialer`](crate::Dialer) that may not go elsewhere.
    #[must_use]
    pub fn is_local_name(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.host.parse::<IpAddr>().is_ok_and(|ip| is_loopback(SocketAddr::new(ip, 0)))
    }
}

pub(crate) fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> String {
        match Address::parse(url) {
            Ok(address) => format!(
                "{} {} {} {} {} {}",
                if address.is_https() { "https" } else { "http" },
                address.host(),
                address.port(),
                address.authority().to_str().unwrap(),
                address.target(),
                if address.is_local_name() { "local" } else { "remote" },
            ),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn addresses_are_taken_apart() {
        let cases = [
            ("http://127.0.0.1:9102/", "http 127.0.0.1 9102 127.0.0.1:9102 / local"),
            ("http://127.0.0.1:9102", "http 127.0.0.1 9102 127.0.0.1:9102 / local"),
            ("http://LOCALHOST/a2a?x=1", "http LOCALHOST 80 LOCALHOST /a2a?x=1 local"),
            ("http://[::1]:9102/", "http ::1 9102 [::1]:9102 / local"),
            ("https://localhost/a2a", "https localhost 443 localhost /a2a local"),
            ("http://[::ffff:127.0.0.1]/", "http ::ffff:127.0.0.1 80 [::ffff:127.0.0.1] / local"),
            ("https://agent.example:8443/a", "https agent.example 8443 agent.example:8443 /a remote"),
            ("http://10.0.0.1/", "http 10.0.0.1 80 10.0.0.1 / remote"),
            ("http://0.0.0.0/", "http 0.0.0.0 80 0.0.0.0 / remote"),
            ("http://localhost.example/", "http localhost.example 80 localhost.example / remote"),
            ("http://1:1/", "http 1 1 1:1 / remote"),
        ];
        for (url, expected) in cases {
            assert_eq!(parse(url), expected, "{url}");
        }
    }

    #[test]
    fn what_is_no_such_url_is_refused_without_showing_it() {
        let refused = [
            "ftp://127.0.0.1/",
            "http://user:password@127.0.0.1/",
            "http://127.0.0.1@elsewhere.example/",
            "127.0.0.1:9102",
            "http://",
            "http://127.0.0.1:99999/",
            "http://127.0.0.1:/",
            "",
            "/path",
        ];
        for url in refused {
            assert_eq!(parse(url), "address is not an http URL without credentials", "{url}");
        }
    }
}
