//! Frames of the official encoder: `peers/node/proto-fixtures.mjs` writes them.
//!
//! The variable `AGUI_PROTO_FRAMES` names a file with more of them.

use agui_core::{Decoded, Event, EventType, decode_event};
use agui_proto::{Decoder, MAX_FRAME_BYTES, Received, encode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const FRAMES: &str = include_str!("../fixtures/frames.jsonl");

#[derive(Deserialize)]
struct Fixture {
    frame: String,
    event: Box<RawValue>,
}

impl Fixture {
    fn frame(&self) -> Vec<u8> {
        let digits = self.frame.as_bytes().chunks(2);
        digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    fn event(&self) -> Event {
        match decode_event(self.event.get().as_bytes()) {
            Ok(Decoded::Known(event)) => event,
            other => panic!("{}: {other:?}", self.event),
        }
    }
}

pub(crate) fn all_frames() -> Vec<Vec<u8>> {
    fixtures().iter().map(Fixture::frame).collect()
}

fn fixtures() -> Vec<Fixture> {
    read(FRAMES)
}

/// The fixtures and, if there are more, those too.
fn all_fixtures() -> Vec<Fixture> {
    let mut fixtures = fixtures();
    if let Some(path) = std::env::var_os("AGUI_PROTO_FRAMES") {
        fixtures.extend(read(&std::fs::read_to_string(path).unwrap()));
    }
    fixtures
}

fn read(lines: &str) -> Vec<Fixture> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn framed(event: &Event) -> Vec<u8> {
    let mut frame = Vec::new();
    encode(event, &mut frame).unwrap();
    frame
}

fn decoded(frame: &[u8]) -> Event {
    let mut decoder = Decoder::new(MAX_FRAME_BYTES);
    decoder.push(frame);
    let received = decoder.next_event().unwrap().unwrap();
    decoder.finish().unwrap();
    match received {
        Received::Known(event) => event,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_event_has_the_bytes_of_the_official_encoder() {
    let fixtures = all_fixtures();
    for fixture in &fixtures {
        assert_eq!(hex(&framed(&fixture.event())), fixture.frame, "{}", fixture.event);
    }
    for event_type in EventType::ALL {
        let count = fixtures.iter().filter(|fixture| fixture.event().event_type() == *event_type).count();
        assert!(count >= 2, "{event_type} has {count} fixtures");
    }
}

#[test]
fn what_is_decoded_is_what_was_encoded() {
    // A number beyond all doubles is infinite in a frame and has no form in JSON after that.
    let readable = |fixture: &Fixture| !fixture.event.get().contains("1e400");
    for fixture in all_fixtures().into_iter().filter(readable) {
        let back = decoded(&fixture.frame());
        assert_eq!(hex(&framed(&back)), fixture.frame, "{}", fixture.event);
        let (sent, read) = (lossy(&fixture.event()), lossy(&back));
        assert_eq!(read, sent, "{}", fixture.event);
    }
}

/// The event after the losses that the format has; see the README.
fn lossy(event: &Event) -> Value {
    let mut json = serde_json::to_value(event).unwrap();
    strip(&mut json);
    json
}

fn strip(json: &mut Value) {
    match json {
        Value::Number(number) => *json = json!(number.as_f64()),
        Value::Array(items) => {
            let names_content =
                |part: &Value| ["data", "url", "id"].iter().any(|key| part.get(key).is_some());
            items.retain(|part| part.get("type").is_none_or(|kind| kind != "binary") || names_content(part));
            items.iter_mut().for_each(strip);
        }
        Value::Object(members) => {
            if members.get("type").is_some_and(|part| part == "binary") {
                *json = json!("a media part of 0.x");
                return;
            }
            if members.get("metadata").is_some_and(|metadata| metadata.get("legacyBinary").is_some()) {
                *json = json!("a media part of 0.x");
                return;
            }
            if members.contains_key("op") {
                members.remove("note");
            }
            members.remove("__proto__");
            for list in ["pendingToolCallIds", "interruptIds"] {
                if members.get(list).is_some_and(|ids| *ids == json!([])) {
                    members.remove(list);
                }
            }
            members.values_mut().for_each(strip);
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn frames_are_found_wherever_a_stream_is_cut() {
    let fixtures = fixtures();
    let stream: Vec<u8> = fixtures.iter().flat_map(Fixture::frame).collect();
    let whole: Vec<Event> = fixtures.iter().map(|fixture| decoded(&fixture.frame())).collect();
    for chunk_bytes in [1, 3, 4, 5, 1000, stream.len()] {
        let mut decoder = Decoder::new(MAX_FRAME_BYTES);
        let mut events = Vec::new();
        for chunk in stream.chunks(chunk_bytes) {
            decoder.push(chunk);
            while let Some(received) = decoder.next_event().unwrap() {
                let Received::Known(event) = received else { panic!("{received:?}") };
                events.push(event);
            }
        }
        decoder.finish().unwrap();
        assert_eq!(events, whole, "in chunks of {chunk_bytes}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
