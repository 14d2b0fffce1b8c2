//! What `WWW-Authenticate` says.

use std::fmt;
use std::str::FromStr;

use http::{HeaderValue, Uri};

use crate::{ConfigError, DeniedReason};

/// Where a client finds out whom to ask for a token: the address of an RFC 9728 document.
///
/// [`RuntimeArn::resource_metadata_url`](crate::RuntimeArn::resource_metadata_url) gives the one of an agent runtime.
///
/// ```
/// use agui_auth::{BearerToken, ResourceMetadataUrl};
/// use http::HeaderMap;
///
/// let url: ResourceMetadataUrl = "https://agent.example.com/.well-known/oauth-protected-resource".parse()?;
/// let token = BearerToken::new("s3cret-token")?.with_resource_metadata(&url);
/// let denied = token.check(&HeaderMap::new()).unwrap_err();
/// assert_eq!(denied.challenge().unwrap(), &format!("Bearer resource_metadata=\"{url}\""));
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
///
/// Source: R33, R34; RFC 9728 section 5.1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceMetadataUrl(Box<str>);

impl ResourceMetadataUrl {
    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ResourceMetadataUrl {
    type Err = ConfigError;

    /// Takes an absolute `http` or `https` URL that stands in a quoted header value as it is.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let uri: Uri = text.parse().map_err(|_| ConfigError::MetadataUrl)?;
        let absolute = matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        let quotable = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
        if absolute && quotable { Ok(Self(text.into())) } else { Err(ConfigError::MetadataUrl) }
    }
}

impl fmt::Display for ResourceMetadataUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const SCHEME: &str = "Bearer";

/// How a refused client is asked for a bearer token.
#[derive(Debug, Clone)]
pub(crate) struct Challenge {
    missing: HeaderValue,
    invalid: HeaderValue,
    #[cfg(feature = "jwt")]
    scope: HeaderValue,
}

impl Challenge {
    /// `Bearer` and nothing else, whatever happened (S1.5).
    pub(crate) const fn plain() -> Self {
        const PLAIN: HeaderValue = HeaderValue::from_static(SCHEME);
        Self {
            missing: PLAIN,
            invalid: PLAIN,
            #[cfg(feature = "jwt")]
            scope: PLAIN,
        }
    }

    /// Tells where the metadata is and, once a token was shown, what is wrong with it.
    ///
    /// Without a token the value is byte for byte what R34 gives, and RFC 6750 section 3.1 wants no error
    /// code there; with one, the code comes first and the address stays.
    pub(crate) fn detailed(metadata: Option<&ResourceMetadataUrl>) -> Self {
        let at = metadata.map(|url| ("resource_metadata", url.as_str()));
        Self {
            missing: bearer([at, None, None]),
            invalid: bearer([Some(("error", "invalid_token")), at, None]),
            #[cfg(feature = "jwt")]
            scope: bearer([Some(("error", "insufficient_scope")), at, None]),
        }
    }

    /// Names the scopes that would do, for a caller whose token lacks them.
    #[cfg(feature = "jwt")]
    pub(crate) fn with_scopes(mut self, metadata: Option<&ResourceMetadataUrl>, scopes: &str) -> Self {
        let at = metadata.map(|url| ("resource_metadata", url.as_str()));
        self.scope = bearer([Some(("error", "insufficient_scope")), Some(("scope", scopes)), at]);
        self
    }

    /// The value for a caller without a usable token.
    pub(crate) fn for_token(&self, reason: DeniedReason) -> HeaderValue {
        match reason {
            DeniedReason::Missing | DeniedReason::OtherScheme => self.missing.clone(),
            _ => self.invalid.clone(),
        }
    }

    /// The value for a caller whose token lacks a scope.
    #[cfg(feature = "jwt")]
    pub(crate) fn for_scope(&self) -> HeaderValue {
        self.scope.clone()
    }
}

fn bearer(parameters: [Option<(&str, &str)>; 3]) -> HeaderValue {
    let parameters: Vec<String> =
        parameters.into_iter().flatten().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    let text =
        if parameters.is_empty() { SCHEME.to_owned() } else { format!("{SCHEME} {}", parameters.join(", ")) };
    // Every value was checked to be visible ASCII; the bare scheme is the safe way out.
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(SCHEME))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://bedrock-agentcore.us-west-2.amazonaws.com/runtimes/x/invocations/.well-known/oauth-protected-resource?qualifier=DEFAULT";

    #[test]
    fn r34_a_missing_token_is_asked_for_with_the_address_and_nothing_else() {
        let challenge = Challenge::detailed(Some(&URL.parse().unwrap()));
        assert_eq!(challenge.for_token(DeniedReason::Missing), format!("Bearer resource_metadata=\"{URL}\""));
    }

    #[test]
    fn r33_a_bad_token_is_told_what_is_wrong_and_where_to_go() {
        let challenge = Challenge::detailed(Some(&URL.parse().unwrap()));
        assert_eq!(
            challenge.for_token(DeniedReason::Expired),
            format!("Bearer error=\"invalid_token\", resource_metadata=\"{URL}\"")
        );
    }

    #[test]
    fn without_metadata_the_error_stands_alone() {
        let challenge = Challenge::detailed(None);
        assert_eq!(challenge.for_token(DeniedReason::Missing), "Bearer");
        assert_eq!(challenge.for_token(DeniedReason::Signature), "Bearer error=\"invalid_token\"");
    }

    #[test]
    fn s1_5_the_plain_challenge_says_bearer_whatever_happened() {
        for reason in [DeniedReason::Missing, DeniedReason::Unknown, DeniedReason::Repeated] {
            assert_eq!(Challenge::plain().for_token(reason), "Bearer", "{reason:?}");
        }
    }

    #[test]
    fn an_address_that_would_break_the_header_is_refused() {
        for text in [
            "",
            "/path",
            "example.com",
            "ftp://example.com/",
            "https://a/\"",
            "https://a/\\",
            "https://a/é",
            "https://a/ b",
        ] {
            assert!(text.parse::<ResourceMetadataUrl>().is_err(), "{text}");
        }
        assert!("http://127.0.0.1:8080/.well-known/x?q=1".parse::<ResourceMetadataUrl>().is_ok());
    }
}
