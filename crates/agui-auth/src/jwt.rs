//! Tokens of an OpenID issuer.

mod claims;
mod config;
mod crypto;
mod discovery_url;
mod issuer;
mod key_cache;
mod key_set;

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};

use crate::bearer::bearer_token;
use crate::challenge::Challenge;
use crate::{Caller, ConfigError, Denied, DeniedReason, ResourceMetadataUrl};
use claims::Claims;
pub use config::{ClaimMatch, ClaimRule, JwtConfig, ScopeRule};
pub use discovery_url::DiscoveryUrl;
use issuer::Issuer;
use key_cache::{KeyCache, KeyError};

/// Longest token that is looked at, in bytes (16 KiB; a header of the platform carries at most 4 KiB). What is
/// longer costs nothing but its transfer.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// The algorithms whose keys an issuer can publish. Those with a shared secret, and `none`, are not among them.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Checks bearer tokens (JWT) against the keys of an OpenID issuer and a list of conditions, as the platform's
/// `customJWTAuthorizer` does.
///
/// Clones share the keys. They are fetched when the first token comes, and again when they are old or a token
/// names a key that is not among them; see [`JwtConfig`] for the times.
///
/// ```
/// use agui_auth::{Authenticator, JwtConfig, JwtVerifier};
///
/// let issuer = "https://login.example.com/.well-known/openid-configuration".parse()?;
/// let config = JwtConfig::new(issuer).with_audience(["my-agent"]).with_scopes(["agent:run"]);
/// let auth = Authenticator::Jwt(JwtVerifier::new(config)?);
/// assert!(auth.is_required());
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
///
/// Source: R27, R33, R34; RFC 7519, RFC 8725.
#[derive(Clone)]
pub struct JwtVerifier {
    config: Arc<JwtConfig>,
    keys: KeyCache,
    challenge: Challenge,
    metadata: Option<ResourceMetadataUrl>,
}

impl JwtVerifier {
    /// A verifier with these conditions. Nothing is fetched yet.
    ///
    /// # Errors
    /// [`ConfigError::Unrestricted`] if there is no condition beside the issuer, [`ConfigError::Scope`] if a scope
    /// is none, [`ConfigError::Tls`] if there is no TLS on this machine.
    pub fn new(config: JwtConfig) -> Result<Self, ConfigError> {
        if config.is_unrestricted() {
            return Err(ConfigError::Unrestricted);
        }
        if !config.has_plain_scopes() {
            return Err(ConfigError::Scope);
        }
        let tls = config.trust.client_config()?;
        crypto::install();
        let issuer = Issuer::new(config.discovery_url.clone(), tls);
        let keys = KeyCache::new(issuer, config.clock.clone(), config.key_times);
        let verifier = Self { config: Arc::new(config), keys, challenge: Challenge::plain(), metadata: None };
        Ok(verifier.with_challenge())
    }

    /// Tells refused callers where the resource metadata is (RFC 9728).
    #[must_use]
    pub fn with_resource_metadata(mut self, url: &ResourceMetadataUrl) -> Self {
        self.metadata = Some(url.clone());
        self.with_challenge()
    }

    /// Looks for a valid token in the one `Authorization` header, and tells whose it is: the subject's, at this
    /// issuer and through this client, whatever else the token says. A token without a subject is a caller of its
    /// own. A token that came by another way (a WebSocket
    /// subprotocol) has to be put there first.
    ///
    /// May wait for the keys, [a few seconds](JwtConfig) at most. Can be dropped at any await.
    ///
    /// # Errors
    /// [`Denied`]: 401 `UNAUTHORIZED` without a valid token, 403 `ACCESS_DENIED` if it lacks a scope, 503 if the
    /// issuer's keys cannot be had; 401 and 403 with a challenge.
    pub async fn check(&self, headers: &HeaderMap) -> Result<Caller, Denied> {
        let verdict = match bearer_token(headers) {
            Ok(token) => self.check_token(token).await,
            Err(reason) => Err(reason),
        };
        verdict.map_err(|reason| match reason {
            DeniedReason::KeysUnavailable => Denied::unavailable(reason),
            DeniedReason::Scope => Denied::forbidden(reason, Some(self.challenge.for_scope())),
            _ => Denied::unauthorized(reason, self.challenge.for_token(reason)),
        })
    }

    async fn check_token(&self, token: &[u8]) -> Result<Caller, DeniedReason> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(DeniedReason::Malformed);
        }
        let header = decode_header(token).map_err(|_| DeniedReason::Malformed)?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(DeniedReason::Algorithm);
        }
        let found = self.keys.find(header.kid.as_deref(), header.alg).await.map_err(|error| match error {
            KeyError::Unknown => DeniedReason::UnknownKey,
            KeyError::Unavailable => DeniedReason::KeysUnavailable,
        })?;
        let validation = signature_only(header.alg);
        let mut claims = found.keys().filter_map(|key| decode::<Claims>(token, key, &validation).ok());
        let claims = claims.next().ok_or(DeniedReason::Signature)?.claims;
        claims.check(&self.config, found.issuer(), self.config.clock.now())?;
        Ok(claims.caller(token))
    }

    fn with_challenge(mut self) -> Self {
        let metadata = self.metadata.as_ref();
        self.challenge = Challenge::detailed(metadata);
        if !self.config.allowed_scopes.is_empty() {
            let scopes = self.config.advertised_scopes().join(" ");
            self.challenge = self.challenge.with_scopes(metadata, &scopes);
        }
        self
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifier").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Checks form and signature. The claims are judged by [`Claims::check`], which is told the time.
fn signature_only(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    validation
}
