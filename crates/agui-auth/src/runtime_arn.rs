//! The name of an agent runtime, and the addresses that follow from it.

use std::fmt;
use std::str::FromStr;

use crate::{ConfigError, ResourceMetadataUrl};

/// The ARN of an agent runtime on Amazon Bedrock AgentCore.
///
/// ```
/// use agui_auth::RuntimeArn;
///
/// let arn: RuntimeArn = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf1234".parse()?;
/// assert_eq!(
///     arn.invocations_url(),
///     "https://bedrock-agentcore.us-west-2.amazonaws.com/runtimes/\
///      arn%3Aaws%3Abedrock-agentcore%3Aus-west-2%3A123456789012%3Aruntime%2Fmy_agent-AbCdEf1234/invocations",
/// );
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
///
/// Source: R34; Amazon Bedrock AgentCore, pattern of the ARN of an agent runtime.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RuntimeArn {
    text: Box<str>,
    region: Box<str>,
    china: bool,
}

impl RuntimeArn {
    /// The endpoint name that stands for the newest version.
    pub const DEFAULT_QUALIFIER: &'static str = "DEFAULT";

    /// The ARN as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The region it names.
    #[must_use]
    pub fn region(&self) -> &str {
        &self.region
    }

    /// Reads the ARN out of `OTEL_RESOURCE_ATTRIBUTES`, as a container on the platform finds it:
    /// `cloud.resource_id`, up to the endpoint.
    #[must_use]
    pub fn from_resource_attributes(attributes: &str) -> Option<Self> {
        let pairs = attributes.split(',').filter_map(|pair| pair.split_once('='));
        let (_, id) = pairs.into_iter().find(|(key, _)| key.trim() == "cloud.resource_id")?;
        let arn = id.trim().split("/runtime-endpoint/").next()?;
        arn.parse().ok()
    }

    /// Where the platform takes requests for this runtime; the OAuth resource that tokens are asked for.
    #[must_use]
    pub fn invocations_url(&self) -> String {
        let suffix = if self.china { "amazonaws.com.cn" } else { "amazonaws.com" };
        let arn = escape(&self.text);
        format!("https://bedrock-agentcore.{}.{suffix}/runtimes/{arn}/invocations", self.region)
    }

    /// Where the platform tells whom to ask for a token (R34). `qualifier` is the endpoint's name; see
    /// [`DEFAULT_QUALIFIER`](Self::DEFAULT_QUALIFIER).
    ///
    /// # Errors
    /// Never for a name that the platform gives; an empty one is refused.
    pub fn resource_metadata_url(&self, qualifier: &str) -> Result<ResourceMetadataUrl, ConfigError> {
        if qualifier.is_empty() {
            return Err(ConfigError::MetadataUrl);
        }
        let base = self.invocations_url();
        let qualifier = escape(qualifier);
        format!("{base}/.well-known/oauth-protected-resource?qualifier={qualifier}").parse()
    }
}

impl FromStr for RuntimeArn {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut parts = text.splitn(6, ':');
        let mut part = || parts.next().unwrap_or_default();
        let (arn, partition, service, region, account, resource) =
            (part(), part(), part(), part(), part(), part());
        let of = |text: &str, fits: fn(&u8) -> bool| !text.is_empty() && text.bytes().all(|byte| fits(&byte));
        let partition_fits = partition == "aws"
            || partition
                .strip_prefix("aws-")
                .is_some_and(|rest| of(rest, |b| b.is_ascii_alphanumeric() || *b == b'-'));
        let fits = arn == "arn"
            && partition_fits
            && service == "bedrock-agentcore"
            && of(region, |b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
            && account.len() == 12
            && of(account, u8::is_ascii_digit)
            && resource.strip_prefix("runtime/").is_some_and(is_runtime_id);
        if !fits {
            return Err(ConfigError::RuntimeArn);
        }
        Ok(Self { text: text.into(), region: region.into(), china: partition == "aws-cn" })
    }
}

impl fmt::Display for RuntimeArn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A name of at most 48 letters, digits and underscores that begins with a letter, and 10 letters or digits.
fn is_runtime_id(id: &str) -> bool {
    let Some((name, unique)) = id.rsplit_once('-') else { return false };
    name.len() <= 48
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && unique.len() == 10
        && unique.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Percent-encodes everything that RFC 3986 does not call unreserved.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARN: &str = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf1234";

    #[test]
    fn r34_the_address_of_the_metadata_is_built_from_arn_region_and_qualifier() {
        let arn: RuntimeArn = ARN.parse().unwrap();
        assert_eq!(
            arn.resource_metadata_url("DEFAULT").unwrap().as_str(),
            "https://bedrock-agentcore.us-west-2.amazonaws.com/runtimes/arn%3Aaws%3Abedrock-agentcore%3Aus-west-2%3A\
             123456789012%3Aruntime%2Fmy_agent-AbCdEf1234/invocations/.well-known/oauth-protected-resource\
             ?qualifier=DEFAULT"
        );
        assert!(arn.resource_metadata_url("a b").unwrap().as_str().ends_with("?qualifier=a%20b"));
        assert!(arn.resource_metadata_url("").is_err());
    }

    #[test]
    fn r34_china_has_a_suffix_of_its_own() {
        let arn: RuntimeArn =
            ARN.replace("arn:aws:", "arn:aws-cn:").replace("us-west-2", "cn-north-1").parse().unwrap();
        assert!(
            arn.invocations_url()
                .starts_with("https://bedrock-agentcore.cn-north-1.amazonaws.com.cn/runtimes/")
        );
        let arn: RuntimeArn = ARN.replace("arn:aws:", "arn:aws-us-gov:").parse().unwrap();
        assert!(arn.invocations_url().starts_with("https://bedrock-agentcore.us-west-2.amazonaws.com/"));
    }

    #[test]
    fn a_container_learns_its_arn_from_the_resource_attributes() {
        let found = |attributes: &str| {
            RuntimeArn::from_resource_attributes(attributes).map(|arn| arn.text.to_string())
        };
        let given =
            format!("service.name=a.DEFAULT,cloud.resource_id={ARN}/runtime-endpoint/DEFAULT:DEFAULT,x=y");
        assert_eq!(found(&given).as_deref(), Some(ARN));
        assert_eq!(found(&format!("cloud.resource_id={ARN}")).as_deref(), Some(ARN));
        assert_eq!(found("cloud.resource_id=elsewhere,service.name=a"), None);
        assert_eq!(found(""), None);
    }

    #[test]
    fn anything_but_the_arn_of_a_runtime_is_refused() {
        let table = [
            "",
            "arn",
            "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/",
            "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent",
            "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/1agent-AbCdEf1234",
            "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf123",
            "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf1234/runtime-endpoint/DEFAULT",
            "arn:aws:bedrock-agentcore:us-west-2:12345678901:runtime/my_agent-AbCdEf1234",
            "arn:aws:bedrock-agentcore::123456789012:runtime/my_agent-AbCdEf1234",
            "arn:aws:bedrock-agentcore:us-west-2.evil.example/:123456789012:runtime/my_agent-AbCdEf1234",
            "arn:aws:bedrock:us-west-2:123456789012:runtime/my_agent-AbCdEf1234",
            "arn:azure:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf1234",
            "arn:aws-:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf1234",
            " arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf1234",
        ];
        for text in table {
            assert!(matches!(text.parse::<RuntimeArn>(), Err(ConfigError::RuntimeArn)), "{text:?}");
        }
    }
}
