//! A static bearer token.

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::{Denied, DeniedReason};

/// Why a configured token is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// Nothing, or nothing but white space.
    #[error("the bearer token is empty")]
    Empty,
    /// A control character or white space, which no `Authorization` header can carry unchanged.
    #[error("the bearer token holds a character that a header cannot carry")]
    Unsendable,
}

/// One shared secret; wiped when the last copy is dropped, never shown.
#[derive(Clone)]
pub struct BearerToken(Arc<Zeroizing<String>>);

impl BearerToken {
    /// Takes the secret as it was configured.
    ///
    /// # Errors
    /// [`TokenError`] if the text is blank, or holds white space or a control character: a client
    /// could then never send it, and the server would refuse everybody.
    pub fn new(token: impl Into<String>) -> Result<Self, TokenError> {
        let token = Zeroizing::new(token.into());
        if token.trim().is_empty() {
            return Err(TokenError::Empty);
        }
        if token.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(TokenError::Unsendable);
        }
        Ok(Self(Arc::new(token)))
    }

    /// Looks for this token in the one `Authorization` header.
    ///
    /// The time taken depends on the lengths of the two tokens, not on where they differ.
    ///
    /// # Errors
    /// [`Denied`] with status 401 and the challenge `Bearer`.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Denied> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let value = values.next().ok_or_else(|| Denied::bearer(DeniedReason::Missing))?;
        if values.next().is_some() {
            return Err(Denied::bearer(DeniedReason::Repeated));
        }
        let sent =
            bearer_credentials(value.as_bytes()).ok_or_else(|| Denied::bearer(DeniedReason::OtherScheme))?;
        if bool::from(sent.ct_eq(self.0.as_bytes())) {
            Ok(())
        } else {
            Err(Denied::bearer(DeniedReason::Unknown))
        }
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(..)")
    }
}

/// The part after the scheme. Bytes, not text: a header may hold any byte from 0x80 up, and such
/// a value is a wrong token, not a fault of the server (weakness 59).
fn bearer_credentials(value: &[u8]) -> Option<&[u8]> {
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
            ("", TokenError::Empty),
            (" \t", TokenError::Empty),
            ("a b", TokenError::Unsendable),
            (" a", TokenError::Unsendable),
            ("a\n", TokenError::Unsendable),
            ("a\u{7f}", TokenError::Unsendable),
        ];
        for (token, expected) in table {
            assert_eq!(BearerToken::new(token).unwrap_err(), expected, "{token:?}");
        }
    }
}
