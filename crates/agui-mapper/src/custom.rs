//! Custom events about what A2A itself defines.
//!
//! Each value serialises to the `value` of its event. What the agent sent is copied as text, so that digits
//! and order stay as they are; what is too large is left out with a note.

use std::borrow::Cow;

use a2a_wire::{Artifact, Part, PartContent};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// Name of [`TaskV1`].
///
/// Example: see [`TaskV1`].
pub const TASK_V1: &str = "a2a.task.v1";
/// Name of [`ArtifactV1`].
///
/// Example: see [`ArtifactV1`].
pub const ARTIFACT_V1: &str = "a2a.artifact.v1";
/// Name of [`MessageV1`].
///
/// Example: see [`MessageV1`].
pub const MESSAGE_V1: &str = "a2a.message.v1";

/// Version that the values carry.
const SCHEMA_VERSION: u8 = 1;

/// Value of `a2a.task.v1`: which A2A ids belong to the run, and what to cancel it by.
///
/// ```
/// use agui_core::{Custom, Json};
/// use agui_mapper::custom::{TASK_V1, TaskV1};
///
/// let ids = TaskV1::new("thread", "run", "execution", "T1").with_context_id("C1");
/// let event = Custom::new(TASK_V1, Json::from_serialize(&ids)?);
/// assert!(event.value.get().ends_with(r#""taskId":"T1","contextId":"C1"}"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskV1<'a> {
    schema_version: u8,
    /// Thread of the run.
    pub thread_id: &'a str,
    /// The run.
    pub run_id: &'a str,
    /// Execution; the cancel extension takes it.
    pub execution_id: &'a str,
    /// The A2A task.
    pub task_id: &'a str,
    /// The A2A context, if the agent has told one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<&'a str>,
}

impl<'a> TaskV1<'a> {
    /// A task without a context.
    #[must_use]
    pub const fn new(thread_id: &'a str, run_id: &'a str, execution_id: &'a str, task_id: &'a str) -> Self {
        Self { schema_version: SCHEMA_VERSION, thread_id, run_id, execution_id, task_id, context_id: None }
    }

    /// Sets the context.
    #[must_use]
    pub const fn with_context_id(mut self, context_id: &'a str) -> Self {
        self.context_id = Some(context_id);
        self
    }
}

/// Value of `a2a.artifact.v1`: an artifact that is more than text, or a piece of one.
///
/// ```
/// use a2a_wire::StreamItem;
/// use agui_mapper::MAX_ARTIFACT_BYTES;
/// use agui_mapper::custom::ArtifactV1;
///
/// let datum = br#"{"result":{"artifactUpdate":{"taskId":"T1","contextId":"C1",
///     "artifact":{"artifactId":"A1","parts":[{"data":{"cost":12.50}}]}}}}"#;
/// let StreamItem::ArtifactUpdate(update) = StreamItem::decode(datum)? else { panic!("an artifact") };
/// let value = ArtifactV1::new(&update.artifact, MAX_ARTIFACT_BYTES).expect("it was received");
/// assert_eq!(value.artifact.get(), r#"{"artifactId":"A1","parts":[{"data":{"cost":12.50}}]}"#);
/// # Ok::<(), a2a_wire::DecodeError>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ArtifactV1<'a> {
    schema_version: u8,
    /// Id of the artifact within its task.
    pub artifact_id: &'a str,
    /// Whether its parts continue what came before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// Whether it is the last piece.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub last_chunk: bool,
    /// Whether the content of some parts was left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The artifact as the agent sent it.
    pub artifact: Cow<'a, RawValue>,
}

impl<'a> ArtifactV1<'a> {
    /// An artifact as it was received, or with the contents of large parts left out if its JSON is longer
    /// than `max_bytes`; `None` for an artifact that was not received.
    #[must_use]
    pub fn new(artifact: &'a Artifact<'a>, max_bytes: usize) -> Option<Self> {
        let raw = artifact.raw?;
        let truncated = raw.get().len() > max_bytes;
        let artifact_value = if truncated {
            Cow::Owned(to_raw_value(&Outline::of(artifact, max_bytes)).ok()?)
        } else {
            Cow::Borrowed(raw)
        };
        Some(Self {
            schema_version: SCHEMA_VERSION,
            artifact_id: &artifact.artifact_id,
            append: false,
            last_chunk: false,
            truncated,
            artifact: artifact_value,
        })
    }
}

/// What is left of an artifact that is too large.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outline<'a> {
    artifact_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parts: Vec<PartValue<'a>>,
}

impl<'a> Outline<'a> {
    fn of(artifact: &'a Artifact<'a>, max_bytes: usize) -> Self {
        let parts = bounded(artifact.parts.iter(), max_bytes).0;
        // Names are for people: a long one is no name.
        let short = |text: &'a Option<Cow<'a, str>>| text.as_deref().filter(|text| text.len() <= 1024);
        let (name, description) = (short(&artifact.name), short(&artifact.description));
        Self { artifact_id: &artifact.artifact_id, name, description, parts }
    }
}

/// Value of `a2a.message.v1`: the parts of an agent's message that are not text, which the text message of
/// the stream can't hold.
///
/// ```
/// use a2a_wire::StreamItem;
/// use agui_mapper::MAX_ARTIFACT_BYTES;
/// use agui_mapper::custom::MessageV1;
///
/// let datum = br#"{"result":{"message":{"messageId":"m1","role":"ROLE_AGENT",
///     "parts":[{"text":"Here it is."},{"url":"https://example.org/plan.pdf"}]}}}"#;
/// let StreamItem::Message(message) = StreamItem::decode(datum)? else { panic!("a message") };
/// let value = MessageV1::new("m1", &message.parts, MAX_ARTIFACT_BYTES).expect("a part that is not text");
/// assert_eq!(
///     serde_json::to_string(&value)?,
///     r#"{"schemaVersion":1,"messageId":"m1","parts":[{"url":"https://example.org/plan.pdf"}]}"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageV1<'a> {
    schema_version: u8,
    /// Id that the agent gave the message.
    pub message_id: &'a str,
    /// Whether the content of some parts was left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The parts, in the spelling of A2A 1.0.
    pub parts: Vec<PartValue<'a>>,
}

