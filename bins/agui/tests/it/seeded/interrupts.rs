//! What is wrong with questions.

use super::Change::Instead;
use super::Seed;

pub(super) const STREAMS: &[Seed] = &[
    (
        "interrupts_with_one_id",
        Instead(
            18,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"confirmation"},{"id":"i","reason":"confirmation"}]}}"#,
        ),
        &[(18, "duplicate-interrupt")],
    ),
    (
        "interrupt_without_a_question",
        Instead(
            18,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[]}}"#,
        ),
        &[(18, "empty-list")],
    ),
    (
        "unknown_outcome",
        Instead(18, r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"postponed"}}"#),
        &[(18, "unknown-kind")],
    ),
];
