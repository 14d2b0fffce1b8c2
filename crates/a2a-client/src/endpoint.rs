//! Where the peer is, and what its card may say about that.

use std::net::IpAddr;

use http_exchange::{Address, Dialer};

use crate::{ClientConfig, ClientError};

/// What connects to the peer of a configuration.
pub(crate) fn dialer(config: &ClientConfig) -> Result<Dialer, ClientError> {
    let address = Address::parse(&config.url)?;
    if !config.allow_remote && !address.is_local_name() {
        return Err(ClientError::RemoteRefused);
    }
    #[cfg(feature = "tls")]
    let dialer = Dialer::with_tls(address, config.tls.clone())?;
    #[cfg(not(feature = "tls"))]
    let dialer = Dialer::new(address)?;
    Ok(if config.allow_remote { dialer } else { dialer.local_only() })
}

/// The configuration with the default one for TLS, which takes a while to make, for several clients.
#[cfg(feature = "tls")]
pub(crate) fn with_shared_tls(mut config: ClientConfig) -> Result<ClientConfig, ClientError> {
    if config.tls.is_none() && Address::parse(&config.url)?.is_https() {
        config.tls = Some(http_exchange::default_config()?);
    }
    Ok(config)
}

/// Whether both are reached by the same host name and port.
pub(crate) fn is_same_server(one: &Address, other: &Address) -> bool {
    one.is_https() == other.is_https()
        && one.port() == other.port()
        && one.host().eq_ignore_ascii_case(other.host())
}

/// Whether `named` is the name that the program at `server` gives itself on its own machine, which is where it
/// is reached on the same port: `localhost`, a loopback address, or "all addresses".
pub(crate) fn is_own_name_of(server: &Address, named: &Address) -> bool {
    let unspecified = named.host().parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified());
    server.port() == named.port() && (unspecified || named.is_local_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_need_leave() {
        let cases = [
            ("http://127.0.0.1:9102/", false, None),
            ("http://10.0.0.1/", false, Some("address is not on this machine")),
            ("https://kernel.example/", false, Some("address is not on this machine")),
            ("http://kernel.example/", true, None),
            ("ftp://127.0.0.1/", true, Some("address is not a plain http URL")),
        ];
        for (url, allowed, refused) in cases {
            let mut config = ClientConfig::new(url);
            config.allow_remote = allowed;
            assert_eq!(dialer(&config).err().map(|error| error.to_string()).as_deref(), refused, "{url}");
        }
    }
}
