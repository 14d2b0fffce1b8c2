//! Who may call, and where those are sent who may not.

use std::fmt;

use agui_auth::{
    Authenticator, AwsCredentials, BearerToken, DiscoveryUrl, JwtConfig, JwtVerifier, ResourceMetadata,
    ResourceMetadataUrl, RuntimeArn, SigV4Verifier,
};
use agui_host::values::Env;
use anyhow::{Context as _, bail};

use crate::flags::{Auth, AuthFlags};
use crate::settings::TOKEN_VARIABLE;

/// The decision about callers.
pub(crate) struct Access {
    pub(crate) authenticator: Authenticator,
    /// The document of RFC 9728, for schemes with a bearer token.
    pub(crate) metadata: Option<ResourceMetadata>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("authenticator", &self.authenticator).finish_non_exhaustive()
    }
}

impl Access {
    /// `local` is where this process takes runs, for a resource without an ARN.
    pub(crate) fn new(flags: &AuthFlags, local: &str, env: Env<'_>) -> anyhow::Result<Self> {
        let place = Place::new(flags, local, env)?;
        Ok(match flags.auth {
            Auth::None => Self { authenticator: Authenticator::Open, metadata: None },
            Auth::Bearer => {
                let token = env(TOKEN_VARIABLE).filter(|token| !token.is_empty());
                let Some(token) = token else { bail!("--auth bearer: {TOKEN_VARIABLE} is not set") };
                let token = BearerToken::new(token).context(TOKEN_VARIABLE)?;
                let token = token.with_resource_metadata(&place.metadata_url()?);
                Self { authenticator: Authenticator::Bearer(token), metadata: Some(place.document(&[], &[])) }
            }
            Auth::Jwt => jwt(flags, &place)?,
            Auth::Sigv4 => Self { authenticator: sigv4(flags, env)?, metadata: None },
        })
    }
}

/// Where this resource is.
struct Place<'a> {
    arn: Option<RuntimeArn>,
    qualifier: &'a str,
    local: &'a str,
}

impl<'a> Place<'a> {
    fn new(flags: &'a AuthFlags, local: &'a str, env: Env<'_>) -> anyhow::Result<Self> {
        let arn = match &flags.runtime_arn {
            Some(arn) => Some(arn.parse().context("--runtime-arn")?),
            None => env("OTEL_RESOURCE_ATTRIBUTES")
                .and_then(|attributes| RuntimeArn::from_resource_attributes(&attributes)),
        };
        Ok(Self { arn, qualifier: &flags.qualifier, local })
    }

    /// The address that a refused caller is sent to.
    fn metadata_url(&self) -> anyhow::Result<ResourceMetadataUrl> {
        match &self.arn {
            Some(arn) => arn.resource_metadata_url(self.qualifier).context("--qualifier"),
            None => format!("{}{}", self.local.trim_end_matches('/'), ResourceMetadata::WELL_KNOWN_PATH)
                .parse()
                .context("--path"),
        }
    }

    fn document(&self, issuers: &[String], scopes: &[String]) -> ResourceMetadata {
        let document = match &self.arn {
            Some(arn) => ResourceMetadata::of_runtime(arn, issuers),
            None => ResourceMetadata::new(self.local, issuers),
        };
        document.with_scopes(scopes)
    }
}

fn jwt(flags: &AuthFlags, place: &Place<'_>) -> anyhow::Result<Access> {
    let Some(url) = &flags.jwt_discovery_url else { bail!("--auth jwt: --jwt-discovery-url is missing") };
    let url: DiscoveryUrl = url.parse().context("--jwt-discovery-url")?;
    let issuer = url.issuer().to_owned();
    let config = JwtConfig::new(url)
        .with_audience(&flags.jwt_audience)
        .with_clients(&flags.jwt_client)
        .with_scopes(&flags.jwt_scope);
    let verifier = JwtVerifier::new(config).context("--jwt-audience, --jwt-client or --jwt-scope")?;
    let authenticator = Authenticator::Jwt(verifier.with_resource_metadata(&place.metadata_url()?));
    Ok(Access { authenticator, metadata: Some(place.document(&[issuer], &flags.jwt_scope)) })
}

fn sigv4(flags: &AuthFlags, env: Env<'_>) -> anyhow::Result<Authenticator> {
    let given = |name: &str| env(name).filter(|value| !value.is_empty());
    let (Some(id), Some(secret)) = (given("AWS_ACCESS_KEY_ID"), given("AWS_SECRET_ACCESS_KEY")) else {
        bail!("--auth sigv4: AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set");
    };
    let mut credentials = AwsCredentials::new(id, secret).context("AWS_ACCESS_KEY_ID")?;
    if let Some(token) = given("AWS_SESSION_TOKEN") {
        credentials = credentials.with_session_token(token);
    }
    Ok(Authenticator::SigV4(SigV4Verifier::new(credentials, flags.region.as_str()).context("--region")?))
}
