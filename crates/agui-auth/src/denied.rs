//! What a refused caller is told.

use agui_iac_code::ErrorCode;
use http::{HeaderValue, StatusCode};

/// Why a caller was refused. For logs and tests: a client learns only the status, the code and the challenge.
///
/// Example: see [`Denied`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeniedReason {
    /// Nothing that identifies the caller.
    Missing,
    /// Credentials were sent twice; which of them a proxy in front has checked is unknown.
    Repeated,
    /// The header does not use the scheme that was asked for.
    OtherScheme,
    /// The shared token or the access key is not the right one.
    Unknown,
    /// The credentials do not have the form of their scheme.
    Malformed,
    /// A token signed in a way that is not accepted here: not at all, with a shared secret, or with an old algorithm.
    Algorithm,
    /// The issuer has no such key.
    UnknownKey,
    /// The signature does not fit.
    Signature,
    /// A token of somebody else than the configured issuer.
    Issuer,
    /// The token or signature is too old.
    Expired,
    /// The token or signature is not valid yet.
    NotYetValid,
    /// The token was made for somebody else.
    Audience,
    /// The token was given to a client that may not call.
    Client,
    /// The token lacks a scope.
    Scope,
    /// A claim is missing or has a value that is not allowed.
    Claim,
    /// The issuer cannot be asked for its keys, and none that are fresh enough are left. No fault of the caller.
    KeysUnavailable,
    /// A signature made for another day, region or service.
    CredentialScope,
    /// A header that has to be signed is not, or is not there.
    UnsignedHeader,
    /// The session token is missing, wrong, or was not asked for.
    SessionToken,
    /// The body is not the one that was signed, or was not signed although it has to be.
    Payload,
}

/// A refusal, ready to become an HTTP answer.
///
/// ```
/// use agui_auth::{BearerToken, DeniedReason};
/// use http::HeaderMap;
///
/// let denied = BearerToken::new("s3cret-token")?.check(&HeaderMap::new()).unwrap_err();
/// assert_eq!((denied.status().as_u16(), denied.code().as_str()), (401, "UNAUTHORIZED"));
/// assert_eq!(denied.reason(), DeniedReason::Missing);
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
///
/// Source: R31, R33, R35.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the caller was refused ({status}, {reason:?})")]
pub struct Denied {
    reason: DeniedReason,
    status: StatusCode,
    code: ErrorCode,
    challenge: Option<HeaderValue>,
}

impl Denied {
    /// The caller has to show another token.
    pub(crate) const fn unauthorized(reason: DeniedReason, challenge: HeaderValue) -> Self {
        let (status, code) = (StatusCode::UNAUTHORIZED, ErrorCode::Unauthorized);
        Self { reason, status, code, challenge: Some(challenge) }
    }

    /// The caller is known, and may not do this.
    #[cfg(any(feature = "jwt", feature = "sigv4"))]
    pub(crate) const fn forbidden(reason: DeniedReason, challenge: Option<HeaderValue>) -> Self {
        Self { reason, status: StatusCode::FORBIDDEN, code: ErrorCode::AccessDenied, challenge }
    }

    /// Nobody can be let in at the moment.
    #[cfg(feature = "jwt")]
    pub(crate) const fn unavailable(reason: DeniedReason) -> Self {
        let (status, code) = (StatusCode::SERVICE_UNAVAILABLE, ErrorCode::ServerBusy);
        Self { reason, status, code, challenge: None }
    }

    /// Why; not for the client.
    #[must_use]
    pub const fn reason(&self) -> DeniedReason {
        self.reason
    }

    /// The status to answer with.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The public code: `UNAUTHORIZED` (401), `ACCESS_DENIED` (403), or `SERVER_BUSY` (503).
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        self.code
    }

    /// The value of `WWW-Authenticate`; `None` where the scheme has no challenge.
    #[must_use]
    pub const fn challenge(&self) -> Option<&HeaderValue> {
        self.challenge.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_5_a_refusal_asks_for_a_bearer_token() {
        let denied = Denied::unauthorized(DeniedReason::Unknown, HeaderValue::from_static("Bearer"));
        assert_eq!(denied.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(denied.code(), ErrorCode::Unauthorized);
        assert_eq!(denied.challenge(), Some(&HeaderValue::from_static("Bearer")));
        assert_eq!(denied.to_string(), "the caller was refused (401 Unauthorized, Unknown)");
    }
}
