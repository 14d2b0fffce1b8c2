//! The choice of how callers prove who they are.

use http::request::Parts;

use crate::{BearerToken, Denied, TokenError};

/// Decides from a request head whether the caller may go on.
///
/// The whole head is given, not only its headers, because a signature covers the method and the
/// target too. The check reads no clock and no socket, so it may run before anything else is done
/// for the request.
///
/// ```
/// use agui_auth::Authenticator;
///
/// let auth = Authenticator::bearer("s3cret-token")?;
/// let (head, ()) = http::Request::post("/")
///     .header("authorization", "bearer s3cret-token")
///     .body(())
///     .map_err(|_| agui_auth::TokenError::Empty)?
///     .into_parts();
/// assert!(auth.check(&head).is_ok());
/// # Ok::<(), agui_auth::TokenError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Authenticator {
    /// Everybody who can reach the socket may call.
    #[default]
    Open,
    /// One shared secret, sent as `Authorization: Bearer <token>`.
    Bearer(BearerToken),
}

impl Authenticator {
    /// An authenticator that asks for one shared token.
    ///
    /// # Errors
    /// [`TokenError`] if no client could send this token in a header.
    pub fn bearer(token: impl Into<String>) -> Result<Self, TokenError> {
        BearerToken::new(token).map(Self::Bearer)
    }

    /// Whether callers have to show anything; `false` for [`Open`](Self::Open).
    #[must_use]
    pub const fn is_required(&self) -> bool {
        !matches!(self, Self::Open)
    }

    /// Lets the caller in or tells why not.
    ///
    /// # Errors
    /// [`Denied`], which holds the status and the challenge to answer with.
    ///
    /// Source: S1.5; RFC 6750 section 2.1.
    pub fn check(&self, head: &Parts) -> Result<(), Denied> {
        match self {
            Self::Open => Ok(()),
            Self::Bearer(token) => token.check(&head.headers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Parts {
        http::Request::post("/").body(()).unwrap().into_parts().0
    }

    #[test]
    fn an_open_server_asks_nobody() {
        let auth = Authenticator::default();
        assert!(!auth.is_required());
        assert!(auth.check(&head()).is_ok());
    }

    #[test]
    fn a_token_makes_credentials_required() {
        let auth = Authenticator::bearer("t").unwrap();
        assert!(auth.is_required());
        assert!(auth.check(&head()).is_err());
    }

    #[test]
    fn debug_output_keeps_the_token_to_itself() {
        let auth = Authenticator::bearer("hunter2").unwrap();
        assert_eq!(format!("{auth:?}"), "Bearer(BearerToken(..))");
    }
}
