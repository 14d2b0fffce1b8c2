//! Why a configuration is of no use.

/// Why something that was configured is of no use. Never holds a secret.
///
/// ```
/// use agui_auth::{BearerToken, ConfigError, RateSpec};
///
/// assert!(matches!(BearerToken::new(" "), Err(ConfigError::EmptyToken)));
/// assert!(matches!("often".parse::<RateSpec>(), Err(ConfigError::Rate)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A bearer token of nothing, or of nothing but white space.
    #[error("the bearer token is empty")]
    EmptyToken,
    /// A bearer token with a control character or white space, which no `Authorization` header can carry unchanged.
    #[error("the bearer token holds a character that a header cannot carry")]
    UnsendableToken,
    /// The address of a metadata document is not an absolute `http` or `https` URL that fits a quoted header value.
    #[error("the address of the resource metadata is not an absolute URL that a header can carry")]
    MetadataUrl,
    /// Not the ARN of an agent runtime.
    #[error(
        "not the ARN of an agent runtime: arn:aws:bedrock-agentcore:<region>:<account>:runtime/<name>-<id>"
    )]
    RuntimeArn,
    /// Not a rate as `10/s`, `100/m` or `1000/h`.
    #[error("a rate is a whole number above 0, a slash and s, m or h, as in 10/s")]
    Rate,
    /// Not the address of a discovery document, or one that others could change on its way.
    #[cfg(feature = "jwt")]
    #[error(
        "a discovery URL is https, or http on this machine, and has /.well-known/openid-configuration or \
         /.well-known/oauth-authorization-server"
    )]
    DiscoveryUrl,
    /// Every token of the issuer would be accepted, whomever it was made for.
    #[cfg(feature = "jwt")]
    #[error("at least one allowed audience, client, scope or claim is needed")]
    Unrestricted,
    /// A scope with a blank, a quote or something else that no scope has.
    #[cfg(feature = "jwt")]
    #[error("a scope is one word of visible ASCII without quotes and backslashes")]
    Scope,
    /// There is no TLS to fetch keys with.
    #[cfg(feature = "jwt")]
    #[error("the keys of the issuer cannot be fetched")]
    Tls(#[from] agui_tls::TlsError),
    /// An access key id, region or service that could not stand in a signature, or an empty secret.
    #[cfg(feature = "sigv4")]
    #[error("the AWS {0} is empty or holds a character that a signature cannot name")]
    Credentials(&'static str),
}
