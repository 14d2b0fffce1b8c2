use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::reply::as_text;
use crate::tolerant::{Text, optional_text};
use crate::{ArtifactUpdate, DecodeError, Message, Reply, StatusUpdate, Task, decode_reply};

/// What a streaming call delivers, and what a unary call answers.
///
/// ```
/// use a2a_wire::{StreamItem, TaskState};
///
/// // The same update as 1.0 and as 0.3 write it.
/// let new = br#"{"result":{"statusUpdate":{"taskId":"T1","contextId":"C1",
///     "status":{"state":"TASK_STATE_COMPLETED"}}}}"#;
/// let old = br#"{"result":{"kind":"status-update","taskId":"T1","contextId":"C1","final":true,
///     "status":{"state":"completed"}}}"#;
/// for datum in [&new[..], old] {
///     let StreamItem::StatusUpdate(update) = StreamItem::decode(datum)? else { panic!("a status") };
///     assert_eq!(update.status.state, TaskState::Completed);
/// }
/// # Ok::<(), a2a_wire::DecodeError>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum StreamItem<'a> {
    /// A whole task.
    Task(Box<Task<'a>>),
    /// A direct answer without a task.
    Message(Box<Message<'a>>),
    /// A task's new status.
    StatusUpdate(StatusUpdate<'a>),
    /// A task's new artifact, or more of one.
    ArtifactUpdate(ArtifactUpdate<'a>),
    /// None of the above.
    Unknown {
        /// 0.3 `kind`, or the first member's name.
        kind: Option<Cow<'a, str>>,
        /// The result, as received.
        raw: &'a RawValue,
    },
}

impl<'a> StreamItem<'a> {
    /// Reads one datum of a stream, or the body of a unary reply: a JSON-RPC envelope.
    ///
    /// # Errors
    /// [`DecodeError::ErrorReply`] if the envelope holds an error, else as
    /// [`decode_reply`](crate::decode_reply).
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        if let Ok(Envelope { error: None, result: Some(Wrapped(Some(item))) }) =
            serde_json::from_str(as_text(bytes)?)
        {
            return Ok(item);
        }
        match decode_reply(bytes)? {
            Reply::Result(raw) => Self::from_result(raw),
            Reply::Error(error) => Err(DecodeError::ErrorReply { code: error.code }),
        }
    }

    /// Reads the `result` of a reply: the 1.0 member name decides, else the 0.3 `kind`, else the shape.
    ///
    /// # Errors
    /// [`DecodeError::Json`] if an item of a known kind has members of another type.
    pub fn from_result(raw: &'a RawValue) -> Result<Self, DecodeError> {
        let text = raw.get();
        if !text.starts_with('{') {
            return Ok(Self::Unknown { kind: None, raw });
        }
        if let Wrapped(Some(item)) = serde_json::from_str(text)? {
            return Ok(item);
        }
        let probe: Probe<'a> = serde_json::from_str(text)?;
        match probe.guess() {
            Some(Kind::Task) => Ok(Self::Task(serde_json::from_str(text)?)),
            Some(Kind::Message) => Ok(Self::Message(serde_json::from_str(text)?)),
            Some(Kind::StatusUpdate) => Ok(Self::StatusUpdate(serde_json::from_str(text)?)),
            Some(Kind::ArtifactUpdate) => Ok(Self::ArtifactUpdate(serde_json::from_str(text)?)),
            None => Ok(Self::Unknown { kind: probe.kind.or(probe.first), raw }),
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Task,
    Message,
    StatusUpdate,
    ArtifactUpdate,
}

impl Kind {
    /// The 1.0 member that holds an item of this kind.
    fn from_member(name: &str) -> Option<Self> {
        match name {
            "statusUpdate" | "status_update" => Some(Self::StatusUpdate),
            "artifactUpdate" | "artifact_update" => Some(Self::ArtifactUpdate),
            "task" => Some(Self::Task),
            "message" => Some(Self::Message),
            _ => None,
        }
    }

    /// The 0.3 `kind`.
    fn from_kind(name: &str) -> Option<Self> {
        match name {
            "status-update" => Some(Self::StatusUpdate),
            "artifact-update" => Some(Self::ArtifactUpdate),
            "task" => Some(Self::Task),
            "message" => Some(Self::Message),
            _ => None,
        }
    }
}

/// The envelope in one pass, for results that are wrapped as 1.0 does.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    result: Option<Wrapped<'a>>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

/// The item of a result that is wrapped so.
struct Wrapped<'a>(Option<StreamItem<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Wrapped<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrappedVisitor)
    }
}

struct WrappedVisitor;

impl<'de> Visitor<'de> for WrappedVisitor {
    type Value = Wrapped<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a result")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Wrapped<'de>, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<Text<'de>>()? {
            let item = match Kind::from_member(&name.0) {
                Some(Kind::StatusUpdate) => map.next_value::<Option<_>>()?.map(StreamItem::StatusUpdate),
                Some(Kind::ArtifactUpdate) => map.next_value::<Option<_>>()?.map(StreamItem::ArtifactUpdate),
                Some(Kind::Task) => map.next_value::<Option<_>>()?.map(StreamItem::Task),
                Some(Kind::Message) => map.next_value::<Option<_>>()?.map(StreamItem::Message),
                None => {
                    map.next_value::<IgnoredAny>()?;
                    None
                }
            };
            found = found.or(item);
        }
        Ok(Wrapped(found))
    }
}

/// What tells the kind of a bare item.
#[derive(Default)]
struct Probe<'a> {
    kind: Option<Cow<'a, str>>,
    first: Option<Cow<'a, str>>,
    has_id: bool,
    has_task_id: bool,
    has_status: bool,
    has_artifact: bool,
    has_parts: bool,
}

impl Probe<'_> {
    fn guess(&self) -> Option<Kind> {
        if let Some(kind) = &self.kind {
            return Kind::from_kind(kind);
        }
        match self {
            Self { has_artifact: true, has_task_id: true, .. } => Some(Kind::ArtifactUpdate),
            Self { has_status: true, has_id: true, .. } => Some(Kind::Task),
            Self { has_status: true, has_task_id: true, .. } => Some(Kind::StatusUpdate),
            Self { has_parts: true, .. } => Some(Kind::Message),
            Self { .. } => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Probe<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ProbeVisitor)
    }
}

struct ProbeVisitor;

impl<'de> Visitor<'de> for ProbeVisitor {
    type Value = Probe<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Probe<'de>, A::Error> {
        let mut probe = Probe::default();
        while let Some(Text(name)) = map.next_key()? {
            match &*name {
                "kind" => {
                    probe.kind = map.next_value::<KindText<'de>>()?.0;
                    continue;
                }
                "id" => probe.has_id = true,
                "taskId" | "task_id" => probe.has_task_id = true,
                "status" => probe.has_status = true,
                "artifact" => probe.has_artifact = true,
                "parts" => probe.has_parts = true,
                _ => {}
            }
            map.next_value::<IgnoredAny>()?;
            probe.first.get_or_insert(name);
        }
        Ok(probe)
    }
}

#[derive(Deserialize)]
struct KindText<'a>(#[serde(borrow, deserialize_with = "optional_text")] Option<Cow<'a, str>>);

#[cfg(test)]
mod tests;
