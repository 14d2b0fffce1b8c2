//! What is wrong with chunks.

use super::Change::Behind;
use super::Seed;

pub(super) const STREAMS: &[Seed] = &[
    (
        "chunk_without_id",
        Behind(
            6,
            &[r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"a"}"#, r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}"#],
        ),
        &[(7, "chunk-incomplete")],
    ),
    (
        "chunk_without_a_tool",
        Behind(6, &[r#"{"type":"TOOL_CALL_CHUNK","toolCallId":"c0","delta":"{}"}"#]),
        &[(7, "chunk-incomplete")],
    ),
    (
        "chunk_changes_the_role",
        Behind(
            6,
            &[
                r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m0","delta":"a"}"#,
                r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m0","role":"user","delta":"b"}"#,
            ],
        ),
        &[(8, "chunk-conflict")],
    ),
    (
        "chunk_of_either",
        Behind(
            6,
            &[
                r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m8","delta":"a","subagentRunId":"u"}"#,
                r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m9","delta":"a","subagentRunId":"w"}"#,
                r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}"#,
            ],
        ),
        &[(9, "chunk-ambiguous")],
    ),
    (
        "chunk_and_end",
        Behind(
            6,
            &[
                r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m0","delta":"a"}"#,
                r#"{"type":"TEXT_MESSAGE_END","messageId":"m0"}"#,
            ],
        ),
        &[(8, "not-open")],
    ),
];