impl<'a> MessageV1<'a> {
    /// The parts that are not text; `None` if there is none.
    #[must_use]
    pub fn new(message_id: &'a str, parts: &'a [Part<'a>], max_bytes: usize) -> Option<Self> {
        let (parts, truncated) = bounded(not_text(parts), max_bytes);
        let has_parts = !parts.is_empty();
        has_parts.then_some(Self { schema_version: SCHEMA_VERSION, message_id, truncated, parts })
    }
}

/// A part in the spelling of A2A 1.0; one whose content was left out says how large it was.
///
/// Source: A2A 1.0 `Part`.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PartValue<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_bytes: Option<usize>,
}

impl<'a> PartValue<'a> {
    fn of(part: &'a Part<'a>) -> Self {
        let mut value = Self {
            media_type: part.media_type.as_deref(),
            filename: part.filename.as_deref(),
            metadata: part.metadata,
            ..Self::default()
        };
        match &part.content {
            PartContent::Text(text) => value.text = Some(text),
            PartContent::Raw(base64) => value.raw = Some(base64),
            PartContent::Url(url) => value.url = Some(url),
            PartContent::Data(data) => value.data = Some(data),
            _ => {}
        }
        value
    }

    /// Bytes of the JSON text, about.
    fn bytes(&self) -> usize {
        let texts = [self.text, self.raw, self.url, self.media_type, self.filename];
        let values = [self.data, self.metadata].into_iter().flatten().map(|raw| raw.get().len());
        64 + texts.into_iter().flatten().map(str::len).sum::<usize>() + values.sum::<usize>()
    }

    /// The part without its content.
    fn outline(self) -> Self {
        let short = |text: Option<&'a str>| text.filter(|text| text.len() <= 1024);
        Self {
            media_type: short(self.media_type),
            filename: short(self.filename),
            omitted_bytes: Some(self.bytes()),
            ..Self::default()
        }
    }
}

/// The parts that are not text and that somebody can do something with.
pub(crate) fn not_text<'a>(parts: &'a [Part<'a>]) -> impl Iterator<Item = &'a Part<'a>> {
    parts.iter().filter(|part| !matches!(part.content, PartContent::Text(_) | PartContent::Unknown { .. }))
}

/// Most parts of one value.
const MAX_PARTS: usize = 256;

/// Parts as long as they fit into `max_bytes` together, the others without their content; and whether
/// something was left out.
pub(crate) fn bounded<'a>(
    parts: impl Iterator<Item = &'a Part<'a>>,
    max_bytes: usize,
) -> (Vec<PartValue<'a>>, bool) {
    let mut left = max_bytes;
    let mut truncated = false;
    let mut values = Vec::new();
    for part in parts {
        if values.len() == MAX_PARTS {
            truncated = true;
            break;
        }
        let value = PartValue::of(part);
        match left.checked_sub(value.bytes()) {
            Some(rest) => {
                left = rest;
                values.push(value);
            }
            None => {
                truncated = true;
                values.push(value.outline());
            }
        }
    }
    (values, truncated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(json: &str) -> Artifact<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn an_artifact_is_copied_as_it_came() {
        let json = r#"{ "artifactId":"a","parts":[{"data":{"n":1.0,"b":12345678901234567890}}],"new":[] }"#;
        let artifact = artifact(json);
        let value = ArtifactV1::new(&artifact, 1000).unwrap();
        assert_eq!(
            serde_json::to_string(&value).unwrap(),
            format!(r#"{{"schemaVersion":1,"artifactId":"a","artifact":{json}}}"#)
        );
    }

    #[test]
    fn a_large_artifact_keeps_what_fits_and_says_what_does_not() {
        let json = format!(
            r#"{{"artifactId":"a","name":"n","parts":[{{"text":"hi"}},{{"raw":"{}","mediaType":"image/png","filename":"a.png"}},{{"url":"u"}}]}}"#,
            "A".repeat(2000)
        );
        let artifact = artifact(&json);
        let value = ArtifactV1::new(&artifact, 500).unwrap();
        assert_eq!(
            serde_json::to_string(&value).unwrap(),
            concat!(
                r#"{"schemaVersion":1,"artifactId":"a","truncated":true,"artifact":{"artifactId":"a","name":"n","parts":["#,
                r#"{"text":"hi"},{"mediaType":"image/png","filename":"a.png","omittedBytes":2078},{"url":"u"}]}}"#,
            )
        );
    }

    #[test]
    fn only_the_parts_that_are_not_text_are_told_of_a_message() {
        let parts: Vec<Part<'_>> = serde_json::from_str(
            r#"[{"kind":"text","text":"t"},{"kind":"data","data":{"n":1.0}},{"kind":"file","file":{"uri":"http://u","mimeType":"text/csv","name":"a"}},{"kind":"odd"}]"#,
        )
        .unwrap();
        let value = MessageV1::new("m", &parts, 1000).unwrap();
        assert_eq!(
            serde_json::to_string(&value).unwrap(),
            concat!(
                r#"{"schemaVersion":1,"messageId":"m","parts":["#,
                r#"{"data":{"n":1.0}},{"url":"http://u","mediaType":"text/csv","filename":"a"}]}"#,
            )
        );
        assert!(MessageV1::new("m", &parts[..1], 1000).is_none());
    }
}
