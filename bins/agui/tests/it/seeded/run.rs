//! What is wrong with the life of a run.

use super::Change::{Behind, Instead, Whole, Without};
use super::Seed;

pub(super) const STREAMS: &[Seed] = &[
    ("no_run_started", Without(1), &[(1, "first-event")]),
    (
        "custom_before_run_started",
        Behind(0, &[r#"{"type":"CUSTOM","name":"a.b","value":1}"#]),
        &[(1, "first-event")],
    ),
    (
        "run_started_twice",
        Behind(6, &[r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#]),
        &[(7, "run-still-active")],
    ),
    (
        "next_run_before_the_end",
        Whole(&[
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r2"}"#,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}"#,
        ]),
        &[(2, "run-still-active")],
    ),
    ("never_finished", Without(18), &[(0, "unterminated")]),
    (
        "event_after_the_end",
        Behind(18, &[r#"{"type":"CUSTOM","name":"a.b","value":1}"#]),
        &[(19, "after-run-finished")],
    ),
    (
        "finished_twice",
        Behind(18, &[r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#]),
        &[(19, "after-run-finished")],
    ),
    ("error_and_finish", Behind(17, &[r#"{"type":"RUN_ERROR","message":"no"}"#]), &[(19, "after-run-error")]),
    (
        "text_after_error",
        Whole(&[
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
            r#"{"type":"RUN_ERROR","message":"no"}"#,
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"sorry"}"#,
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
        ]),
        &[(3, "after-run-error")],
    ),
    (
        "finished_another_run",
        Instead(18, r#"{"type":"RUN_FINISHED","threadId":"t","runId":"other"}"#),
        &[(18, "run-ids")],
    ),
    (
        "second_run_on_another_thread",
        Behind(
            18,
            &[
                r#"{"type":"RUN_STARTED","threadId":"t2","runId":"r2"}"#,
                r#"{"type":"RUN_FINISHED","threadId":"t2","runId":"r2"}"#,
            ],
        ),
        &[(19, "thread-changed")],
    ),
];
