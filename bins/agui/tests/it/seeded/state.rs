//! What is wrong with shared state and activities.

use super::Change::{Behind, Instead, Whole};
use super::Seed;

pub(super) const STREAMS: &[Seed] = &[
    (
        "patch_of_what_is_not_there",
        Instead(16, r#"{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/total","value":2}]}"#),
        &[(16, "state-patch")],
    ),
    (
        "path_without_slash",
        Instead(16, r#"{"type":"STATE_DELTA","delta":[{"op":"replace","path":"count","value":2}]}"#),
        &[(16, "bad-pointer")],
    ),
    (
        "operation_without_value",
        Instead(16, r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/count"}]}"#),
        &[(16, "missing-member")],
    ),
    (
        "unknown_operation",
        Instead(16, r#"{"type":"STATE_DELTA","delta":[{"op":"increment","path":"/count","value":1}]}"#),
        &[(16, "unknown-kind")],
    ),
    (
        "patch_before_a_snapshot",
        Whole(&[
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
            r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/draft"}]}"#,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
        ]),
        &[(2, "state-base")],
    ),
    (
        "activity_patch_fails",
        Behind(
            14,
            &[
                r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a1","activityType":"plan","content":{"steps":[]}}"#,
                r#"{"type":"ACTIVITY_DELTA","messageId":"a1","activityType":"plan","patch":[{"op":"replace","path":"/done","value":1}]}"#,
            ],
        ),
        &[(16, "activity-patch")],
    ),
    (
        "text_under_the_id_of_an_activity",
        Behind(
            14,
            &[
                r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a1","activityType":"plan","content":{"steps":[]}}"#,
                r#"{"type":"TEXT_MESSAGE_START","messageId":"a1"}"#,
                r#"{"type":"TEXT_MESSAGE_END","messageId":"a1"}"#,
            ],
        ),
        &[(16, "lost-event")],
    ),
];
