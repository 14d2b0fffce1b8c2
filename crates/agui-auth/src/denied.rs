//! What a refused caller is told.

use http::{HeaderValue, StatusCode};

/// Why a caller was refused. For logs and tests: a client learns only the status and the challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeniedReason {
    /// No `Authorization` header.
    Missing,
    /// More than one `Authorization` header; which one a proxy in front has checked is unknown.
    Repeated,
    /// The header does not use the scheme that was asked for.
    OtherScheme,
    /// The credentials are not the right ones.
    Unknown,
}

/// A refusal, ready to become an HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the caller was refused ({status}, {reason:?})")]
pub struct Denied {
    reason: DeniedReason,
    status: StatusCode,
    challenge: Option<HeaderValue>,
}

impl Denied {
    pub(crate) const fn bearer(reason: DeniedReason) -> Self {
        Self { reason, status: StatusCode::UNAUTHORIZED, challenge: Some(HeaderValue::from_static("Bearer")) }
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
        let denied = Denied::bearer(DeniedReason::Unknown);
        assert_eq!(denied.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(denied.challenge(), Some(&HeaderValue::from_static("Bearer")));
    }
}
