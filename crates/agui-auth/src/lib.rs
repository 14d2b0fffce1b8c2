#![doc = include_str!("../README.md")]

mod authenticator;
mod bearer;
mod caller;
mod challenge;
mod clock;
mod denied;
mod error;
#[cfg(feature = "jwt")]
mod jwt;
mod rate_limit;
mod rate_spec;
mod resource_metadata;
mod runtime_arn;
#[cfg(feature = "sigv4")]
mod sigv4;

pub use authenticator::Authenticator;
pub use bearer::BearerToken;
pub use caller::Caller;
pub use challenge::ResourceMetadataUrl;
pub use clock::Clock;
pub use denied::{Denied, DeniedReason};
pub use error::ConfigError;
#[cfg(feature = "jwt")]
pub use jwt::{ClaimMatch, ClaimRule, DiscoveryUrl, JwtConfig, JwtVerifier, ScopeRule};
pub use rate_limit::{RateLimit, RetryAfter};
pub use rate_spec::RateSpec;
pub use resource_metadata::ResourceMetadata;
pub use runtime_arn::RuntimeArn;
#[cfg(feature = "sigv4")]
pub use sigv4::{AwsCredentials, PayloadRule, SigV4Verifier};
