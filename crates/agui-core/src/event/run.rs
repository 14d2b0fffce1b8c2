//! Begin and end of a run.

use crate::{Json, Outcome, RunAgentInput, RunId, ThreadId, TokenUsage};

event! {
    /// Opens a run; the ids echo the request.
    pub struct RunStarted("RUN_STARTED", untagged) {
        required {
            /// The thread of the request.
            thread_id: ThreadId = "threadId",
            /// The run of the request.
            run_id: RunId = "runId",
        }
        optional {
            /// Protocol version of the sender, see [`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION).
            protocol_version: String = "protocolVersion", with_protocol_version, plain;
            /// The run that spawned this one.
            parent_run_id: RunId = "parentRunId", with_parent_run_id, plain;
            /// The input of the run.
            input: Box<RunAgentInput> = "input", with_input, plain;
        }
    }
}

event! {
    /// Closes a run that did not fail.
    pub struct RunFinished("RUN_FINISHED", untagged) {
        required {
            /// The thread of the run.
            thread_id: ThreadId = "threadId",
            /// The run that ends.
            run_id: RunId = "runId",
        }
        optional {
            /// The result of the run; never `null`.
            result: Json = "result", with_result, compat;
            /// How the run ended; absent means success.
            outcome: Outcome = "outcome", with_outcome, compat;
            /// Tokens that the run used, one entry for each provider and model.
            usage: TokenUsage = "usage", with_usage, list;
        }
    }
}

event! {
    /// Ends a run, or a stream before its run, with a failure.
    pub struct RunError("RUN_ERROR", untagged) {
        required {
            /// What went wrong, for a person; never empty.
            message: String = "message",
        }
        optional {
            /// Machine-readable code; the vocabulary is open.
            code: String = "code", with_code, plain;
            /// Tokens that the run used, one entry for each provider and model.
            usage: TokenUsage = "usage", with_usage, list;
        }
    }
}
