//! Whole streams through framing, pipeline and reducer, in the format of the public corpus.
//!
//! The variable `AGUI_CONFORMANCE_DIR` names a directory with the folders of the public corpus
//! (`1.0`, `1.1`, `draft`).

use std::path::{Path, PathBuf};

use agui_client::{Conversation, Dialect, Note, Pipeline, RunEnd, Warning, outgoing};
use agui_core::{Event, PROTOCOL_VERSION, RunAgentInput, UnixMillis};
use serde::Deserialize;
use serde_json::{Value, json};
use sse_frame::Decoder;

use crate::own_streams::OWN_STREAMS;

/// Translations for old agents that the specification leaves to the client, and that this client has not.
const OPTIONAL: [&str; 2] = ["era-0-0-39-flattens-content", "era-0-0-57-subagent-dropped-with-warning"];

/// A member that nobody knows is left out without a note: a later version may have it on every event.
const SILENT: &str = "/futureProp";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    #[serde(default)]
    description: String,
    stream: Vec<Value>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    client: Value,
    expect: Expectation,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expectation {
    outcome: String,
    messages: Option<Value>,
    message_count: Option<usize>,
    state: Option<Value>,
    request: Option<Value>,
    #[serde(default)]
    request_absent_paths: Vec<String>,
    event_types: Option<Vec<String>>,
    #[serde(default)]
    event_types_absent: Vec<String>,
    #[serde(default)]
    event_paths: serde_json::Map<String, Value>,
    #[serde(default)]
    event_absent_paths: Vec<String>,
    run_error: Option<Value>,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    no_warnings: bool,
}

/// What the client makes of a stream.
struct Played {
    request: Value,
    events: Vec<Value>,
    conversation: Conversation,
    notes: Vec<Note>,
    warnings: Vec<Warning>,
    run_errors: Vec<String>,
    fault: Option<String>,
}

fn play(case: &Case, chunk_bytes: usize) -> Played {
    let mut input = json!({"threadId": "t", "runId": "r", "messages": []});
    if let Value::Object(given) = &case.input {
        input.as_object_mut().unwrap().extend(given.clone());
    }
    let input = RunAgentInput::decode(input.to_string().as_bytes()).unwrap();
    let mut conversation = Conversation::new("t").with_messages(input.messages);
    let dialect = if case.client.is_null() { Dialect::Current } else { Dialect::Legacy };
    let request = outgoing(conversation.request("r", UnixMillis::new(0)).unwrap(), dialect);
    let mut played = Played {
        request: serde_json::to_value(&request).unwrap(),
        events: Vec::new(),
        conversation: conversation.clone(),
        notes: Vec::new(),
        warnings: Vec::new(),
        run_errors: Vec::new(),
        fault: None,
    };
    let mut wire = Vec::new();
    for event in &case.stream {
        sse_frame::encode_data(&mut wire, event.to_string().as_bytes());
    }
    let (mut pipeline, mut decoder, mut events) = (Pipeline::new(), Decoder::new(1 << 20), Vec::new());
    'stream: for chunk in wire.chunks(chunk_bytes) {
        decoder.push(chunk.to_vec().into());
        while let Some(frame) = decoder.next_frame().unwrap() {
            if let Err(error) = pipeline.push(&frame.data, &mut events, &mut played.notes) {
                played.fault = Some(error.to_string());
                break 'stream;
            }
        }
    }
    if played.fault.is_none() {
        played.fault = pipeline.finish().err().map(|error| error.to_string());
    }
    for event in &events {
        played.warnings.extend(conversation.apply(event));
        if let Some(RunEnd::Failed(error)) = RunEnd::of(event) {
            played.run_errors.push(error.message);
        }
    }
    played.events = events.iter().map(|event: &Event| serde_json::to_value(event).unwrap()).collect();
    played.conversation = conversation;
    played
}

