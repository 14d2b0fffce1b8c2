//! Where an issuer describes itself.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use http::Uri;

use crate::ConfigError;

/// The end of an OpenID Connect discovery URL.
const OPENID: &str = "/.well-known/openid-configuration";
/// The middle of an OAuth 2.0 authorization server's (RFC 8414), which the issuer's path may follow.
const OAUTH: &str = "/.well-known/oauth-authorization-server";

/// The address of an issuer's discovery document, over TLS unless it is on this machine.
///
/// ```
/// use agui_auth::DiscoveryUrl;
///
/// let url: DiscoveryUrl = "https://login.example.com/tenant/.well-known/openid-configuration".parse()?;
/// assert_eq!(url.issuer(), "https://login.example.com/tenant");
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryUrl {
    uri: Uri,
    issuer: Box<str>,
}

impl DiscoveryUrl {
    /// The issuer that has its document at this address, by the rules of OpenID Connect and RFC 8414: what to
    /// put into [`ResourceMetadata`](crate::ResourceMetadata). Tokens are compared with the issuer that the
    /// document itself names.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    pub(super) const fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Whether keys may come from this address: over TLS, or from this machine if the document does too.
    pub(super) fn may_name(&self, keys: &Uri) -> bool {
        is_https(keys) || (is_plain_loopback(&self.uri) && is_plain_loopback(keys))
    }
}

impl FromStr for DiscoveryUrl {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let uri: Uri = text.parse().map_err(|_| ConfigError::DiscoveryUrl)?;
        let plain = !text.contains(|c: char| c == '?' || c == '#' || c.is_whitespace());
        if !plain || !(is_https(&uri) || is_plain_loopback(&uri)) {
            return Err(ConfigError::DiscoveryUrl);
        }
        let issuer = issuer_of(text).ok_or(ConfigError::DiscoveryUrl)?.into();
        Ok(Self { uri, issuer })
    }
}

impl fmt::Display for DiscoveryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uri.fmt(f)
    }
}

fn issuer_of(text: &str) -> Option<String> {
    if let Some(issuer) = text.strip_suffix(OPENID) {
        return Some(issuer.to_owned());
    }
    let (origin, path) = text.split_once(OAUTH)?;
    (path.is_empty() || (path.starts_with('/') && path.len() > 1)).then(|| format!("{origin}{path}"))
}

fn is_https(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https") && has_host(uri)
}

fn is_plain_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let loopback = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    uri.scheme_str() == Some("http") && loopback && has_host(uri)
}

/// A host and nothing before it: credentials in an address end up in logs.
fn has_host(uri: &Uri) -> bool {
    uri.authority().is_some_and(|authority| !authority.host().is_empty() && !authority.as_str().contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_issuer_follows_from_either_kind_of_address() {
        let table = [
            ("https://a.example/.well-known/openid-configuration", "https://a.example"),
            ("https://a.example/x/y/.well-known/openid-configuration", "https://a.example/x/y"),
            ("https://a.example/.well-known/oauth-authorization-server", "https://a.example"),
            ("https://a.example/.well-known/oauth-authorization-server/x", "https://a.example/x"),
            ("http://127.0.0.1:9/.well-known/openid-configuration", "http://127.0.0.1:9"),
            ("http://[::1]:9/.well-known/openid-configuration", "http://[::1]:9"),
            ("http://localhost/.well-known/openid-configuration", "http://localhost"),
        ];
        for (text, issuer) in table {
            assert_eq!(text.parse::<DiscoveryUrl>().unwrap().issuer(), issuer, "{text}");
        }
    }

    #[test]
    fn an_address_that_others_could_answer_or_that_is_none_is_refused() {
        let table = [
            "",
            "a.example/.well-known/openid-configuration",
            "http://a.example/.well-known/openid-configuration",
            "http://127.0.0.1.example/.well-known/openid-configuration",
            "http://localhost@a.example/.well-known/openid-configuration",
            "https://user:pass@a.example/.well-known/openid-configuration",
            "ftp://a.example/.well-known/openid-configuration",
            "https://a.example/",
            "https://a.example/.well-known/openid-configuration/x",
            "https://a.example/.well-known/openid-configuration?x",
            "https://a.example/.well-known/openid-configuration#x",
            "https://a.example/.well-known/oauth-authorization-server/",
            "https://a.example/.well-known/oauth-authorization-serverx",
        ];
        for text in table {
            assert!(matches!(text.parse::<DiscoveryUrl>(), Err(ConfigError::DiscoveryUrl)), "{text}");
        }
    }

    #[test]
    fn keys_come_over_tls_or_from_this_machine_when_the_document_does() {
        let remote: DiscoveryUrl = "https://a.example/.well-known/openid-configuration".parse().unwrap();
        let local: DiscoveryUrl = "http://127.0.0.1:9/.well-known/openid-configuration".parse().unwrap();
        let table = [
            ("https://b.example/keys", true, true),
            ("http://127.0.0.1:8/keys", false, true),
            ("http://a.example/keys", false, false),
            ("/keys", false, false),
            ("https://u@a.example/keys", false, false),
        ];
        for (keys, from_remote, from_local) in table {
            let keys: Uri = keys.parse().unwrap();
            assert_eq!((remote.may_name(&keys), local.may_name(&keys)), (from_remote, from_local), "{keys}");
        }
    }
}
