//! Where the peer is, and what its card may say about that.

use std::net::{IpAddr, Ipv4Addr};

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

/// Whether the card of `server` may send its clients to `named`, a server that is not `server` itself: not to
/// this machine, not into a nearer network than the one that `server` is in, and not from `https` to `http`.
pub(crate) fn may_lead_to(server: &Address, named: &Address) -> bool {
    let reach = Reach::of(named);
    reach > Reach::Machine && reach >= Reach::of(server) && (named.is_https() || !server.is_https())
}

/// From where an address can be reached, the nearest first. Where a name leads to is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Machine,
    Network,
    World,
}

impl Reach {
    fn of(address: &Address) -> Self {
        let ip = address.host().parse::<IpAddr>().map(|ip| ip.to_canonical());
        match ip {
            _ if address.is_local_name() => Self::Machine,
            Ok(ip) if ip.is_unspecified() => Self::Machine,
            Ok(IpAddr::V4(ip)) if ip.is_private() || ip.is_link_local() || is_shared(ip) => Self::Network,
            Ok(IpAddr::V6(ip)) if ip.is_unique_local() || ip.is_unicast_link_local() => Self::Network,
            _ => Self::World,
        }
    }
}

/// Whether an address is one of those that providers number their own networks with (RFC 6598).
const fn is_shared(ip: Ipv4Addr) -> bool {
    let [first, second, ..] = ip.octets();
    first == 100 && second & 0b1100_0000 == 64
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
    #[test]
    fn a_card_leads_neither_to_this_machine_nor_into_a_nearer_network() {
        let cases = [
            ("https://agent.example/", "https://api.example/", true),
            ("http://agent.example/", "https://agent.example/", true),
            ("https://agent.example/", "http://api.example/", false),
            ("https://agent.example/", "https://localhost/", false),
            ("https://agent.example/", "https://[::ffff:127.0.0.1]/", false),
            ("https://agent.example/", "https://0.0.0.0/", false),
            ("https://agent.example/", "https://[::]/", false),
            ("http://agent.example/", "http://169.254.169.254/latest/", false),
            ("http://agent.example/", "http://10.0.0.1/", false),
            ("http://agent.example/", "http://100.100.100.200/", false),
            ("http://agent.example/", "http://[fd00::1]/", false),
            ("http://10.0.0.1/", "http://192.168.0.1:8080/", true),
            ("http://10.0.0.1/", "http://127.0.0.1/", false),
            ("http://127.0.0.1/", "http://10.0.0.1/", true),
            ("http://127.0.0.1/", "http://127.0.0.1:81/", false),
        ];
        for (server, named, may) in cases {
            let [from, to] = [server, named].map(|url| Address::parse(url).unwrap());
            assert_eq!(may_lead_to(&from, &to), may, "{server} {named}");
        }
    }
}
