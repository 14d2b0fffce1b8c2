//! What a token has to be.

use std::collections::BTreeMap;
use std::time::Duration;

use agui_tls::Trust;

use super::DiscoveryUrl;
use crate::Clock;

/// How many of the allowed scopes a token needs.
///
/// Example: see [`JwtConfig`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScopeRule {
    /// At least one, as for the other lists.
    #[default]
    Any,
    /// Every one.
    All,
}

/// How the value of a claim is compared.
///
/// Example: see [`JwtConfig`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimMatch {
    /// `EQUALS`: the claim is this text.
    Equals(String),
    /// `CONTAINS`: the claim is a list, and this text is in it.
    Contains(String),
    /// `CONTAINS_ANY`: the claim is a list with at least one of these texts in it, or is one of them.
    ContainsAny(Vec<String>),
}

/// A condition for a claim of any name.
///
/// Example: see [`JwtConfig`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimRule {
    /// The claim, at the top of the token.
    pub name: String,
    /// What it has to be.
    pub value: ClaimMatch,
}

impl ClaimRule {
    /// A condition for one claim.
    pub fn new(name: impl Into<String>, value: ClaimMatch) -> Self {
        Self { name: name.into(), value }
    }
}

/// How long the keys of the issuer are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyTimes {
    /// Until then nobody is asked.
    pub(crate) fresh: Duration,
    /// Until then they serve when the issuer cannot be asked.
    pub(crate) stale: Duration,
    /// Least time from one attempt to the next, whatever the tokens say.
    pub(crate) pause: Duration,
    /// The same while no keys are known.
    pub(crate) retry: Duration,
}

/// What a token has to be, as the platform's `customJWTAuthorizer` says it: every list that is not empty is a
/// condition, and all conditions have to hold.
///
/// Always checked: the signature (RS256 to RS512, PS256 to PS512, ES256, ES384, EdDSA with Ed25519), `iss`
/// against the issuer's own document, `exp` (required) and `nbf`.
///
/// Keys are fetched when they are needed: asked for again after 15 minutes, used for up to 24 hours while the
/// issuer does not answer, fetched at most once in 30 seconds whatever kind of tokens come (in 5 seconds while none
/// are known). One attempt takes at most 5 seconds, and all callers wait for the same one; once it has failed, those whose
/// key is known do not wait for the next.
///
/// ```
/// use agui_auth::{ClaimMatch, ClaimRule, JwtConfig, JwtVerifier, ScopeRule};
///
/// let config = JwtConfig::new("https://login.example.com/.well-known/openid-configuration".parse()?)
///     .with_scopes(["agent:run", "agent:read"])
///     .with_scope_rule(ScopeRule::All)
///     .with_claim(ClaimRule::new("tenant", ClaimMatch::Equals("blue".to_owned())));
/// let verifier = JwtVerifier::new(config)?;
/// # drop(verifier);
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
///
/// Source: Amazon Bedrock AgentCore, `customJWTAuthorizer` of `authorizerConfiguration`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JwtConfig {
    /// Where the issuer describes itself.
    pub discovery_url: DiscoveryUrl,
    /// `aud` names one of these.
    pub allowed_audience: Vec<String>,
    /// `client_id`, or `azp` where there is none, is one of these.
    pub allowed_clients: Vec<String>,
    /// `scope` (or `scp`) holds these, as [`scope_rule`](Self::scope_rule) says.
    pub allowed_scopes: Vec<String>,
    /// How many of the allowed scopes are needed.
    pub scope_rule: ScopeRule,
    /// What a scope is called when clients are told which ones they need, where that differs.
    pub advertised_scope_mapping: BTreeMap<String, String>,
    /// Conditions for other claims.
    pub custom_claims: Vec<ClaimRule>,
    /// How far the clocks of the issuer and this machine may differ (60 seconds).
    pub leeway: Duration,
    /// Which TLS certificates the issuer may show.
    pub trust: Trust,
    /// Tells the time since the Unix epoch.
    pub clock: Clock,
    pub(crate) key_times: KeyTimes,
}

impl JwtConfig {
    const LEEWAY: Duration = Duration::from_secs(60);
    const KEY_TIMES: KeyTimes = KeyTimes {
        fresh: Duration::from_secs(15 * 60),
        stale: Duration::from_secs(24 * 60 * 60),
        pause: Duration::from_secs(30),
        retry: Duration::from_secs(5),
    };

    /// Tokens of this issuer, with no condition yet; at least one has to follow.
    #[must_use]
    pub fn new(discovery_url: DiscoveryUrl) -> Self {
        Self {
            discovery_url,
            allowed_audience: Vec::new(),
            allowed_clients: Vec::new(),
            allowed_scopes: Vec::new(),
            scope_rule: ScopeRule::default(),
            advertised_scope_mapping: BTreeMap::new(),
            custom_claims: Vec::new(),
            leeway: Self::LEEWAY,
            trust: Trust::from_env(),
            clock: Clock::system(),
            key_times: Self::KEY_TIMES,
        }
    }

    /// `aud` has to name one of these.
    #[must_use]
    pub fn with_audience(mut self, audience: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_audience = audience.into_iter().map(Into::into).collect();
        self
    }

    /// `client_id` or `azp` has to be one of these.
    #[must_use]
    pub fn with_clients(mut self, clients: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_clients = clients.into_iter().map(Into::into).collect();
        self
    }

    /// The token needs these scopes: one of them, unless [`with_scope_rule`](Self::with_scope_rule) says more.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// How many of the allowed scopes are needed.
    #[must_use]
    pub const fn with_scope_rule(mut self, rule: ScopeRule) -> Self {
        self.scope_rule = rule;
        self
    }

    /// Tells clients to ask for `advertised` where the token has to hold `scope`.
    #[must_use]
    pub fn with_advertised_scope(mut self, scope: impl Into<String>, advertised: impl Into<String>) -> Self {
        self.advertised_scope_mapping.insert(scope.into(), advertised.into());
        self
    }

    /// The allowed scopes by the names that clients ask for: for
    /// [`ResourceMetadata::with_scopes`](crate::ResourceMetadata::with_scopes), and what the challenge names.
    #[must_use]
    pub fn advertised_scopes(&self) -> Vec<&str> {
        let mapping = &self.advertised_scope_mapping;
        self.allowed_scopes.iter().map(|scope| mapping.get(scope).unwrap_or(scope).as_str()).collect()
    }

    /// Adds a condition for another claim.
    #[must_use]
    pub fn with_claim(mut self, rule: ClaimRule) -> Self {
        self.custom_claims.push(rule);
        self
    }

    /// How far the clocks of the issuer and this machine may differ.
    #[must_use]
    pub const fn with_leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway;
        self
    }

    /// Which TLS certificates the issuer may show.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Tells the time by another clock than the system's.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Whether scopes are what RFC 6749 calls one, so that a list of them can stand in a header.
    pub(super) fn has_plain_scopes(&self) -> bool {
        let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        let names = self.allowed_scopes.iter().map(String::as_str).chain(self.advertised_scopes());
        names.into_iter().all(|scope| !scope.is_empty() && scope.bytes().all(plain))
    }

    pub(super) fn is_unrestricted(&self) -> bool {
        self.allowed_audience.is_empty()
            && self.allowed_clients.is_empty()
            && self.allowed_scopes.is_empty()
            && self.custom_claims.is_empty()
    }
}
