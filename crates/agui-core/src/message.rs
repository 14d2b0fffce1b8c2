//! Messages of a thread.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::content::union;
use crate::decode::{self, Decode, DecodeError, DecodeErrorKind, Path, Reader, discriminator};
use crate::{Content, JsonObject, MessageId, SubagentRunId, ToolCall, ToolCallId};

/// Defines one kind of message: id, content, its own members and the shared optional ones.
macro_rules! message {
    (
        $(#[doc = $doc:literal])*
        $name:ident $role:literal { $($required:tt)* } { $($optional:tt)* }
    ) => {
        record! {
            $(#[doc = $doc])*
            pub struct $name tag("role": $role) {
                required {
                    /// Id of the message.
                    id: MessageId = "id",
                    $($required)*
                }
                optional {
                    $($optional)*
                    /// Open keys.
                    metadata: JsonObject = "metadata", with_metadata, plain;
                    /// The subagent invocation it belongs to.
                    subagent_run_id: SubagentRunId = "subagentRunId", with_subagent_run_id, plain;
                }
            }
        }
    };
}

message! {
    /// Instructions of the developer.
    DeveloperMessage "developer" {
        /// The text.
        content: String = "content",
    } {
        /// Name of the speaker.
        name: String = "name", with_name, plain;
        /// Reasoning that only the provider can read.
        encrypted_value: String = "encryptedValue", with_encrypted_value, plain;
    }
}

message! {
    /// Instructions of the system.
    SystemMessage "system" {
        /// The text.
        content: String = "content",
    } {
        /// Name of the speaker.
        name: String = "name", with_name, plain;
        /// Reasoning that only the provider can read.
        encrypted_value: String = "encryptedValue", with_encrypted_value, plain;
    }
}

message! {
    /// What the user says.
    UserMessage "user" {
        /// Text or parts.
        content: Content = "content",
    } {
        /// Name of the speaker.
        name: String = "name", with_name, plain;
        /// Reasoning that only the provider can read.
        encrypted_value: String = "encryptedValue", with_encrypted_value, plain;
    }
}

message! {
    /// What the assistant says and calls.
    AssistantMessage "assistant" {} {
        /// The text, if it says something.
        content: String = "content", with_content, plain;
        /// The calls, in order.
        tool_calls: ToolCall = "toolCalls", with_tool_calls, list;
        /// Name of the speaker.
        name: String = "name", with_name, plain;
        /// Reasoning that only the provider can read.
        encrypted_value: String = "encryptedValue", with_encrypted_value, plain;
    }
}

message! {
    /// The result of a tool call.
    ToolMessage "tool" {
        /// The call that is answered.
        tool_call_id: ToolCallId = "toolCallId",
        /// Text or parts.
        content: Content = "content",
    } {
        /// Why the call failed.
        error: String = "error", with_error, plain;
        /// Reasoning that only the provider can read.
        encrypted_value: String = "encryptedValue", with_encrypted_value, plain;
    }
}

message! {
    /// An activity; the front end's own, not meant for the model.
    ActivityMessage "activity" {
        /// Kind of activity.
        activity_type: String = "activityType",
        /// Content of the activity.
        content: JsonObject = "content",
    } {}
}

message! {
    /// Reasoning of the model; clients send it back.
    ReasoningMessage "reasoning" {
        /// The text.
        content: String = "content",
    } {
        /// Reasoning that only the provider can read.
        encrypted_value: String = "encryptedValue", with_encrypted_value, plain;
    }
}

union! {
    /// One message of a thread.
    Message by "role" {
        /// Instructions of the developer.
        Developer(DeveloperMessage) = "developer",
        /// Instructions of the system.
        System(SystemMessage) = "system",
        /// What the user says.
        User(UserMessage) = "user",
        /// What the assistant says and calls.
        Assistant(AssistantMessage) = "assistant",
        /// The result of a tool call.
        Tool(ToolMessage) = "tool",
        /// An activity.
        Activity(ActivityMessage) = "activity",
        /// Reasoning of the model.
        Reasoning(ReasoningMessage) = "reasoning",
    }
}

impl Message {
    /// Id of the message.
    #[must_use]
    pub const fn id(&self) -> &MessageId {
        match self {
            Self::Developer(message) => &message.id,
            Self::System(message) => &message.id,
            Self::User(message) => &message.id,
            Self::Assistant(message) => &message.id,
            Self::Tool(message) => &message.id,
            Self::Activity(message) => &message.id,
            Self::Reasoning(message) => &message.id,
        }
    }

    /// The subagent invocation that the message belongs to.
    #[must_use]
    pub const fn subagent_run_id(&self) -> Option<&SubagentRunId> {
        match self {
            Self::Developer(message) => message.subagent_run_id.as_ref(),
            Self::System(message) => message.subagent_run_id.as_ref(),
            Self::User(message) => message.subagent_run_id.as_ref(),
            Self::Assistant(message) => message.subagent_run_id.as_ref(),
            Self::Tool(message) => message.subagent_run_id.as_ref(),
            Self::Activity(message) => message.subagent_run_id.as_ref(),
            Self::Reasoning(message) => message.subagent_run_id.as_ref(),
        }
    }
}
