//! What is sent to the kernel in `message.metadata.iac_code`.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::answer::ResourceAnswer;
use crate::props::{AlibabaCloudProps, CandidatePresentation, IacCodeProps, RunMode, ThinkingProps};
use crate::secret::Secret;

/// The request metadata of one A2A message, borrowed from the request's properties.
///
/// It holds secrets, so it can neither be serialised nor printed by accident: the text comes from
/// [`write_json`](Self::write_json) only, and must go to the kernel only. Members that the caller
/// did not give are not written (S3.0).
///
/// ```
/// use agui_iac_code::{IacCodeProps, RequestMetadata};
///
/// let props = IacCodeProps::decode(Some(
///     r#"{"iacCode":{"schemaVersion":1,"rosInvocationId":"inv-1","cwd":"/ws/../ws","llmApiKey":"sk-1"}}"#,
/// ))?;
/// let mut metadata = Vec::new();
/// RequestMetadata::new(&props).with_cwd("/ws").write_json(&mut metadata)?;
/// assert_eq!(metadata, br#"{"cwd":"/ws","rosInvocationId":"inv-1","iac_code_api_key":"sk-1"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Source: iac-code 0.16, `message.metadata.iac_code`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestMetadata<'a> {
    props: &'a IacCodeProps,
    cwd: &'a str,
    input_response: Option<InputResponse<'a>>,
}

/// The answer to a resource selection, as typed value or as text that was built before.
#[derive(Debug, Clone)]
enum InputResponse<'a> {
    Typed(ResourceAnswer<'a>),
    Text(&'a RawValue),
}

impl Serialize for InputResponse<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Typed(answer) => answer.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
        }
    }
}

impl<'a> RequestMetadata<'a> {
    /// The metadata for a request, with its workspace as given.
    #[must_use]
    pub fn new(props: &'a IacCodeProps) -> Self {
        Self { props, cwd: &props.cwd, input_response: None }
    }

    /// Replaces the workspace by its resolved path.
    #[must_use]
    pub const fn with_cwd(mut self, cwd: &'a str) -> Self {
        self.cwd = cwd;
        self
    }

    /// Adds the answer to a resource selection.
    #[must_use]
    pub const fn with_input_response(mut self, answer: ResourceAnswer<'a>) -> Self {
        self.input_response = Some(InputResponse::Typed(answer));
        self
    }

    /// Adds the answer to a resource selection as the JSON object of a [`ResourceAnswer`].
    #[must_use]
    pub const fn with_raw_input_response(mut self, answer: &'a RawValue) -> Self {
        self.input_response = Some(InputResponse::Text(answer));
        self
    }

    /// Appends the value of `metadata.iac_code`, a JSON object, **secrets in clear text**.
    ///
    /// # Errors
    /// Only what `serde_json` reports of writing; writing strings, numbers and booleans to a vector
    /// does not fail.
    pub fn write_json(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        serde_json::to_writer(out, &Exposed(self))
    }

    /// Appends the whole `message.metadata`, `{"iac_code": …}`, **secrets in clear text**.
    ///
    /// # Errors
    /// As for [`write_json`](Self::write_json).
    pub fn write_metadata_json(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        out.extend_from_slice(br#"{"iac_code":"#);
        self.write_json(out)?;
        out.push(b'}');
        Ok(())
    }
}

/// The one form of the metadata that shows its secrets; it never leaves this module.
struct Exposed<'a>(&'a RequestMetadata<'a>);

impl Serialize for Exposed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RequestMetadata { props, cwd, input_response } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cwd", cwd)?;
        map.serialize_entry("rosInvocationId", &props.ros_invocation_id)?;
        entry(&mut map, "iac_code_model", props.model.as_deref())?;
        entry(&mut map, "iac_code_api_key", props.llm_api_key.as_ref().map(Secret::expose))?;
        entry(&mut map, "thinking", props.thinking.as_ref().and_then(ThinkingPolicy::new))?;
        entry(&mut map, "user_id", props.user_id.as_deref())?;
        entry(&mut map, "channel", props.channel.as_deref())?;
        entry(&mut map, "preferredLanguage", props.preferred_language.as_deref())?;
        let presentation = props.candidate_presentation.map(CandidatePresentation::kernel_name);
        entry(&mut map, "candidatePresentation", presentation)?;
        entry(&mut map, "run_mode", props.run_mode.map(RunMode::as_str))?;
        entry(&mut map, "pipeline_name", props.pipeline_name.as_deref())?;
        entry(&mut map, "cleanupOnly", props.cleanup_only)?;
        entry(&mut map, "llm_headers", props.llm_headers.as_ref().map(ExposedHeaders))?;
        if let Some(cloud) = &props.alibaba_cloud {
            cloud_entries(&mut map, cloud)?;
        }
        entry(&mut map, "inputResponse", input_response.as_ref())?;
        map.end()
    }
}

fn cloud_entries<M: SerializeMap>(map: &mut M, cloud: &AlibabaCloudProps) -> Result<(), M::Error> {
    let secrets = [
        ("alibaba_cloud_access_key_id", &cloud.access_key_id),
        ("alibaba_cloud_access_key_secret", &cloud.access_key_secret),
        ("alibaba_cloud_security_token", &cloud.security_token),
    ];
    for (name, secret) in secrets {
        entry(map, name, secret.as_ref().map(Secret::expose))?;
    }
    entry(map, "alibaba_cloud_region_id", cloud.region_id.as_deref())
}

