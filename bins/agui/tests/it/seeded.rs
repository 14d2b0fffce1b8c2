//! Broken streams, made by rule: one good stream and a change for each, with the findings that are due.
//!
//! The files lie in `tests/streams`, with `expected.json` as their table, for checkers of other languages;
//! `AGUI_WRITE_STREAMS=1` writes them anew.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::program::agui;

mod chunks;
mod framing;
mod interrupts;
mod items;
mod members;
mod run;
mod state;
mod subagents;

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

/// Number of the event, 0 for the stream as a whole, and the rule.
type Due = (usize, &'static str);

/// A broken stream: its name, how it is broken, and what is found.
type Seed = (&'static str, Change, &'static [Due]);

/// The broken streams. Their order says which of them are event streams, see [`file`].
fn streams() -> impl Iterator<Item = &'static Seed> {
    let all = [
        run::STREAMS,
        items::STREAMS,
        state::STREAMS,
        interrupts::STREAMS,
        subagents::STREAMS,
        chunks::STREAMS,
        members::STREAMS,
        framing::STREAMS,
    ];
    all.into_iter().flatten()
}

/// The file of a stream: its name and content. Every second one is an event stream.
fn file(index: usize, name: &str, change: &Change) -> (String, String) {
    let mut events: Vec<&str> = GOOD.to_vec();
    match change {
        Change::Without(number) => drop(events.remove(number - 1)),
        Change::Instead(number, event) => events[number - 1] = event,
        Change::Behind(number, more) => drop(events.splice(number..number, more.iter().copied())),
        Change::Whole(whole) => events = whole.to_vec(),
        Change::Text(..) | Change::Cut(_) => {}
    }
    let is_framed = matches!(change, Change::Text(..) | Change::Cut(_)) || index.is_multiple_of(2);
    if !is_framed {
        return (format!("{name}.jsonl"), events.join("\n") + "\n");
    }
    let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let text = match change {
        Change::Text(from, to) => text.replace(from, to),
        Change::Cut(bytes) => text[..text.len() - bytes].to_owned(),
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
    for (index, (name, change, findings)) in streams().enumerate() {
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
    assert!(streams().count() >= 40);
    let mut wrong = Vec::new();
    for (index, (name, change, expected)) in streams().enumerate() {
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
