//! Questions that end a run, and their answers.

use crate::{InterruptId, Json, JsonObject, SubagentRunId, ToolCallId};

record! {
    /// One open question of a run.
    ///
    /// Source: AG-UI 1.0, "Interrupts".
    pub struct Interrupt {
        required {
            /// Unique within the run; the answer names it.
            id: InterruptId = "id",
            /// Why the run stops: `tool_call`, `input_required`, `confirmation` or `<vendor>:<name>`.
            reason: String = "reason",
        }
        optional {
            /// The question, for a person.
            message: String = "message", with_message, plain;
            /// The tool call that waits.
            tool_call_id: ToolCallId = "toolCallId", with_tool_call_id, plain;
            /// JSON Schema of the answer.
            response_schema: JsonObject = "responseSchema", with_response_schema, plain;
            /// When the question lapses; ISO 8601 by convention.
            expires_at: String = "expiresAt", with_expires_at, plain;
            /// Open keys.
            metadata: JsonObject = "metadata", with_metadata, plain;
            /// The subagent invocation that asks.
            subagent_run_id: SubagentRunId = "subagentRunId", with_subagent_run_id, plain;
        }
    }
}

words! {
    /// Whether an interrupt was answered or abandoned.
    ResumeStatus {
        /// Answered; a refusal is an answer too.
        Resolved = "resolved",
        /// Abandoned.
        Cancelled = "cancelled",
    }
}

record! {
    /// The answer to one interrupt of an earlier run.
    pub struct ResumeEntry {
        required {
            /// The interrupt.
            interrupt_id: InterruptId = "interruptId",
            /// Whether it was answered.
            status: ResumeStatus = "status",
        }
        optional {
            /// The answer; may be absent or falsy even if the interrupt was answered.
            payload: Json = "payload", with_payload, compat;
            /// Open keys.
            metadata: JsonObject = "metadata", with_metadata, plain;
        }
    }
}
