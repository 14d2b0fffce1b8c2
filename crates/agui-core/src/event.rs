//! The events of AG-UI 1.0.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::decode::{DecodeError, Fields, Reader};
use crate::record::{Inline, put};
use crate::{Json, JsonObject, UnixMillis};

#[macro_use]
mod table;
mod activity;
mod codec;
mod reasoning;
mod run;
mod special;
mod state;
mod step;
mod subagent;
mod text;
mod tool_call;

pub use activity::{ActivityDelta, ActivitySnapshot};
pub use codec::{Decoded, UnknownEvent, decode_event, decode_event_with};
pub use reasoning::{
    EncryptedValueSubtype, ReasoningEncryptedValue, ReasoningEnd, ReasoningMessageChunk,
    ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart, ReasoningStart,
};
pub use run::{RunError, RunFinished, RunStarted};
pub use special::{Custom, Raw};
pub use state::{MessagesSnapshot, StateDelta, StateSnapshot};
pub use step::{StepFinished, StepStarted};
pub use subagent::{SubagentError, SubagentFinished, SubagentStarted};
pub use text::{TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, TextRole};
pub use tool_call::{ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart, ToolRole};

/// Members that every event may carry.
///
/// Source: AG-UI 1.0, "Events", base properties.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct EventBase {
    /// When the event happened, in milliseconds since the Unix epoch; informational.
    pub timestamp: Option<i64>,
    /// The event of the provider that this one was made from.
    pub raw_event: Option<Json>,
    /// Open keys; merged into the item that the event builds.
    pub metadata: Option<JsonObject>,
}

impl Inline for EventBase {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        put(map, "timestamp", self.timestamp.as_ref())?;
        put(map, "rawEvent", self.raw_event.as_ref())?;
        put(map, "metadata", self.metadata.as_ref())
    }

    fn read(fields: &Fields<'_>, reader: &mut Reader) -> Result<Self, DecodeError> {
        Ok(Self {
            timestamp: fields.plain("timestamp", reader)?,
            raw_event: fields.compat("rawEvent", reader)?,
            metadata: fields.plain("metadata", reader)?,
        })
    }

    #[cfg(feature = "schema")]
    fn describe(members: &mut crate::schema::Members, generator: &mut schemars::SchemaGenerator) {
        use crate::schema::WireSchema;
        let doc = "When the event happened, in milliseconds since the Unix epoch; informational.";
        members.optional("timestamp", doc, i64::wire_schema(generator));
        let doc = "The event of the provider that this one was made from.";
        members.optional("rawEvent", doc, Json::wire_schema(generator));
        let doc = "Open keys; merged into the item that the event builds.";
        members.optional("metadata", doc, JsonObject::wire_schema(generator));
    }
}

event_table! {
    RunStarted "RUN_STARTED" untagged,
    RunFinished "RUN_FINISHED" untagged,
    RunError "RUN_ERROR" untagged,
    StepStarted "STEP_STARTED" tagged,
    StepFinished "STEP_FINISHED" tagged,
    TextMessageStart "TEXT_MESSAGE_START" tagged,
    TextMessageContent "TEXT_MESSAGE_CONTENT" tagged,
    TextMessageEnd "TEXT_MESSAGE_END" tagged,
    TextMessageChunk "TEXT_MESSAGE_CHUNK" tagged,
    ToolCallStart "TOOL_CALL_START" tagged,
    ToolCallArgs "TOOL_CALL_ARGS" tagged,
    ToolCallEnd "TOOL_CALL_END" tagged,
    ToolCallChunk "TOOL_CALL_CHUNK" tagged,
    ToolCallResult "TOOL_CALL_RESULT" tagged,
    StateSnapshot "STATE_SNAPSHOT" tagged,
    StateDelta "STATE_DELTA" tagged,
    MessagesSnapshot "MESSAGES_SNAPSHOT" untagged,
    ActivitySnapshot "ACTIVITY_SNAPSHOT" tagged,
    ActivityDelta "ACTIVITY_DELTA" tagged,
    Raw "RAW" tagged,
    Custom "CUSTOM" tagged,
    ReasoningStart "REASONING_START" tagged,
    ReasoningEnd "REASONING_END" tagged,
    ReasoningMessageStart "REASONING_MESSAGE_START" tagged,
    ReasoningMessageContent "REASONING_MESSAGE_CONTENT" tagged,
    ReasoningMessageEnd "REASONING_MESSAGE_END" tagged,
    ReasoningMessageChunk "REASONING_MESSAGE_CHUNK" tagged,
    ReasoningEncryptedValue "REASONING_ENCRYPTED_VALUE" tagged,
    SubagentStarted "SUBAGENT_STARTED" subject,
    SubagentFinished "SUBAGENT_FINISHED" subject,
    SubagentError "SUBAGENT_ERROR" subject,
}

impl Event {
    /// Sets the time of the event.
    pub fn set_timestamp(&mut self, at: UnixMillis) {
        self.base_mut().timestamp = Some(millis(at));
    }

    /// Appends the event as one line of compact JSON.
    ///
    /// # Errors
    /// None in practice: every member has a JSON form and the buffer grows.
    pub fn to_json_into(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        serde_json::to_writer(out, self)
    }
}

/// A time as the protocol carries it, kept inside the range that every reader holds exactly.
pub(crate) fn millis(at: UnixMillis) -> i64 {
    i64::try_from(at.as_u64()).unwrap_or(i64::MAX).min(crate::decode::MAX_SAFE_INTEGER)
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not the name of an event of AG-UI 1.0.
///
/// ```
/// use agui_core::EventType;
///
/// assert_eq!("RUN_STARTED".parse::<EventType>(), Ok(EventType::RunStarted));
/// assert!("THINKING_START".parse::<EventType>().is_err()); // of 0.x
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownEventType;

impl fmt::Display for UnknownEventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an event type of AG-UI 1.0")
    }
}

impl std::error::Error for UnknownEventType {}

impl std::str::FromStr for EventType {
    type Err = UnknownEventType;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|known| known.as_str() == name).ok_or(UnknownEventType)
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
