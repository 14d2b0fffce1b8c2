//! Tool calls and their results.

use crate::{Content, MessageId, ToolCallId};

words! {
    /// The role of a tool result.
    ToolRole {
        /// `tool`, the only one.
        Tool = "tool",
    }
}

event! {
    /// Opens a tool call.
    pub struct ToolCallStart("TOOL_CALL_START", tagged) {
        required {
            /// Id of the call.
            tool_call_id: ToolCallId = "toolCallId",
            /// Name of the tool.
            tool_call_name: String = "toolCallName",
        }
        optional {
            /// The assistant message that carries the call.
            parent_message_id: MessageId = "parentMessageId", with_parent_message_id, compat;
        }
    }
}

event! {
    /// Appends a fragment of the arguments.
    pub struct ToolCallArgs("TOOL_CALL_ARGS", tagged) {
        required {
            /// Id of the call.
            tool_call_id: ToolCallId = "toolCallId",
            /// A fragment of the JSON text of the arguments; may be empty.
            delta: String = "delta",
        }
        optional {}
    }
}

event! {
    /// Says that the arguments are complete; says nothing about execution.
    pub struct ToolCallEnd("TOOL_CALL_END", tagged) {
        required {
            /// Id of the call.
            tool_call_id: ToolCallId = "toolCallId",
        }
        optional {}
    }
}

event! {
    /// Shorthand that opens, continues and implicitly closes a tool call.
    #[derive(Default)]
    pub struct ToolCallChunk("TOOL_CALL_CHUNK", tagged) {
        required {}
        optional {
            /// Id of the call; the first chunk needs it.
            tool_call_id: ToolCallId = "toolCallId", with_tool_call_id, plain;
            /// Name of the tool; the first chunk needs it.
            tool_call_name: String = "toolCallName", with_tool_call_name, plain;
            /// The assistant message that carries the call.
            parent_message_id: MessageId = "parentMessageId", with_parent_message_id, compat;
            /// A fragment of the JSON text of the arguments.
            delta: String = "delta", with_delta, plain;
        }
    }
}

event! {
    /// The result of a tool call, as a new tool message.
    pub struct ToolCallResult("TOOL_CALL_RESULT", tagged) {
        required {
            /// Id of the new tool message.
            message_id: MessageId = "messageId",
            /// The call that is answered.
            tool_call_id: ToolCallId = "toolCallId",
            /// The result. Peers older than 1.0 read a string only.
            content: Content = "content",
        }
        optional {
            /// Always `tool` when present.
            role: ToolRole = "role", with_role, plain;
        }
    }
}
