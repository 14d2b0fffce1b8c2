//! Invocations of subagents.

use crate::{Json, MessageId, SubagentOutcome, SubagentRunId, ToolCallId};

event! {
    /// Opens an invocation.
    pub struct SubagentStarted("SUBAGENT_STARTED", untagged) {
        required {
            /// Id of the invocation; used once in a run.
            subagent_run_id: SubagentRunId = "subagentRunId",
            /// Name of the subagent.
            name: String = "name",
        }
        optional {
            /// What it is asked to do.
            description: String = "description", with_description, plain;
            /// The invocation that made this one.
            parent_subagent_run_id: SubagentRunId = "parentSubagentRunId", with_parent_subagent_run_id, plain;
            /// The tool call that made this one.
            parent_tool_call_id: ToolCallId = "parentToolCallId", with_parent_tool_call_id, plain;
            /// The message that made this one.
            parent_message_id: MessageId = "parentMessageId", with_parent_message_id, plain;
        }
    }
}

event! {
    /// Closes an invocation that did not fail.
    pub struct SubagentFinished("SUBAGENT_FINISHED", untagged) {
        required {
            /// Id of the invocation.
            subagent_run_id: SubagentRunId = "subagentRunId",
        }
        optional {
            /// Its result; never `null`.
            result: Json = "result", with_result, compat;
            /// How it ended; absent means success.
            outcome: SubagentOutcome = "outcome", with_outcome, plain;
        }
    }
}

event! {
    /// Closes an invocation that failed; the run goes on.
    pub struct SubagentError("SUBAGENT_ERROR", untagged) {
        required {
            /// Id of the invocation.
            subagent_run_id: SubagentRunId = "subagentRunId",
            /// What went wrong, for a person.
            message: String = "message",
        }
        optional {
            /// Machine-readable code.
            code: String = "code", with_code, plain;
        }
    }
}
