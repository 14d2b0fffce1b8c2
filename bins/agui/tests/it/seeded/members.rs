//! What is wrong inside an event.

use super::Change::{Behind, Instead};
use super::Seed;

pub(super) const STREAMS: &[Seed] = &[
    (
        "null_timestamp",
        Instead(9, r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"hi","timestamp":null}"#),
        &[(9, "null-member")],
    ),
    (
        "null_result",
        Instead(18, r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":null}"#),
        &[(18, "null-tolerated")],
    ),
    (
        "missing_delta",
        Instead(9, r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1"}"#),
        &[(9, "missing-member")],
    ),
    ("missing_value", Behind(14, &[r#"{"type":"CUSTOM","name":"a.b"}"#]), &[(15, "missing-member")]),
    (
        "numeric_id",
        Instead(14, r#"{"type":"TOOL_CALL_RESULT","messageId":7,"toolCallId":"c1","content":"hello"}"#),
        &[(14, "wrong-type")],
    ),
    (
        "timestamp_as_text",
        Instead(
            9,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"hi","timestamp":"2026-01-01T00:00:00Z"}"#,
        ),
        &[(9, "wrong-type")],
    ),
    (
        "negative_count",
        Instead(18, r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{"inputTokens":-1}]}"#),
        &[(18, "out-of-range")],
    ),
    (
        "repeated_member",
        Instead(9, r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"hi","delta":"ho"}"#),
        &[(9, "duplicate-member")],
    ),
    (
        "half_a_surrogate_pair",
        Behind(
            14,
            &[
                r#"{"type":"TEXT_MESSAGE_START","messageId":"m\ud83d"}"#,
                r#"{"type":"TEXT_MESSAGE_END","messageId":"m\ud83d"}"#,
            ],
        ),
        &[(15, "lone-surrogate"), (16, "lone-surrogate")],
    ),
    (
        "role_of_nobody",
        Instead(8, r#"{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"narrator"}"#),
        &[(8, "not-allowed")],
    ),
    (
        "member_of_nobody",
        Instead(8, r#"{"type":"TEXT_MESSAGE_START","messageId":"m1","author":"me"}"#),
        &[(8, "unknown-member")],
    ),
    ("unknown_event", Behind(14, &[r#"{"type":"PROGRESS","percent":50}"#]), &[(15, "unknown-event")]),
    (
        "thinking",
        Behind(1, &[r#"{"type":"THINKING_START"}"#, r#"{"type":"THINKING_END"}"#]),
        &[(2, "retired-event"), (3, "retired-event")],
    ),
    (
        "binary_part",
        Instead(
            14,
            r#"{"type":"TOOL_CALL_RESULT","messageId":"o1","toolCallId":"c1","content":[{"type":"binary","mimeType":"image/png","url":"https://files.example/a.png"}]}"#,
        ),
        &[(14, "retired-part")],
    ),
    ("no_type", Behind(14, &[r#"{"name":"a.b","value":1}"#]), &[(15, "no-type")]),
];
