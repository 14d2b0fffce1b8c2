//! What is wrong around the events; last, several faults at once: each is told, none hides another.

use super::Change::{Behind, Cut, Instead, Text, Whole};
use super::Seed;

pub(super) const STREAMS: &[Seed] = &[
    ("carriage_returns", Text("\n", "\r\n"), &[(0, "line-ends")]),
    ("done_mark", Behind(18, &["[DONE]"]), &[(19, "not-json")]),
    (
        "list_of_events",
        Instead(9, r#"[{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"hi"}]"#),
        &[(9, "not-object")],
    ),
    (
        "line_without_data",
        Text("data: {\"type\":\"STATE_DELTA\"", "{\"type\":\"STATE_DELTA\""),
        &[(0, "sse-line")],
    ),
    ("cut_inside_a_record", Cut(40), &[(0, "cut-record"), (0, "unterminated")]),
    ("no_blank_line_at_the_end", Cut(2), &[(0, "no-blank-line")]),
    // Several at once: each is told, none hides another.
    (
        "many",
        Whole(&[
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"early","timestamp":null}"#,
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
            r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}"#,
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"oops"}"#,
            r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
            r#"{"type":"STEP_FINISHED","stepName":"s"}"#,
            r#"{"type":"TEXT_MESSAGE_START","messageId":"n","role":"assistant"}"#,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"else"}"#,
            r#"{"type":"CUSTOM","name":"late"}"#,
        ]),
        &[
            (1, "null-member"),
            (1, "first-event"),
            (1, "not-open"),
            (5, "arguments-not-json"),
            (6, "not-open"),
            (8, "run-ids"),
            (8, "still-open"),
            (9, "missing-member"),
            (9, "after-run-finished"),
        ],
    ),
];
