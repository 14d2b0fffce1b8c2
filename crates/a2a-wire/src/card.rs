use serde::Deserialize;
use serde_json::value::RawValue;

use crate::reply::as_text;
use crate::tolerant::or_default;
use crate::{DecodeError, ProtocolVersion};

/// Name of the binding that this crate speaks.
const JSONRPC: &str = "JSONRPC";

/// What a server says about itself.
///
/// ```
/// use a2a_wire::{AgentCard, ProtocolVersion};
///
/// let card = AgentCard::decode(br#"{"name":"Writer","version":"1.2.0","capabilities":{"streaming":true},
///     "supportedInterfaces":[
///         {"url":"http://127.0.0.1:9999/grpc","protocolBinding":"GRPC","protocolVersion":"1.0"},
///         {"url":"http://127.0.0.1:9999/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#)?;
/// let (interface, version) = card.interface().expect("JSON-RPC is spoken");
/// assert_eq!((interface.url.as_str(), version), ("http://127.0.0.1:9999/", ProtocolVersion::V1_0));
/// # Ok::<(), a2a_wire::DecodeError>(())
/// ```
///
/// Source: A2A 1.0 and 0.3 `AgentCard`.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AgentCard {
    /// Name for people.
    pub name: String,
    /// The agent's own version.
    pub version: String,
    /// Where and how it can be reached, most preferred first.
    pub interfaces: Vec<AgentInterface>,
    /// Whether it can stream.
    pub streaming: bool,
    /// Extensions that it knows.
    pub extensions: Vec<AgentExtension>,
}

/// One address of an agent.
///
/// Example: see [`AgentCard`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentInterface {
    /// Address.
    pub url: String,
    /// `JSONRPC`, `HTTP+JSON`, `GRPC` or another name.
    pub binding: String,
    /// Protocol version as it is written, for example `1.0`.
    pub protocol_version: String,
    /// Tenant that requests must name.
    pub tenant: Option<String>,
}

impl AgentInterface {
    /// The version to speak there; `None` if the binding or the version is not known here.
    ///
    /// The major number decides, an absent version is 0.3.
    #[must_use]
    pub fn speaks(&self) -> Option<ProtocolVersion> {
        if !self.binding.eq_ignore_ascii_case(JSONRPC) {
            return None;
        }
        match self.protocol_version.split('.').next() {
            Some("1") => Some(ProtocolVersion::V1_0),
            Some("0" | "") | None => Some(ProtocolVersion::V0_3),
            Some(_) => None,
        }
    }
}

/// An extension that an agent knows.
///
/// Source: A2A 1.0 `AgentCard.capabilities.extensions`.
#[derive(Debug, Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct AgentExtension {
    /// Name of the extension.
    #[serde(deserialize_with = "or_default")]
    pub uri: String,
    /// Whether requests that do not name it are refused.
    #[serde(deserialize_with = "or_default")]
    pub required: bool,
    /// Free-form object.
    pub params: Option<Box<RawValue>>,
}