/// Everything that is not as the case expects.
fn faults(case: &Case, played: &Played) -> Vec<String> {
    let expect = &case.expect;
    let mut faults = Vec::new();
    let mut check = |holds: bool, what: String| {
        if !holds {
            faults.push(what);
        }
    };
    let accepted = (expect.outcome == "completed") != case.description.starts_with("ADMITTED GAP");
    check(accepted == played.fault.is_none(), format!("verdict: {:?}", played.fault));
    let messages = serde_json::to_value(played.conversation.messages()).unwrap();
    if let Some(expected) = &expect.messages {
        check(is_part(expected, &messages), format!("messages: {messages}"));
    }
    if let Some(count) = expect.message_count {
        check(played.conversation.messages().len() == count, format!("message count: {messages}"));
    }
    if let Some(expected) = &expect.state {
        let state: Value = played.conversation.state().parse().unwrap();
        check(is_part(expected, &state), format!("state: {state}"));
    }
    if let Some(mut expected) = expect.request.clone() {
        if expected.get("protocolVersion").is_some() {
            expected["protocolVersion"] = json!(PROTOCOL_VERSION);
        }
        check(is_part(&expected, &played.request), format!("request: {}", played.request));
    }
    for path in &expect.request_absent_paths {
        check(at(&played.request, path).is_none(), format!("request has {path}"));
    }
    let types: Vec<&str> = played.events.iter().filter_map(|event| event["type"].as_str()).collect();
    if let Some(expected) = &expect.event_types {
        check(types == *expected, format!("event types: {types:?}"));
    }
    for absent in &expect.event_types_absent {
        check(!types.contains(&absent.as_str()), format!("{absent} was handed over"));
    }
    let events = Value::Array(played.events.clone());
    for (path, expected) in &expect.event_paths {
        check(at(&events, path) == Some(expected), format!("event path {path}"));
    }
    for path in &expect.event_absent_paths {
        check(at(&events, path).is_none(), format!("event path {path} is there"));
    }
    match &expect.run_error {
        Some(Value::String(text)) => {
            check(played.run_errors.iter().any(|error| error.contains(text)), "run error".to_owned());
        }
        Some(_) => check(!played.run_errors.is_empty(), "run error".to_owned()),
        None => check(played.run_errors.is_empty(), format!("run errors: {:?}", played.run_errors)),
    }
    // The wording is each client's own, except for the place.
    for place in expect.warnings.iter().filter(|warning| warning.starts_with('/') && *warning != SILENT) {
        let skipped = |note: &Note| matches!(note, Note::Skipped { pointer } if pointer == place);
        check(played.notes.iter().any(skipped), format!("no note about {place}: {:?}", played.notes));
    }
    if expect.no_warnings {
        // The corpus for 1.1 declares 1.1, which is newer than what this client speaks.
        let quiet = played.notes.iter().all(|note| matches!(note, Note::OtherVersion { .. }));
        let warnings = &played.warnings;
        check(quiet && warnings.is_empty(), format!("not quiet: {:?} {warnings:?}", played.notes));
    }
    faults
}

/// Lists have to be equal in length and order; of objects only the expected members are looked at.
fn is_part(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len() && expected.iter().zip(found).all(|(e, f)| is_part(e, f))
        }
        (Value::Object(expected), Value::Object(found)) => {
            expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| is_part(value, found)))
        }
        (expected, found) => expected == found,
    }
}

fn at<'a>(value: &'a Value, dotted: &str) -> Option<&'a Value> {
    value.pointer(&format!("/{}", dotted.replace('.', "/")))
}

fn assert_as_expected(cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        for chunk_bytes in [1, 7, usize::MAX] {
            let faults = faults(case, &play(case, chunk_bytes));
            if !faults.is_empty() {
                wrong.push((&case.name, chunk_bytes, faults));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn own_streams_have_their_verdict_messages_and_state() {
    let cases: Vec<Case> = OWN_STREAMS.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_as_expected(&cases);
}

#[test]
fn public_streams_have_their_verdict_messages_and_state() {
    let Some(directory) = std::env::var_os("AGUI_CONFORMANCE_DIR").map(PathBuf::from) else { return };
    let mut cases = Vec::new();
    for version in ["1.0", "1.1", "draft"] {
        cases.extend(read(&directory.join(version)));
    }
    assert!(cases.len() >= 80, "only {} streams found", cases.len());
    cases.retain(|case| !OPTIONAL.contains(&case.name.as_str()));
    assert_as_expected(&cases);
}

fn read(folder: &Path) -> impl Iterator<Item = Case> {
    let files = std::fs::read_dir(folder).expect("a folder of the corpus");
    files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "json")).map(
        |path| {
            let text = std::fs::read_to_string(&path).unwrap();
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        },
    )
}
