//! Broken streams, made by rule: one good stream and a change for each, with the findings that are due.
//!
//! The files lie in `tests/streams`, with `expected.json` as their table, for checkers of other languages;
//! `AGUI_WRITE_STREAMS=1` writes them anew.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::program::agui;

/// A stream in which nothing is wrong.
const GOOD: [&str; 18] = [
    r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}"#,
    r#"{"type":"REASONING_START","messageId":"s1"}"#,
    r#"{"type":"REASONING_MESSAGE_START","messageId":"x1","role":"reasoning"}"#,
    r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"x1","delta":"A file is to be read."}"#,
    r#"{"type":"REASONING_MESSAGE_END","messageId":"x1"}"#,
    r#"{"type":"REASONING_END","messageId":"s1"}"#,
    r#"{"type":"STEP_STARTED","stepName":"read"}"#,
    r#"{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}"#,
    r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"I read the file."}"#,
    r#"{"type":"TEXT_MESSAGE_END","messageId":"m1"}"#,
    r#"{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"read_file","parentMessageId":"m1"}"#,
    r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"path\":\"a.txt\"}"}"#,
    r#"{"type":"TOOL_CALL_END","toolCallId":"c1"}"#,
    r#"{"type":"TOOL_CALL_RESULT","messageId":"o1","toolCallId":"c1","content":"hello"}"#,
    r#"{"type":"STATE_SNAPSHOT","snapshot":{"count":1}}"#,
    r#"{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/count","value":2}]}"#,
    r#"{"type":"STEP_FINISHED","stepName":"read"}"#,
    r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
];

/// How a stream is broken.
enum Change {
    /// The event with this number is missing.
    Without(usize),
    /// The event with this number is another one.
    Instead(usize, &'static str),
    /// More events stand behind the one with this number; 0 is the beginning.
    Behind(usize, &'static [&'static str]),
    /// The whole stream is another one.
    Whole(&'static [&'static str]),
    /// The text of the stream is changed: from, to; the file is an event stream.
    Text(&'static str, &'static str),
    /// This many bytes are missing at the end of the text.
    Cut(usize),
}

use Change::{Behind, Cut, Instead, Text, Whole, Without};

/// Number of the event, 0 for the stream as a whole, and the rule.
type Due = (usize, &'static str);

const STREAMS: &[(&str, Change, &[Due])] = &[
    // The life of a run.
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
    // Messages.
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
    // State and activities.
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
    // Interrupts.
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
    // Subagents.
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
    // Chunks.
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
    // Members.
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
    // The framing.
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

/// The file of a stream: its name and content. Every second one is an event stream.
fn file(index: usize, name: &str, change: &Change) -> (String, String) {
    let mut events: Vec<&str> = GOOD.to_vec();
    match change {
        Without(number) => drop(events.remove(number - 1)),
        Instead(number, event) => events[number - 1] = event,
        Behind(number, more) => drop(events.splice(number..number, more.iter().copied())),
        Whole(whole) => events = whole.to_vec(),
        Text(..) | Cut(_) => {}
    }
    let is_framed = matches!(change, Text(..) | Cut(_)) || index.is_multiple_of(2);
    if !is_framed {
        return (format!("{name}.jsonl"), events.join("\n") + "\n");
    }
    let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let text = match change {
        Text(from, to) => text.replace(from, to),
        Cut(bytes) => text[..text.len() - bytes].to_owned(),
        _ => text,
    };
    (format!("{name}.sse"), text)
}

fn owned(due: &[Due]) -> Vec<(usize, String)> {
    due.iter().map(|(event, rule)| (*event, (*rule).to_owned())).collect()
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/streams")
}

#[test]
fn the_files_are_what_the_rules_make() {
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    let mut table = serde_json::Map::new();
    for (index, (name, change, findings)) in STREAMS.iter().enumerate() {
        let (file, content) = file(index, name, change);
        let findings: Vec<Value> =
            owned(findings).iter().map(|(event, rule)| json!({"event": event, "rule": rule})).collect();
        table.insert(file.clone(), findings.into());
        assert!(wanted.insert(file, content).is_none(), "{name} occurs twice");
    }
    wanted.insert("expected.json".to_owned(), format!("{:#}\n", Value::Object(table)));
    if std::env::var_os("AGUI_WRITE_STREAMS").is_some() {
        for (name, content) in &wanted {
            std::fs::write(directory().join(name), content).unwrap();
        }
    }
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        found.insert(name, std::fs::read_to_string(&path).unwrap());
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    assert!(found == wanted, "AGUI_WRITE_STREAMS=1 writes them anew");
}

/// What `agui verify` finds: the numbers of events, and rules.
fn findings(path: &std::path::Path) -> (Vec<(usize, String)>, i32) {
    let output = agui(&["verify", path.to_str().unwrap(), "--format", "json"]);
    let report: Value = serde_json::from_str(&output.out).unwrap();
    let findings = report["streams"][0]["findings"].as_array().unwrap().iter();
    let short = findings.map(|finding| {
        let event = finding["event"].as_u64().unwrap_or_default();
        (usize::try_from(event).unwrap(), finding["rule"].as_str().unwrap().to_owned())
    });
    (short.collect(), output.code)
}

#[test]
fn every_seeded_fault_is_found_and_nothing_else() {
    assert!(STREAMS.len() >= 40);
    let mut wrong = Vec::new();
    for (index, (name, change, expected)) in STREAMS.iter().enumerate() {
        let (file, _) = file(index, name, change);
        let (found, code) = findings(&directory().join(&file));
        let expected = owned(expected);
        let is_error = expected.iter().any(|(_, rule)| {
            ![
                "shared-id",
                "unknown-kind",
                "state-base",
                "lost-event",
                "null-tolerated",
                "unknown-member",
                "unknown-event",
                "retired-event",
                "retired-part",
                "no-blank-line",
            ]
            .contains(&rule.as_str())
        });
        if found != expected || code != i32::from(is_error) {
            wrong.push(format!("{file}: expected {expected:?}, found {found:?}, exit {code}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_good_stream_has_no_faults_in_any_form() {
    let dir = tempfile::tempdir().unwrap();
    let forms = [
        ("good.sse", GOOD.iter().map(|event| format!("data: {event}\n\n")).collect::<String>()),
        ("good.jsonl", GOOD.join("\n")),
        ("good.json", format!("[{}]", GOOD.join(",\n"))),
    ];
    for (name, content) in forms {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        assert_eq!(findings(&path), (Vec::new(), 0), "{name}");
    }
}

#[test]
fn the_good_samples_of_the_peers_have_no_faults() {
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../peers/samples/good");
    let mut judged = 0;
    for entry in std::fs::read_dir(samples).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(findings(&path), (Vec::new(), 0), "{}", path.display());
        judged += 1;
    }
    assert!(judged >= 4);
}