fn entry<M: SerializeMap>(
    map: &mut M,
    name: &'static str,
    value: Option<impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, &value))
}

#[derive(Serialize)]
struct ThinkingPolicy<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<u64>,
}

impl<'a> ThinkingPolicy<'a> {
    /// `None` when nothing was given, as an empty object asks for nothing.
    fn new(props: &'a ThinkingProps) -> Option<Self> {
        let given = *props != ThinkingProps::default();
        given.then_some(Self {
            enabled: props.enabled,
            effort: props.effort.as_deref(),
            budget: props.budget,
        })
    }
}

struct ExposedHeaders<'a>(&'a BTreeMap<String, Secret>);

impl Serialize for ExposedHeaders<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value.expose())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::ResourceQuestion;

    fn written(metadata: &RequestMetadata<'_>) -> String {
        let mut out = Vec::new();
        metadata.write_json(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const ALL: &str = r#"{"other":1,"iacCode":{"schemaVersion":1,"rosInvocationId":"inv-1","cwd":"/w","model":"m",
        "llmApiKey":"sk-1","thinking":{"enabled":false,"effort":"high","budget":2048},"userId":"u","channel":"console",
        "preferredLanguage":"fr","candidatePresentation":"rich","runMode":"pipeline","pipelineName":"selling",
        "cleanupOnly":true,"alibabaCloud":{"accessKeyId":"id","accessKeySecret":"s\"ecret","securityToken":"sts",
        "regionId":"cn-hangzhou"},"llmHeaders":{"X-B":"2","X-A":"1"},"activeGuidance":true}}"#;

    #[test]
    fn everything_that_was_given_is_sent_under_the_kernels_names() {
        let props = IacCodeProps::decode(Some(ALL)).unwrap();

        let written = written(&RequestMetadata::new(&props).with_cwd("/resolved"));

        assert_eq!(
            written,
            concat!(
                r#"{"cwd":"/resolved","rosInvocationId":"inv-1","iac_code_model":"m","iac_code_api_key":"sk-1","#,
                r#""thinking":{"enabled":false,"effort":"high","budget":2048},"user_id":"u","channel":"console","#,
                r#""preferredLanguage":"fr","candidatePresentation":"rich-v1","run_mode":"pipeline","#,
                r#""pipeline_name":"selling","cleanupOnly":true,"llm_headers":{"X-A":"1","X-B":"2"},"#,
                r#""alibaba_cloud_access_key_id":"id","alibaba_cloud_access_key_secret":"s\"ecret","#,
                r#""alibaba_cloud_security_token":"sts","alibaba_cloud_region_id":"cn-hangzhou"}"#
            )
        );
    }

    #[test]
    fn s3_0_what_was_not_given_is_not_sent() {
        let cases = [
            ("", r#"{"cwd":"/w","rosInvocationId":"i"}"#),
            (r#","thinking":{}"#, r#"{"cwd":"/w","rosInvocationId":"i"}"#),
            (
                r#","thinking":{"effort":"low"}"#,
                r#"{"cwd":"/w","rosInvocationId":"i","thinking":{"effort":"low"}}"#,
            ),
            (r#","llmHeaders":{}"#, r#"{"cwd":"/w","rosInvocationId":"i","llm_headers":{}}"#),
            (r#","cleanupOnly":false"#, r#"{"cwd":"/w","rosInvocationId":"i","cleanupOnly":false}"#),
            (
                r#","candidatePresentation":"standard""#,
                r#"{"cwd":"/w","rosInvocationId":"i","candidatePresentation":"standard"}"#,
            ),
            (r#","userId":null,"alibabaCloud":{}"#, r#"{"cwd":"/w","rosInvocationId":"i"}"#),
        ];
        for (members, expected) in cases {
            let text =
                format!(r#"{{"iacCode":{{"schemaVersion":1,"rosInvocationId":"i","cwd":"/w"{members}}}}}"#);
            let props = IacCodeProps::decode(Some(&text)).unwrap();

            assert_eq!(written(&RequestMetadata::new(&props)), expected, "{members}");
        }
    }

    #[test]
    fn a_resource_answer_travels_in_the_metadata() {
        let props = IacCodeProps::new("i", "/w");
        let value: &RawValue = serde_json::from_str("\"vpc-1\"").unwrap();
        let answer =
            ResourceAnswer::selected(ResourceQuestion::new("T", "C", "resource-0", "call", "vpc"), value);
        let mut out = Vec::new();

        RequestMetadata::new(&props).with_input_response(answer).write_metadata_json(&mut out).unwrap();

        assert_eq!(
            String::from_utf8(out).unwrap(),
            concat!(
                r#"{"iac_code":{"cwd":"/w","rosInvocationId":"i","inputResponse":{"schemaVersion":1,"#,
                r#""kind":"cloud_resource_selection","status":"selected","requestTaskId":"T","contextId":"C","#,
                r#""inputId":"resource-0","toolUseId":"call","selectorId":"vpc","value":"vpc-1"}}}"#
            )
        );
    }

    #[test]
    fn s3_4_printing_shows_no_secret() {
        let props = IacCodeProps::decode(Some(ALL)).unwrap();

        let printed = format!("{:?} {:#?}", RequestMetadata::new(&props), props);

        for secret in ["sk-1", "s\"ecret", "ecret\"", "sts", "\"2\"", "accessKeyId: \"id\""] {
            assert!(!printed.contains(secret), "{secret} in {printed}");
        }
        assert!(printed.contains("[REDACTED]"));
    }
}
