//! What is wrong with subagents.

use super::Change::{Behind, Instead};
use super::Seed;

pub(super) const STREAMS: &[Seed] = &[
    (
        "subagent_never_started",
        Behind(14, &[r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"w"}"#]),
        &[(15, "not-open")],
    ),
    (
        "subagent_left_open",
        Behind(14, &[r#"{"type":"SUBAGENT_STARTED","subagentRunId":"w","name":"worker"}"#]),
        &[(19, "still-open")],
    ),
    (
        "subagent_started_again",
        Behind(
            14,
            &[
                r#"{"type":"SUBAGENT_STARTED","subagentRunId":"w","name":"worker"}"#,
                r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"w"}"#,
                r#"{"type":"SUBAGENT_STARTED","subagentRunId":"w","name":"worker"}"#,
                r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"w"}"#,
            ],
        ),
        &[(17, "subagent-reused")],
    ),
    (
        "subagent_of_an_unknown_parent",
        Behind(
            14,
            &[
                r#"{"type":"SUBAGENT_STARTED","subagentRunId":"w","name":"worker","parentSubagentRunId":"boss"}"#,
                r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"w"}"#,
            ],
        ),
        &[(15, "unknown-parent-subagent")],
    ),
    (
        "content_of_another_owner",
        Instead(9, r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"hi","subagentRunId":"w"}"#),
        &[(9, "owner-mismatch")],
    ),
    (
        "step_finished_by_another",
        Instead(17, r#"{"type":"STEP_FINISHED","stepName":"read","subagentRunId":"w"}"#),
        &[(17, "step-owner")],
    ),
    (
        "call_under_a_message_of_another",
        Instead(
            11,
            r#"{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"read_file","parentMessageId":"m1","subagentRunId":"w"}"#,
        ),
        &[(11, "parent-owner-mismatch")],
    ),
];
