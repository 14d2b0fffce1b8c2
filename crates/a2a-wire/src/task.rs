use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::value::RawValue;

use crate::tolerant::{flag, loose_text, optional_flag, optional_text, or_default, text};
use crate::{Message, Part, TaskState};

/// A task as it stands.
///
/// The history of a new task repeats the user's message with its metadata, secrets included: never log,
/// store or forward it.
///
/// Source: A2A `Task`.
#[derive(Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(default, rename_all = "camelCase")]
pub struct Task<'a> {
    /// Id of the task; empty if absent.
    #[serde(borrow, deserialize_with = "text")]
    pub id: Cow<'a, str>,
    /// Conversation.
    #[serde(borrow, alias = "context_id", deserialize_with = "optional_text")]
    pub context_id: Option<Cow<'a, str>>,
    /// Where the task stands.
    #[serde(borrow, deserialize_with = "or_default")]
    pub status: TaskStatus<'a>,
    /// What it has made.
    #[serde(borrow, deserialize_with = "or_default")]
    pub artifacts: Vec<Artifact<'a>>,
    /// Its messages, oldest first.
    #[serde(borrow, deserialize_with = "or_default")]
    pub history: Vec<Message<'a>>,
    /// Free-form object, as received.
    #[serde(borrow)]
    pub metadata: Option<&'a RawValue>,
}

/// Tasks of a conversation, newest status first.
///
/// Source: A2A 1.0 `ListTasksResponse`.
#[derive(Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(default, rename_all = "camelCase")]
pub struct TaskList<'a> {
    /// The tasks of this page.
    #[serde(borrow, deserialize_with = "or_default")]
    pub tasks: Vec<Task<'a>>,
}

impl<'a> TaskList<'a> {
    /// Reads the `result` of [`Method::ListTasks`](crate::Method::ListTasks).
    ///
    /// # Errors
    /// [`DecodeError`](crate::DecodeError) if it is another shape.
    pub fn from_result(result: &'a RawValue) -> Result<Self, crate::DecodeError> {
        Ok(serde_json::from_str(result.get())?)
    }
}

/// Where a task stands.
///
/// Source: A2A `TaskStatus`.
#[derive(Debug, Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct TaskStatus<'a> {
    /// State.
    pub state: TaskState,
    /// What the agent says about it.
    #[serde(borrow)]
    pub message: Option<Message<'a>>,
    /// When it was reached, RFC 3339.
    #[serde(borrow, deserialize_with = "loose_text")]
    pub timestamp: Option<Cow<'a, str>>,
}

/// A task has a new status.
///
/// Source: A2A `TaskStatusUpdateEvent`.
#[derive(Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(default, rename_all = "camelCase")]
pub struct StatusUpdate<'a> {
    /// Id of the task; empty if absent.
    #[serde(borrow, alias = "task_id", deserialize_with = "text")]
    pub task_id: Cow<'a, str>,
    /// Conversation; empty if absent.
    #[serde(borrow, alias = "context_id", deserialize_with = "text")]
    pub context_id: Cow<'a, str>,
    /// The new status.
    #[serde(borrow, deserialize_with = "or_default")]
    pub status: TaskStatus<'a>,
    /// 0.3 only: whether the stream ends here. The end of the stream says the same and is always there.
    #[serde(rename = "final", deserialize_with = "optional_flag")]
    pub is_final: Option<bool>,
    /// Free-form object, as received.
    #[serde(borrow)]
    pub metadata: Option<&'a RawValue>,
}

/// A task has a new artifact, or more of one.
///
/// Source: A2A `TaskArtifactUpdateEvent`.
#[derive(Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(default, rename_all = "camelCase")]
pub struct ArtifactUpdate<'a> {
    /// Id of the task; empty if absent.
    #[serde(borrow, alias = "task_id", deserialize_with = "text")]
    pub task_id: Cow<'a, str>,
    /// Conversation; empty if absent.
    #[serde(borrow, alias = "context_id", deserialize_with = "text")]
    pub context_id: Cow<'a, str>,
    /// The artifact.
    #[serde(borrow, deserialize_with = "or_default")]
    pub artifact: Artifact<'a>,
    /// Whether its parts continue an artifact of the same id, instead of replacing it.
    #[serde(deserialize_with = "flag")]
    pub append: bool,
    /// Whether the artifact is complete.
    #[serde(alias = "last_chunk", deserialize_with = "flag")]
    pub last_chunk: bool,
    /// Free-form object, as received.
    #[serde(borrow)]
    pub metadata: Option<&'a RawValue>,
}

/// Something that a task has made.
///
/// Source: A2A `Artifact`.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Artifact<'a> {
    /// The whole artifact, as received; `None` only in a default value.
    pub raw: Option<&'a RawValue>,
    /// Id within its task; empty if absent.
    pub artifact_id: Cow<'a, str>,
    /// Name for people.
    pub name: Option<Cow<'a, str>>,
    /// Description for people.
    pub description: Option<Cow<'a, str>>,
    /// Content.
    pub parts: Vec<Part<'a>>,
    /// Free-form object, as received.
    pub metadata: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ArtifactMembers<'a> {
    #[serde(borrow, alias = "artifact_id", deserialize_with = "text")]
    artifact_id: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "loose_text")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "loose_text")]
    description: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "or_default")]
    parts: Vec<Part<'a>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Artifact<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'a RawValue>::deserialize(deserializer)?;
        let members: ArtifactMembers<'a> =
            serde_json::from_str(raw.get()).map_err(|_| D::Error::custom("not an artifact"))?;
        Ok(Self {
            raw: Some(raw),
            artifact_id: members.artifact_id,
            name: members.name,
            description: members.description,
            parts: members.parts,
            metadata: members.metadata,
        })
    }
}
