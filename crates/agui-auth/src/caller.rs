//! Who was let in.

use std::fmt;
use std::sync::Arc;

/// Who a caller is, as far as what it showed proves it: the same for everything that one caller shows, another one
/// for every other caller.
///
/// For telling callers apart and for nothing else: of a token it holds a digest of issuer, subject and client, so
/// that a token that was refreshed is the same caller, and nobody can read from it who that is.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use agui_auth::Authenticator;
///
/// let auth = Authenticator::bearer("s3cret-token")?;
/// let request = http::Request::post("/").header("authorization", "Bearer s3cret-token").body(())?;
/// let caller = auth.check(&request.into_parts().0).await?;
/// // Whoever knows the one token is the one caller.
/// assert_eq!(caller.map(|caller| caller.to_string()).as_deref(), Some("bearer"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller(Arc<str>);

impl Caller {
    /// `text` is visible ASCII and blanks, and no secret.
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The caller as text: visible ASCII and blanks. What it says is not to be relied on, only whether it is equal.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
