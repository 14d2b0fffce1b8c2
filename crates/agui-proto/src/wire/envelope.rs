//! The envelope: which event a message holds.

use agui_core::{Event, EventBase, EventType};

use super::events::{
    ActivityDelta, ActivitySnapshot, Custom, MessagesSnapshot, Raw, ReasoningEncryptedValue, ReasoningEnd,
    ReasoningMessageChunk, ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart,
    ReasoningStart, StateDelta, StateSnapshot, StepFinished, StepStarted, SubagentError, SubagentStarted,
    TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, ToolCallArgs, ToolCallChunk,
    ToolCallEnd, ToolCallResult, ToolCallStart,
};
use super::run::{RunError, RunFinished, RunStarted, SubagentFinished};
use super::{Mirror, Opaque};
use crate::ProtoError;
use crate::json::{Members, Object};

/// What every event holds first, even if it is empty on the wire.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BaseEvent {
    #[prost(int32, tag = "1")]
    event_type: i32,
    #[prost(int64, optional, tag = "2")]
    timestamp: Option<i64>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    raw_event: Opaque,
    #[prost(bytes = "vec", repeated, tag = "4")]
    metadata: Opaque,
}

/// The declared type is not among them: the envelope says it in words.
impl Members for BaseEvent {
    fn members(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
        object.maybe_int("timestamp", &self.timestamp)?;
        object.value("rawEvent", &self.raw_event)?;
        object.object("metadata", &self.metadata)
    }
}

/// One event.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Envelope {
    #[prost(
        oneof = "Arm",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31"
    )]
    pub(crate) arm: Option<Arm>,
}

/// Defines the arms. The number of the field and the number of the type in the base are not the same.
macro_rules! arms {
    ($($name:ident = $field:literal, $declared:literal;)*) => {
        /// The event in an envelope.
        #[derive(Clone, PartialEq, prost::Oneof)]
        pub(crate) enum Arm {
            $(#[prost(message, tag = $field)] $name($name),)*
        }

        impl Arm {
            const fn event_type(&self) -> EventType {
                match self {
                    $(Self::$name(_) => EventType::$name,)*
                }
            }

            const fn declared(&self) -> i32 {
                match self {
                    $(Self::$name(_) => $declared,)*
                }
            }

            const fn base(&self) -> Option<&BaseEvent> {
                match self {
                    $(Self::$name(event) => event.base_event.as_ref(),)*
                }
            }

            const fn base_mut(&mut self) -> &mut Option<BaseEvent> {
                match self {
                    $(Self::$name(event) => &mut event.base_event,)*
                }
            }

            fn own_members(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
                match self {
                    $(Self::$name(event) => event.members(object),)*
                }
            }

            fn without_base(event: &Event) -> Result<Option<Self>, ProtoError> {
                Ok(match event {
                    $(Event::$name(event) => Some(Self::$name($name::mirror(event)?)),)*
                    _ => None,
                })
            }
        }
    };
}

arms! {
    TextMessageStart = "1", 0;
    TextMessageContent = "2", 1;
    TextMessageEnd = "3", 2;
    ToolCallStart = "4", 3;
    ToolCallArgs = "5", 4;
    ToolCallEnd = "6", 5;
    StateSnapshot = "7", 6;
    StateDelta = "8", 7;
    MessagesSnapshot = "9", 8;
    Raw = "10", 9;
    Custom = "11", 10;
    RunStarted = "12", 11;
    RunFinished = "13", 12;
    RunError = "14", 13;
    StepStarted = "15", 14;
    StepFinished = "16", 15;
    TextMessageChunk = "17", 19;
    ToolCallChunk = "18", 20;
    SubagentStarted = "19", 16;
    SubagentFinished = "20", 17;
    SubagentError = "21", 18;
    ToolCallResult = "22", 21;
    ActivitySnapshot = "23", 22;
    ActivityDelta = "24", 23;
    ReasoningStart = "25", 24;
    ReasoningMessageStart = "26", 25;
    ReasoningMessageContent = "27", 26;
    ReasoningMessageEnd = "28", 27;
    ReasoningMessageChunk = "29", 28;
    ReasoningEnd = "30", 29;
    ReasoningEncryptedValue = "31", 30;
}

impl Envelope {
    /// The envelope for an event.
    pub(crate) fn of(event: &Event) -> Result<Self, ProtoError> {
        // Every event of this version has an arm; one of a later version has none, and an empty envelope
        // is what the official encoder makes of it.
        let Some(mut arm) = Arm::without_base(event)? else { return Ok(Self { arm: None }) };
        let declared = arm.declared();
        *arm.base_mut() = Some(base(event.base(), declared)?);
        Ok(Self { arm: Some(arm) })
    }
}

impl Arm {
    /// The event as JSON.
    pub(crate) fn to_json(&self) -> Result<Vec<u8>, ProtoError> {
        let base = self.base().ok_or(ProtoError::TypeMismatch)?;
        if base.event_type != self.declared() {
            return Err(ProtoError::TypeMismatch);
        }
        let mut json = Vec::new();
        Object::write(&mut json, |object| {
            object.text("type", self.event_type().as_str())?;
            self.own_members(object)?;
            base.members(object)
        })?;
        Ok(json)
    }
}

fn base(of: &EventBase, declared: i32) -> Result<BaseEvent, ProtoError> {
    Ok(BaseEvent {
        event_type: declared,
        timestamp: of.timestamp,
        raw_event: Mirror::mirror(&of.raw_event)?,
        metadata: Mirror::mirror(&of.metadata)?,
    })
}
