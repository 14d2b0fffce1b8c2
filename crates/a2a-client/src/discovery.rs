//! From the address of an agent to a client that speaks as its card says.

use a2a_wire::{AgentCard, AgentInterface, ProtocolVersion};
use http::Uri;
use http_exchange::Address;

use crate::endpoint;
use crate::{Client, ClientConfig, ClientError};

/// Where 1.0 and 0.3 keep the card; some agents of 0.3 and all of 0.2 have it at the second place.
const CARDS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// An agent, as its card describes it.
///
/// Example: see [`discover`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Discovered {
    /// Speaks to the most preferred interface that this crate can talk to.
    pub client: Client,
    /// The card.
    pub card: AgentCard,
    /// The version that the client speaks.
    pub version: ProtocolVersion,
}

/// Reads the agent card at the address of `config` and makes a client as it says: interface, version,
/// tenant, and whether the agent can stream.
///
/// The address is that of the agent or of the card itself (when it ends with `.json`), and its host and port
/// are those that are talked to, whatever the card says: who writes the card must not choose where requests of
/// this machine go. A card whose interface has the agent's own name for itself (`localhost`, `0.0.0.0`) on the
/// same port means the address. With [`ClientConfig::allow_remote`] and without a token, a card may name another
/// server, if that is neither on this machine nor in a nearer network than the address, and no step back
/// from `https` to `http`. The token goes to the host of the address only.
///
/// ```no_run
/// use a2a_client::{ClientConfig, discover};
///
/// # async fn run() -> Result<(), a2a_client::ClientError> {
/// let agent = discover(ClientConfig::of_unknown_agent("http://127.0.0.1:9999/")).await?;
/// println!("{} speaks {:?}", agent.card.name, agent.version);
/// let updates = agent.client.subscribe("task-1").await?;
/// # drop(updates);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ClientError::NoCard`], [`ClientError::NoInterface`], [`ClientError::ForeignInterface`],
/// [`ClientError::InterfaceElsewhere`], or what keeps the card from being read.
pub async fn discover(config: ClientConfig) -> Result<Discovered, ClientError> {
    #[cfg(feature = "tls")]
    let config = endpoint::with_shared_tls(config)?;
    let base = Client::new(config.clone())?;
    let card = base.agent_card().await?;
    let mut refused = None;
    for (interface, version) in card.interfaces.iter().filter_map(|it| Some((it, it.speaks()?))) {
        match connect(&config, base.address(), &card, interface, version) {
            Ok(client) => return Ok(Discovered { client, card, version }),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or(ClientError::NoInterface { offers: offers(&card) }))
}

impl Client {
    /// Reads what the agent says about itself: at the well-known places below the configured address, then
    /// below the root of its origin; at the configured address itself if that ends with `.json`.
    ///
    /// # Errors
    /// [`ClientError::NoCard`] if none is there, else [`ClientError`].
    pub async fn agent_card(&self) -> Result<AgentCard, ClientError> {
        for place in places(self.address().target().path()) {
            let uri: Uri = place.parse().map_err(|_| ClientError::InvalidUrl)?;
            match self.get(uri).await?.into_json() {
                Ok(json) => return Ok(AgentCard::decode(&json)?),
                Err(error) if is_not_there(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(ClientError::NoCard)
    }
}

/// Where the card may be, the likeliest place first.
fn places(path: &str) -> Vec<String> {
    if path.ends_with(".json") {
        return vec![path.to_owned()];
    }
    let prefix = path.trim_end_matches('/');
    let mut places = Vec::new();
    for card in CARDS {
        places.push(format!("{prefix}{card}"));
        if !prefix.is_empty() {
            places.push(card.to_owned());
        }
    }
    places
}

/// Whether an answer says that the card is not at this place; a web page is no card either.
fn is_not_there(error: &ClientError) -> bool {
    match error {
        ClientError::Http(failure) => matches!(failure.status, 404 | 405 | 410),
        ClientError::UnexpectedContent { .. } => true,
        _ => false,
    }
}

fn connect(
    config: &ClientConfig,
    base: &Address,
    card: &AgentCard,
    interface: &AgentInterface,
    version: ProtocolVersion,
) -> Result<Client, ClientError> {
    let mut config = config.clone();
    config.version = version;
    config.tenant.clone_from(&interface.tenant);
    config.streaming = card.streaming;
    let named = Address::parse(&interface.url)?;
    if endpoint::is_same_server(base, &named) {
        config.url.clone_from(&interface.url);
    } else if endpoint::is_own_name_of(base, &named) {
        let authority = base.authority().to_str().map_err(|_| ClientError::InvalidUrl)?;
        let scheme = if base.is_https() { "https" } else { "http" };
        config.url = format!("{scheme}://{authority}{}", named.target());
    } else if config.token.is_some() {
        return Err(ClientError::ForeignInterface);
    } else if !(config.allow_remote && endpoint::may_lead_to(base, &named)) {
        return Err(ClientError::InterfaceElsewhere);
    } else {
        config.url.clone_from(&interface.url);
    }
    Client::new(config)
}

/// What a card without a usable interface offers; never its own words.
fn offers(card: &AgentCard) -> &'static str {
    let has = |name: &str| card.interfaces.iter().any(|it| it.binding.eq_ignore_ascii_case(name));
    match (has("JSONRPC"), has("HTTP+JSON"), has("GRPC")) {
        (true, ..) => "JSON-RPC of another version",
        (false, true, true) => "HTTP+JSON and gRPC only",
        (false, true, false) => "HTTP+JSON only",
        (false, false, true) => "gRPC only",
        (false, false, false) => "no known interface",
    }
}

#[cfg(test)]
mod tests {
    use agui_iac_code::Secret;

    use super::*;

    #[test]
    fn the_card_is_looked_for_below_the_address_and_at_the_root() {
        let root = ["/.well-known/agent-card.json", "/.well-known/agent.json"];
        assert_eq!(places("/"), root);
        assert_eq!(
            places("/a2a/"),
            [&format!("/a2a{}", root[0]), root[0], &format!("/a2a{}", root[1]), root[1]]
        );
        assert_eq!(places("/cards/me.json"), ["/cards/me.json"]);
    }

    fn connected(named: &str, token: Option<&str>, allow_remote: bool) -> String {
        let mut config = ClientConfig::new("http://127.0.0.1:9000/");
        config.token = token.map(|token| Secret::new(token.to_owned()));
        config.allow_remote = allow_remote;
        let base = Address::parse(&config.url).unwrap();
        let mut interface = AgentInterface::default();
        interface.url = named.to_owned();
        match connect(&config, &base, &AgentCard::default(), &interface, ProtocolVersion::V1_0) {
            Ok(client) => client.config().url.clone(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_token_never_leaves_the_host_that_was_named() {
        let foreign = ClientError::ForeignInterface.to_string();
        let elsewhere = ClientError::InterfaceElsewhere.to_string();
        let cases = [
            ("http://127.0.0.1:9000/a2a", Some("t"), false, "http://127.0.0.1:9000/a2a"),
            ("http://localhost:9000/a2a", Some("t"), false, "http://127.0.0.1:9000/a2a"),
            ("http://0.0.0.0:9000/", Some("t"), false, "http://127.0.0.1:9000/"),
            ("http://127.0.0.1:9001/", Some("t"), false, &foreign),
            ("http://agent.example:9000/", Some("t"), true, &foreign),
            ("http://127.0.0.1:9001/", None, false, &elsewhere),
            ("http://127.0.0.1:9001/", None, true, &elsewhere),
            ("https://127.0.0.1:9000/", None, true, "http://127.0.0.1:9000/"),
            ("http://agent.example/", None, false, &elsewhere),
            ("http://agent.example/", None, true, "http://agent.example/"),
            ("grpc", None, true, "address is not a plain http URL"),
        ];
        for (named, token, allow_remote, expected) in cases {
            assert_eq!(connected(named, token, allow_remote), expected, "{named}");
        }
    }

    #[test]
    fn a_card_without_a_usable_interface_says_what_it_offers() {
        let card = |bindings: &[&str]| {
            let mut card = AgentCard::default();
            for binding in bindings {
                let mut interface = AgentInterface::default();
                interface.binding = (*binding).to_owned();
                card.interfaces.push(interface);
            }
            card
        };
        assert_eq!(offers(&card(&["GRPC"])), "gRPC only");
        assert_eq!(offers(&card(&["HTTP+JSON", "grpc"])), "HTTP+JSON and gRPC only");
        assert_eq!(offers(&card(&["HTTP+JSON", "evil words"])), "HTTP+JSON only");
        assert_eq!(offers(&card(&["JSONRPC"])), "JSON-RPC of another version");
        assert_eq!(offers(&card(&[])), "no known interface");
    }
}
