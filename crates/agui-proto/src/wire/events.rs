//! The events whose fields are their members.

use super::content::{Part, parts_of, text_of, write_content};
use super::message::Message;
use super::patch::JsonPatchOperation;
use super::{Mirror, Opaque};
use crate::ProtoError;
use crate::json::{Members, Object};

mirror_event! {
    TextMessageStart {
        message_id: String = "messageId" text [string, tag = "2"],
        role: Option<String> = "role" maybe_text [string, optional, tag = "3"],
        name: Option<String> = "name" maybe_text [string, optional, tag = "4"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "5"],
    }
}

mirror_event! {
    TextMessageContent {
        message_id: String = "messageId" text [string, tag = "2"],
        delta: String = "delta" text [string, tag = "3"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "4"],
    }
}

mirror_event! {
    TextMessageEnd {
        message_id: String = "messageId" text [string, tag = "2"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "3"],
    }
}

mirror_event! {
    TextMessageChunk {
        message_id: Option<String> = "messageId" maybe_text [string, optional, tag = "2"],
        role: Option<String> = "role" maybe_text [string, optional, tag = "3"],
        delta: Option<String> = "delta" maybe_text [string, optional, tag = "4"],
        name: Option<String> = "name" maybe_text [string, optional, tag = "5"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "6"],
    }
}

mirror_event! {
    ToolCallStart {
        tool_call_id: String = "toolCallId" text [string, tag = "2"],
        tool_call_name: String = "toolCallName" text [string, tag = "3"],
        parent_message_id: Option<String> = "parentMessageId" maybe_text [string, optional, tag = "4"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "5"],
    }
}

mirror_event! {
    ToolCallArgs {
        tool_call_id: String = "toolCallId" text [string, tag = "2"],
        delta: String = "delta" text [string, tag = "3"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "4"],
    }
}

mirror_event! {
    ToolCallEnd {
        tool_call_id: String = "toolCallId" text [string, tag = "2"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "3"],
    }
}

mirror_event! {
    ToolCallChunk {
        tool_call_id: Option<String> = "toolCallId" maybe_text [string, optional, tag = "2"],
        tool_call_name: Option<String> = "toolCallName" maybe_text [string, optional, tag = "3"],
        parent_message_id: Option<String> = "parentMessageId" maybe_text [string, optional, tag = "4"],
        delta: Option<String> = "delta" maybe_text [string, optional, tag = "5"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "6"],
    }
}

/// A result, whose content is a text or parts.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ToolCallResult {
    #[prost(message, optional, tag = "1")]
    pub(crate) base_event: Option<super::envelope::BaseEvent>,
    #[prost(string, optional, tag = "2")]
    subagent_run_id: Option<String>,
    #[prost(string, tag = "3")]
    message_id: String,
    #[prost(string, tag = "4")]
    tool_call_id: String,
    #[prost(string, optional, tag = "5")]
    content: Option<String>,
    #[prost(string, optional, tag = "6")]
    role: Option<String>,
    #[prost(message, repeated, tag = "7")]
    content_parts: Vec<Part>,
}

impl Mirror<agui_core::ToolCallResult> for ToolCallResult {
    fn mirror(of: &agui_core::ToolCallResult) -> Result<Self, ProtoError> {
        Ok(Self {
            base_event: None,
            subagent_run_id: Mirror::mirror(&of.subagent_run_id)?,
            message_id: Mirror::mirror(&of.message_id)?,
            tool_call_id: Mirror::mirror(&of.tool_call_id)?,
            content: text_of(&of.content),
            role: Mirror::mirror(&of.role)?,
            content_parts: parts_of(&of.content)?,
        })
    }
}

impl Members for ToolCallResult {
    fn members(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
        object.text("messageId", &self.message_id)?;
        object.text("toolCallId", &self.tool_call_id)?;
        write_content(object, self.content.as_ref(), &self.content_parts)?;
        object.maybe_text("role", &self.role)?;
        object.maybe_text("subagentRunId", &self.subagent_run_id)
    }
}

mirror_event! {
    StateSnapshot {
        snapshot: Opaque = "snapshot" value [bytes = "vec", repeated, tag = "2"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "3"],
    }
}

