//! What a client reads to find out whom to ask for a token.

use serde::Serialize;

use crate::RuntimeArn;

/// The protected-resource metadata of RFC 9728, ready to be served as JSON.
///
/// It is public: serve it without asking for credentials.
///
/// ```
/// use agui_auth::ResourceMetadata;
///
/// let metadata = ResourceMetadata::new("http://localhost:8080/invocations", ["https://login.example.com"])
///     .with_scopes(["agent:run"]);
/// # assert_eq!(metadata.scopes_supported, ["agent:run"]);
/// assert!(ResourceMetadata::well_known_paths("/invocations").contains(&"/.well-known/oauth-protected-resource".into()));
/// ```
///
/// Source: R33, R34; RFC 9728 section 2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// The address that tokens are asked for.
    pub resource: String,
    /// The issuers whose tokens are accepted.
    pub authorization_servers: Vec<String>,
    /// The scopes that a client should ask for; left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes_supported: Vec<String>,
    /// How a token is sent: in the `Authorization` header.
    pub bearer_methods_supported: Vec<String>,
}

impl ResourceMetadata {
    /// The well-known path of a resource at the root of its host.
    pub const WELL_KNOWN_PATH: &'static str = "/.well-known/oauth-protected-resource";

    /// The metadata of a resource and its issuers.
    pub fn new(
        resource: impl Into<String>,
        authorization_servers: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self {
            resource: resource.into(),
            authorization_servers: authorization_servers.into_iter().map(Into::into).collect(),
            scopes_supported: Vec::new(),
            bearer_methods_supported: vec!["header".to_owned()],
        }
    }

    /// The metadata of an agent runtime, whose resource is [`RuntimeArn::invocations_url`].
    pub fn of_runtime(
        arn: &RuntimeArn,
        authorization_servers: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self::new(arn.invocations_url(), authorization_servers)
    }

    /// Names the scopes that a client should ask for.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes_supported = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Where the document of the resource at `path` is looked for, each path once: at the root, at the place
    /// that RFC 9728 section 3.1 gives, and below the resource as the platform has it.
    #[must_use]
    pub fn well_known_paths(path: &str) -> Vec<String> {
        let path = path.trim_end_matches('/');
        let root = Self::WELL_KNOWN_PATH.to_owned();
        if path.is_empty() {
            return vec![root];
        }
        vec![root, format!("{}{path}", Self::WELL_KNOWN_PATH), format!("{path}{}", Self::WELL_KNOWN_PATH)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r33_the_document_is_looked_for_where_rfc_9728_and_the_platform_have_it() {
        let root = "/.well-known/oauth-protected-resource";
        assert_eq!(ResourceMetadata::well_known_paths("/"), [root]);
        assert_eq!(
            ResourceMetadata::well_known_paths("/invocations/"),
            [root, &format!("{root}/invocations"), &format!("/invocations{root}")]
        );
    }

    #[test]
    fn r33_the_document_has_the_members_of_rfc_9728() {
        let arn = "arn:aws:bedrock-agentcore:eu-west-1:123456789012:runtime/a-0123456789".parse().unwrap();
        let bare = ResourceMetadata::of_runtime(&arn, ["https://login.example.com/x"]);
        let resource = "https://bedrock-agentcore.eu-west-1.amazonaws.com/runtimes/arn%3Aaws%3Abedrock-agentcore%3A\
                        eu-west-1%3A123456789012%3Aruntime%2Fa-0123456789/invocations";
        assert_eq!(
            serde_json::to_value(&bare).unwrap(),
            serde_json::json!({
                "resource": resource,
                "authorization_servers": ["https://login.example.com/x"],
                "bearer_methods_supported": ["header"],
            })
        );
        let scoped = serde_json::to_value(bare.with_scopes(["a", "b"])).unwrap();
        assert_eq!(scoped["scopes_supported"], serde_json::json!(["a", "b"]));
    }
}
