//! From an address to a connection.

use std::io;
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::address::is_loopback;
use crate::socket::Socket;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::{Address, ExchangeError, millis};

/// Connects to one address. Clones share what TLS needs.
///
/// Example: see [`Exchange`](crate::Exchange).
#[derive(Clone)]
pub struct Dialer {
    address: Address,
    local_only: bool,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

impl Dialer {
    /// A dialer that trusts, for an `https` address, whom `agui_tls::client_config` trusts.
    ///
    /// # Errors
    /// [`ExchangeError::TlsUnsupported`] without the feature `tls`, [`ExchangeError::InvalidUrl`] if the host is
    /// no name that a certificate can have, `ExchangeError::TlsSetup` if TLS cannot be had.
    #[cfg(not(feature = "tls"))]
    pub fn new(address: Address) -> Result<Self, ExchangeError> {
        if address.is_https() {
            return Err(ExchangeError::TlsUnsupported);
        }
        Ok(Self { address, local_only: false })
    }

    /// A dialer that trusts, for an `https` address, whom `agui_tls::client_config` trusts.
    ///
    /// # Errors
    /// [`ExchangeError::InvalidUrl`] if the host is no name that a certificate can have,
    /// [`ExchangeError::TlsSetup`] if TLS cannot be had.
    #[cfg(feature = "tls")]
    pub fn new(address: Address) -> Result<Self, ExchangeError> {
        Self::with_tls(address, None)
    }

    /// A dialer that uses `config` for an `https` address, or the default if it is `None`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "tls")]
    pub fn with_tls(
        address: Address,
        config: Option<Arc<crate::rustls::ClientConfig>>,
    ) -> Result<Self, ExchangeError> {
        let tls = address.is_https().then(|| Tls::new(address.host(), config)).transpose()?;
        Ok(Self { address, local_only: false, tls })
    }

    /// Refuses to connect to another machine, whatever the name resolves to.
    #[must_use]
    pub const fn local_only(mut self) -> Self {
        self.local_only = true;
        self
    }

    /// Where it connects to.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// A connection to the first address that answers, within `limit` in all.
    pub(crate) async fn connect(&self, limit: Duration) -> Result<Socket, ExchangeError> {
        let connected = async {
            let stream = self.connect_tcp(limit).await?;
            #[cfg(feature = "tls")]
            if let Some(tls) = &self.tls {
                return tls.connect(stream).await;
            }
            Ok(Socket::Plain(stream))
        };
        let too_late = |_| Err(ExchangeError::ConnectTimeout { after_ms: millis(limit) });
        timeout(limit, connected).await.unwrap_or_else(too_late)
    }

    /// Each address has an equal share of the time: one that answers nothing, as of a network that leads
    /// nowhere, must not take that of the others.
    async fn connect_tcp(&self, limit: Duration) -> Result<TcpStream, ExchangeError> {
        let found = tokio::net::lookup_host((self.address.host(), self.address.port()));
        let addresses: Vec<_> = found.await.map_err(ExchangeError::Connect)?.collect();
        let share = limit / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut failure = ExchangeError::Connect(io::ErrorKind::NotFound.into());
        for address in addresses {
            if self.local_only && !is_loopback(address) {
                failure = ExchangeError::RemoteRefused;
                continue;
            }
            let connected = timeout(share, TcpStream::connect(address)).await;
            match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(ExchangeError::Connect)?;
                    return Ok(stream);
                }
                Err(error) => failure = ExchangeError::Connect(error),
            }
        }
        Err(failure)
    }
}

impl std::fmt::Debug for Dialer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialer")
            .field("address", &self.address)
            .field("local_only", &self.local_only)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "tls"))]
    #[test]
    fn without_the_feature_https_is_refused() {
        let refused = Dialer::new(Address::parse("https://agent.example/").unwrap());
        assert!(matches!(refused, Err(ExchangeError::TlsUnsupported)));
    }

    #[tokio::test]
    async fn a_local_dialer_goes_nowhere_else() {
        let address = Address::parse("http://192.0.2.1:9/").unwrap();
        let refused = Dialer::new(address).unwrap().local_only().connect(Duration::from_secs(5)).await;
        assert!(matches!(refused, Err(ExchangeError::RemoteRefused)));
    }
}