mirror_event! {
    StateDelta {
        delta: Vec<JsonPatchOperation> = "delta" array [message, repeated, tag = "2"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "3"],
    }
}

mirror_event! {
    MessagesSnapshot {
        messages: Vec<Message> = "messages" array [message, repeated, tag = "2"],
    }
}

mirror_event! {
    ActivitySnapshot {
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "2"],
        message_id: String = "messageId" text [string, tag = "3"],
        activity_type: String = "activityType" text [string, tag = "4"],
        content: Opaque = "content" object [bytes = "vec", repeated, tag = "5"],
        replace: Option<bool> = "replace" maybe_flag [bool, optional, tag = "6"],
    }
}

mirror_event! {
    ActivityDelta {
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "2"],
        message_id: String = "messageId" text [string, tag = "3"],
        activity_type: String = "activityType" text [string, tag = "4"],
        patch: Vec<JsonPatchOperation> = "patch" array [message, repeated, tag = "5"],
    }
}

mirror_event! {
    Raw {
        event: Opaque = "event" value [bytes = "vec", repeated, tag = "2"],
        source: Option<String> = "source" maybe_text [string, optional, tag = "3"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "4"],
    }
}

mirror_event! {
    Custom {
        name: String = "name" text [string, tag = "2"],
        value: Opaque = "value" value [bytes = "vec", repeated, tag = "3"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "4"],
    }
}

mirror_event! {
    StepStarted {
        step_name: String = "stepName" text [string, tag = "2"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "3"],
    }
}

mirror_event! {
    StepFinished {
        step_name: String = "stepName" text [string, tag = "2"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "3"],
    }
}

mirror_event! {
    ReasoningStart {
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "2"],
        message_id: String = "messageId" text [string, tag = "3"],
    }
}

mirror_event! {
    ReasoningEnd {
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "2"],
        message_id: String = "messageId" text [string, tag = "3"],
    }
}

event! {
    /// The role is a field on the wire, but always the same.
    ReasoningMessageStart {
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "2"],
        message_id: String = "messageId" text [string, tag = "3"],
        role: String = "role" text [string, tag = "4"],
    }
}

impl Mirror<agui_core::ReasoningMessageStart> for ReasoningMessageStart {
    fn mirror(of: &agui_core::ReasoningMessageStart) -> Result<Self, ProtoError> {
        Ok(Self {
            base_event: None,
            subagent_run_id: Mirror::mirror(&of.subagent_run_id)?,
            message_id: Mirror::mirror(&of.message_id)?,
            role: "reasoning".to_owned(),
        })
    }
}

mirror_event! {
    ReasoningMessageContent {
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "2"],
        message_id: String = "messageId" text [string, tag = "3"],
        delta: String = "delta" text [string, tag = "4"],
    }
}

mirror_event! {
    ReasoningMessageEnd {
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "2"],
        message_id: String = "messageId" text [string, tag = "3"],
    }
}

mirror_event! {
    ReasoningMessageChunk {
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "2"],
        message_id: Option<String> = "messageId" maybe_text [string, optional, tag = "3"],
        delta: Option<String> = "delta" maybe_text [string, optional, tag = "4"],
    }
}

mirror_event! {
    ReasoningEncryptedValue {
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "2"],
        subtype: String = "subtype" text [string, tag = "3"],
        entity_id: String = "entityId" text [string, tag = "4"],
        encrypted_value: String = "encryptedValue" text [string, tag = "5"],
    }
}

mirror_event! {
    SubagentStarted {
        subagent_run_id: String = "subagentRunId" text [string, tag = "2"],
        name: String = "name" text [string, tag = "3"],
        description: Option<String> = "description" maybe_text [string, optional, tag = "4"],
        parent_subagent_run_id: Option<String> = "parentSubagentRunId" maybe_text [string, optional, tag = "5"],
        parent_tool_call_id: Option<String> = "parentToolCallId" maybe_text [string, optional, tag = "6"],
        parent_message_id: Option<String> = "parentMessageId" maybe_text [string, optional, tag = "7"],
    }
}

mirror_event! {
    SubagentError {
        subagent_run_id: String = "subagentRunId" text [string, tag = "2"],
        message: String = "message" text [string, tag = "3"],
        code: Option<String> = "code" maybe_text [string, optional, tag = "4"],
    }
}
