//! The credentials that requests are signed with.

use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::ConfigError;

/// An access key, and the session token that belongs to it if it is a temporary one.
///
/// Wiped when the last copy is dropped, never shown.
///
/// Example: see [`SigV4Verifier`](crate::SigV4Verifier).
#[derive(Clone)]
pub struct AwsCredentials {
    access_key_id: Box<str>,
    secret: Arc<Zeroizing<String>>,
    session_token: Option<Arc<Zeroizing<String>>>,
}

impl AwsCredentials {
    /// An access key id and its secret.
    ///
    /// # Errors
    /// [`ConfigError::Credentials`] if one of them is empty or no signature could name the id.
    pub fn new(access_key_id: impl Into<String>, secret: impl Into<String>) -> Result<Self, ConfigError> {
        let secret = Zeroizing::new(secret.into());
        if secret.is_empty() {
            return Err(ConfigError::Credentials("secret access key"));
        }
        let access_key_id = scope_part("access key id", access_key_id.into())?;
        Ok(Self { access_key_id, secret: Arc::new(secret), session_token: None })
    }

    /// Temporary credentials: every request has to carry this token.
    #[must_use]
    pub fn with_session_token(mut self, token: impl Into<String>) -> Self {
        self.session_token = Some(Arc::new(Zeroizing::new(token.into())));
        self
    }

    pub(super) fn access_key_id(&self) -> &str {
        &self.access_key_id
    }

    pub(super) fn session_token(&self) -> Option<&str> {
        self.session_token.as_ref().map(|token| token.as_str())
    }

    /// Signs with the key that is derived for a day, region and service. `None` never happens: the hash takes
    /// keys of any length.
    pub(super) fn sign(&self, scope: [&[u8]; 3], text: &[u8]) -> Option<[u8; 32]> {
        let secret = Zeroizing::new(format!("AWS4{}", self.secret.as_str()));
        let mut key = keyed_hash(secret.as_bytes(), scope[0])?;
        for part in [scope[1], scope[2], b"aws4_request"] {
            key = keyed_hash(key.as_slice(), part)?;
        }
        keyed_hash(key.as_slice(), text).map(|signature| *signature)
    }
}

impl fmt::Debug for AwsCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AwsCredentials(..)")
    }
}

/// A part of a credential scope: visible ASCII without the characters that separate parts.
pub(super) fn scope_part(what: &'static str, text: String) -> Result<Box<str>, ConfigError> {
    let fits =
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"/,=".contains(&byte));
    if fits { Ok(text.into()) } else { Err(ConfigError::Credentials(what)) }
}

fn keyed_hash(key: &[u8], text: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(text);
    Some(Zeroizing::new(mac.finalize().into_bytes().into()))
}