impl AgentCard {
    /// Reads a card of either version.
    ///
    /// # Errors
    /// [`DecodeError`] if `bytes` is no JSON object, or a known member has another type.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let members: Members = serde_json::from_str(as_text(bytes)?)?;
        let mut interfaces: Vec<_> =
            members.supported_interfaces.into_iter().map(Address::into_1_0).collect();
        if interfaces.is_empty() {
            let version = members.protocol_version;
            let main = Address {
                url: members.url,
                transport: members.preferred_transport.or_else(|| Some(JSONRPC.to_owned())),
                ..Address::default()
            };
            let addresses = std::iter::once(main).chain(members.additional_interfaces);
            interfaces = addresses.map(|address| address.into_0_3(&version)).collect();
            interfaces.retain(|interface| !interface.url.is_empty());
            interfaces.dedup();
        }
        Ok(Self {
            name: members.name,
            version: members.version,
            interfaces,
            streaming: members.capabilities.streaming,
            extensions: members.capabilities.extensions,
        })
    }

    /// The most preferred address that this crate can talk to, with the version to speak there.
    #[must_use]
    pub fn interface(&self) -> Option<(&AgentInterface, ProtocolVersion)> {
        self.interfaces.iter().find_map(|interface| Some((interface, interface.speaks()?)))
    }

    /// The extension with that name.
    #[must_use]
    pub fn extension(&self, uri: &str) -> Option<&AgentExtension> {
        self.extensions.iter().find(|extension| extension.uri == uri)
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Members {
    #[serde(deserialize_with = "or_default")]
    name: String,
    #[serde(deserialize_with = "or_default")]
    version: String,
    #[serde(deserialize_with = "or_default")]
    supported_interfaces: Vec<Address>,
    #[serde(deserialize_with = "or_default")]
    capabilities: CapabilityMembers,
    #[serde(deserialize_with = "or_default")]
    url: String,
    preferred_transport: Option<String>,
    #[serde(deserialize_with = "or_default")]
    protocol_version: String,
    #[serde(deserialize_with = "or_default")]
    additional_interfaces: Vec<Address>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CapabilityMembers {
    #[serde(deserialize_with = "or_default")]
    streaming: bool,
    #[serde(deserialize_with = "or_default")]
    extensions: Vec<AgentExtension>,
}

/// An address with the members of both versions.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Address {
    #[serde(deserialize_with = "or_default")]
    url: String,
    protocol_binding: Option<String>,
    protocol_version: Option<String>,
    transport: Option<String>,
    tenant: Option<String>,
}

impl Address {
    fn into_1_0(self) -> AgentInterface {
        AgentInterface {
            url: self.url,
            binding: self.protocol_binding.or(self.transport).unwrap_or_default(),
            protocol_version: self.protocol_version.unwrap_or_default(),
            tenant: self.tenant.filter(|tenant| !tenant.is_empty()),
        }
    }

    fn into_0_3(self, version: &str) -> AgentInterface {
        let mut interface = self.into_1_0();
        if interface.protocol_version.is_empty() {
            version.clone_into(&mut interface.protocol_version);
        }
        interface
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(json: &str) -> Vec<String> {
        let card = AgentCard::decode(json.as_bytes()).unwrap();
        card.interfaces
            .iter()
            .map(|interface| {
                format!(
                    "{} {} {} {:?}",
                    interface.url,
                    interface.binding,
                    interface.protocol_version,
                    interface.speaks()
                )
            })
            .collect()
    }

    #[test]
    fn addresses_of_both_versions_are_read_in_order_of_preference() {
        let card_1_0 = r#"{"name":"k","url":"http://127.0.0.1:1/","protocolVersion":"0.3.0",
            "supportedInterfaces":[
              {"url":"http://127.0.0.1:1/grpc","protocolBinding":"GRPC","protocolVersion":"1.0"},
              {"url":"http://127.0.0.1:1/","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":""},
              {"url":"http://127.0.0.1:1/next","protocolBinding":"JSONRPC","protocolVersion":"2.0"}]}"#;
        assert_eq!(
            summary(card_1_0),
            [
                "http://127.0.0.1:1/grpc GRPC 1.0 None",
                "http://127.0.0.1:1/ JSONRPC 1.0 Some(V1_0)",
                "http://127.0.0.1:1/next JSONRPC 2.0 None",
            ]
        );
        let card_0_3 = r#"{"url":"http://127.0.0.1:1/","preferredTransport":"JSONRPC","protocolVersion":"0.3.0",
            "additionalInterfaces":[{"url":"http://127.0.0.1:1/","transport":"JSONRPC"},
                                    {"url":"http://127.0.0.1:1/rest","transport":"HTTP+JSON"}]}"#;
        assert_eq!(
            summary(card_0_3),
            ["http://127.0.0.1:1/ JSONRPC 0.3.0 Some(V0_3)", "http://127.0.0.1:1/rest HTTP+JSON 0.3.0 None"]
        );
        assert_eq!(summary("{}"), Vec::<String>::new());
    }

    #[test]
    fn capabilities_are_read_and_absent_ones_are_off() {
        let card = AgentCard::decode(
            br#"{"name":"k","version":"0.16.0","supportedInterfaces":null,"capabilities":{"streaming":true,
                "extensions":[{"uri":"urn:a","params":{"maxBatchEvents":1024}},{"uri":"urn:b","required":true}]}}"#,
        )
        .unwrap();
        let params = card.extension("urn:a").and_then(|extension| extension.params.as_deref());
        assert_eq!(params.map(RawValue::get), Some(r#"{"maxBatchEvents":1024}"#));
        assert_eq!(card.extension("urn:b").map(|extension| extension.required), Some(true));
        assert!(card.extension("urn:c").is_none());
        assert!(card.streaming && !AgentCard::decode(b"{}").unwrap().streaming);
    }
}
