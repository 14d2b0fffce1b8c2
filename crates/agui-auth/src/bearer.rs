//! A static bearer token.

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::challenge::Challenge;
use crate::{ConfigError, Denied, DeniedReason, ResourceMetadataUrl};

/// One shared secret; wiped when the last copy is dropped, never shown.
///
/// ```
/// use agui_auth::BearerToken;
/// use http::{HeaderMap, HeaderValue};
///
/// let token = BearerToken::new("s3cret-token")?;
/// let mut headers = HeaderMap::new();
/// assert_eq!(token.check(&headers).unwrap_err().status().as_u16(), 401);
///
/// headers.insert("authorization", HeaderValue::from_static("bearer s3cret-token"));
/// assert!(token.check(&headers).is_ok());
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
///
/// Source: S1.5.
#[derive(Clone)]
pub struct BearerToken {
    token: Arc<Zeroizing<String>>,
    challenge: Challenge,
}

impl BearerToken {
    /// Takes the secret as it was configured.
    ///
    /// # Errors
    /// [`ConfigError`] if the text is blank, or holds white space or a control character: a client
    /// could then never send it, and the server would refuse everybody.
    pub fn new(token: impl Into<String>) -> Result<Self, ConfigError> {
        let token = Zeroizing::new(token.into());
        if token.trim().is_empty() {
            return Err(ConfigError::EmptyToken);
        }
        if token.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(ConfigError::UnsendableToken);
        }
        Ok(Self { token: Arc::new(token), challenge: Challenge::plain() })
    }

    /// Tells refused callers where the resource metadata is (RFC 9728), and what is wrong with a token
    /// (RFC 6750); without this the challenge is `Bearer` alone.
    #[must_use]
    pub fn with_resource_metadata(mut self, url: &ResourceMetadataUrl) -> Self {
        self.challenge = Challenge::detailed(Some(url));
        self
    }

    /// Looks for this token in the one `Authorization` header.
    ///
    /// The time taken depends on the lengths of the two tokens, not on where they differ.
    ///
    /// # Errors
    /// [`Denied`] with status 401 and a challenge.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Denied> {
        let verdict = bearer_token(headers).and_then(|sent| {
            if bool::from(sent.ct_eq(self.token.as_bytes())) { Ok(()) } else { Err(DeniedReason::Unknown) }
        });
        verdict.map_err(|reason| Denied::unauthorized(reason, self.challenge.for_token(reason)))
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(..)")
    }
}

/// The token of the one `Authorization` header.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Result<&[u8], DeniedReason> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(DeniedReason::Missing)?;
    if values.next().is_some() {
        return Err(DeniedReason::Repeated);
    }
    after_scheme(value.as_bytes()).ok_or(DeniedReason::OtherScheme)
}

/// The part after the scheme. Bytes, not text: a header may hold any byte from 0x80 up, and such
/// a value is a wrong token, not a fault of the server (weakness 59).
fn after_scheme(value: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer";
    let (scheme, rest) = value.split_at_checked(SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) || rest.first() != Some(&b' ') {
        return None;
    }
    Some(rest.trim_ascii())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    type Verdict = Result<(), DeniedReason>;

    fn verdict(token: &str, values: &[&[u8]]) -> Verdict {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        BearerToken::new(token).unwrap().check(&headers).map_err(|denied| denied.reason())
    }

    #[test]
    fn s1_5_only_the_exact_token_under_the_bearer_scheme_is_let_in() {
        let table: &[(&[&[u8]], Verdict)] = &[
            (&[b"Bearer tok-1"], Ok(())),
            (&[b"bearer tok-1"], Ok(())),
            (&[b"BEARER tok-1"], Ok(())),
            (&[b"Bearer   tok-1"], Ok(())),
            (&[], Err(DeniedReason::Missing)),
            (&[b""], Err(DeniedReason::OtherScheme)),
            (&[b"tok-1"], Err(DeniedReason::OtherScheme)),
            (&[b"Bearer"], Err(DeniedReason::OtherScheme)),
            (&[b"Bearertok-1"], Err(DeniedReason::OtherScheme)),
            (&[b"Basic tok-1"], Err(DeniedReason::OtherScheme)),
            (&[b"Bearer "], Err(DeniedReason::Unknown)),
            (&[b"Bearer tok-2"], Err(DeniedReason::Unknown)),
            (&[b"Bearer tok-"], Err(DeniedReason::Unknown)),
            (&[b"Bearer tok-11"], Err(DeniedReason::Unknown)),
            (&[b"Bearer TOK-1"], Err(DeniedReason::Unknown)),
            (&[b"Bearer tok-1 tok-1"], Err(DeniedReason::Unknown)),
            (&[b"Bearer tok-1", b"Bearer tok-1"], Err(DeniedReason::Repeated)),
            (&[b"Bearer wrong", b"Bearer tok-1"], Err(DeniedReason::Repeated)),
        ];
        for (values, expected) in table {
            assert_eq!(verdict("tok-1", values), *expected, "{values:?}");
        }
    }

    #[test]
    fn a_non_ascii_header_is_a_wrong_token_and_nothing_worse() {
        assert_eq!(verdict("tok-1", &["Bearer é".as_bytes()]), Err(DeniedReason::Unknown));
        assert_eq!(verdict("tok-1", &[b"Bearer \xff\xfe"]), Err(DeniedReason::Unknown));
        assert_eq!(verdict("tok-1", &["Béarer tok-1".as_bytes()]), Err(DeniedReason::OtherScheme));
    }

    #[test]
    fn a_non_ascii_token_can_be_configured_and_is_compared_as_bytes() {
        assert_eq!(verdict("clé", &["Bearer clé".as_bytes()]), Ok(()));
        assert_eq!(verdict("clé", &[b"Bearer cl\xe9"]), Err(DeniedReason::Unknown));
    }

    #[test]
    fn a_token_that_nobody_could_send_is_refused_when_configured() {
        let table = [
            ("", ConfigError::EmptyToken),
            (" \t", ConfigError::EmptyToken),
            ("a b", ConfigError::UnsendableToken),
            (" a", ConfigError::UnsendableToken),
            ("a\n", ConfigError::UnsendableToken),
            ("a\u{7f}", ConfigError::UnsendableToken),
        ];
        for (token, expected) in table {
            let error = BearerToken::new(token).unwrap_err();
            assert_eq!(error.to_string(), expected.to_string(), "{token:?}");
        }
    }
}
