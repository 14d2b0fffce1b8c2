//! What is wrong with messages, tool calls and steps.

use super::Change::{Behind, Instead, Whole, Without};
use super::Seed;

pub(super) const STREAMS: &[Seed] = &[
    (
        "message_opened_twice",
        Behind(8, &[r#"{"type":"TEXT_MESSAGE_START","messageId":"m1"}"#]),
        &[(9, "already-open")],
    ),
    ("content_without_start", Without(8), &[(8, "not-open")]),
    (
        "content_after_end",
        Behind(10, &[r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"!"}"#]),
        &[(11, "not-open")],
    ),
    (
        "end_without_start",
        Behind(10, &[r#"{"type":"TEXT_MESSAGE_END","messageId":"m2"}"#]),
        &[(11, "not-open")],
    ),
    ("message_left_open", Without(10), &[(17, "still-open")]),
    ("thought_without_start", Without(3), &[(3, "not-open")]),
    ("thought_left_open", Without(5), &[(17, "still-open")]),
    ("reasoning_span_left_open", Without(6), &[(17, "still-open")]),
    (
        "reasoning_span_ended_twice",
        Behind(6, &[r#"{"type":"REASONING_END","messageId":"s1"}"#]),
        &[(7, "not-open")],
    ),
    (
        "answer_under_the_id_of_a_thought",
        Behind(
            6,
            &[
                r#"{"type":"TEXT_MESSAGE_START","messageId":"x1"}"#,
                r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"x1","delta":"hi"}"#,
                r#"{"type":"TEXT_MESSAGE_END","messageId":"x1"}"#,
            ],
        ),
        &[(7, "shared-id")],
    ),
    // Tool calls and steps.
    ("arguments_without_start", Without(11), &[(11, "not-open")]),
    ("call_ended_twice", Behind(13, &[r#"{"type":"TOOL_CALL_END","toolCallId":"c1"}"#]), &[(14, "not-open")]),
    ("call_left_open", Without(13), &[(17, "still-open")]),
    (
        "arguments_cut",
        Instead(12, r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"path\":"}"#),
        &[(13, "arguments-not-json")],
    ),
    (
        "call_open_at_an_interrupt",
        Whole(&[
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
            r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"rm"}"#,
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}"#,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","toolCallId":"c"}]}}"#,
        ]),
        &[(4, "still-open")],
    ),
    ("step_finished_without_start", Without(7), &[(16, "not-open")]),
    ("step_left_open", Without(17), &[(17, "still-open")]),
    (
        "step_started_twice",
        Behind(7, &[r#"{"type":"STEP_STARTED","stepName":"read"}"#]),
        &[(8, "already-open")],
    ),
];
