//! The choice of how callers prove who they are.

use http::HeaderMap;
use http::request::Parts;

#[cfg(feature = "jwt")]
use crate::JwtVerifier;
#[cfg(feature = "sigv4")]
use crate::SigV4Verifier;
use crate::{BearerToken, Caller, ConfigError, Denied};

/// Decides from a request whether the caller may go on.
///
/// Ask [`check`](Self::check) before the body is read and, where [`needs_body`](Self::needs_body) says so,
/// [`check_body`](Self::check_body) after it, for every request: without a body, with an empty one.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use agui_auth::Authenticator;
///
/// let auth = Authenticator::bearer("s3cret-token")?;
/// let request = http::Request::post("/").header("authorization", "bearer s3cret-token").body(())?;
/// let (head, ()) = request.into_parts();
/// assert!(auth.check(&head).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Authenticator {
    /// Everybody who can reach the socket may call.
    #[default]
    Open,
    /// One shared secret, sent as `Authorization: Bearer <token>`.
    Bearer(BearerToken),
    /// A token that an OpenID issuer signed, sent in the same way.
    #[cfg(feature = "jwt")]
    Jwt(JwtVerifier),
    /// A request signed with AWS credentials.
    #[cfg(feature = "sigv4")]
    SigV4(SigV4Verifier),
}

impl Authenticator {
    /// An authenticator that asks for one shared token.
    ///
    /// # Errors
    /// [`ConfigError`] if no client could send this token in a header.
    pub fn bearer(token: impl Into<String>) -> Result<Self, ConfigError> {
        BearerToken::new(token).map(Self::Bearer)
    }

    /// Whether callers have to show anything; `false` for [`Open`](Self::Open).
    #[must_use]
    pub const fn is_required(&self) -> bool {
        !matches!(self, Self::Open)
    }

    /// Lets the caller in or tells why not, from the head of the request: the whole of it, because a signature
    /// covers the method and the target too. `None` where callers are not told apart because nobody is asked.
    ///
    /// May wait for the keys of an issuer, a few seconds at most. Can be dropped at any await.
    ///
    /// # Errors
    /// [`Denied`], which holds the status, the code and the challenge to answer with.
    ///
    /// Source: S1.5; RFC 6750 section 2.1; R27, R28, R33 to R35.
    pub async fn check(&self, head: &Parts) -> Result<Option<Caller>, Denied> {
        match self {
            Self::Open => Ok(None),
            Self::Bearer(token) => token.check(&head.headers).map(|()| Some(Caller::new("bearer"))),
            #[cfg(feature = "jwt")]
            Self::Jwt(verifier) => verifier.check(&head.headers).await.map(Some),
            #[cfg(feature = "sigv4")]
            Self::SigV4(verifier) => verifier.check(head).map(|()| Some(verifier.caller())),
        }
    }

    /// Whether a caller would be let in still who was let in a while ago with these headers and has stayed
    /// connected: a token expires, and its issuer may have taken the key back. A shared token does not, and a
    /// signature was for its one request.
    ///
    /// May wait, and can be dropped, as [`check`](Self::check).
    ///
    /// # Errors
    /// [`Denied`], as for [`check`](Self::check).
    pub async fn check_again(&self, headers: &HeaderMap) -> Result<(), Denied> {
        #[cfg(not(feature = "jwt"))]
        let _ = headers;
        match self {
            #[cfg(feature = "jwt")]
            Self::Jwt(verifier) => verifier.check(headers).await.map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Whether a caller that [`check`](Self::check) let pass has to be asked again with the body.
    #[must_use]
    pub const fn needs_body(&self) -> bool {
        match self {
            Self::Open | Self::Bearer(_) => false,
            #[cfg(feature = "jwt")]
            Self::Jwt(_) => false,
            #[cfg(feature = "sigv4")]
            Self::SigV4(_) => true,
        }
    }

    /// Checks that the body is the one that the caller signed. `Ok` where nothing covers the body.
    ///
    /// # Errors
    /// [`Denied`], as for [`check`](Self::check).
    pub fn check_body(&self, head: &Parts, body: &[u8]) -> Result<(), Denied> {
        #[cfg(not(feature = "sigv4"))]
        let _ = (head, body);
        match self {
            #[cfg(feature = "sigv4")]
            Self::SigV4(verifier) => verifier.check_body(head, body),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Parts {
        http::Request::post("/").body(()).unwrap().into_parts().0
    }

    #[tokio::test]
    async fn an_open_server_asks_nobody() {
        let auth = Authenticator::default();
        assert!(!auth.is_required());
        assert_eq!(auth.check(&head()).await, Ok(None));
    }

    #[tokio::test]
    async fn a_token_makes_credentials_required_and_leaves_the_body_alone() {
        let auth = Authenticator::bearer("t").unwrap();
        assert!(auth.is_required());
        assert!(auth.check(&head()).await.is_err());
        assert!(!auth.needs_body());
        assert!(auth.check_body(&head(), b"anything").is_ok());
    }

    #[test]
    fn debug_output_keeps_the_token_to_itself() {
        let auth = Authenticator::bearer("hunter2").unwrap();
        assert_eq!(format!("{auth:?}"), "Bearer(BearerToken(..))");
    }
}
