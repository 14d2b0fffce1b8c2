//! Whether this process runs in a container of the platform.

use agui_host::values::Env;

/// Whether the environment is the one that AgentCore gives its containers. Tools for development set
/// `LOCAL_DEV`, whatever else they copy.
///
/// The variables are those of its observability, which can be switched off: a container without them says
/// `--error-mode stream` itself.
///
/// Source: AgentCore, environment of a runtime with observability.
pub(crate) fn is_agentcore(env: Env<'_>) -> bool {
    if env("LOCAL_DEV").is_some_and(|value| value == "1") {
        return false;
    }
    let has = |name: &str, part: &str| env(name).is_some_and(|value| value.contains(part));
    has("AGENT_OBSERVABILITY_ENABLED", "true")
        || has("OTEL_RESOURCE_ATTRIBUTES", ":bedrock-agentcore:")
        || has("OTEL_RESOURCE_ATTRIBUTES", "/aws/bedrock-agentcore/")
        || has("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "/aws/bedrock-agentcore/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(variables: &[(&str, &str)]) -> bool {
        is_agentcore(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_platform_is_known_by_the_variables_of_its_observability() {
        let arn = "service.name=a,cloud.resource_id=arn:aws:bedrock-agentcore:us-west-2:1:runtime/a-1";
        assert!(detected(&[("OTEL_RESOURCE_ATTRIBUTES", arn)]));
        assert!(detected(&[("AGENT_OBSERVABILITY_ENABLED", "true")]));
        let headers = "x-aws-log-group=/aws/bedrock-agentcore/runtimes/a,x-aws-log-stream=s";
        assert!(detected(&[("OTEL_EXPORTER_OTLP_LOGS_HEADERS", headers)]));
        assert!(!detected(&[]));
        assert!(!detected(&[("OTEL_RESOURCE_ATTRIBUTES", "service.name=mine")]));
        assert!(!detected(&[("OTEL_RESOURCE_ATTRIBUTES", arn), ("LOCAL_DEV", "1")]));
    }
}
