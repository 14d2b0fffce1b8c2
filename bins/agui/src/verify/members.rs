//! The members of one event, and everything that is wrong with them. Pure.
//!
//! A decoder stops at the first fault. Here the fault is noted and mended, and the event is read again,
//! until it can be read: so every fault is found, and the order of the stream can be judged all the same.

use agui_core::{
    DecodeError, DecodeErrorKind, Decoded, Event, EventType, Expected, Json, Reading, decode_event_with,
};
use serde_json::{Map, Value};

use super::finding::Finding;
use super::rules::Rule;

/// Most faults of one event that are told.
const MAX_FAULTS: usize = 32;

/// Members that say what an event is about: without them it cannot be placed.
const IDS: &[&str] = &[
    "/threadId",
    "/runId",
    "/messageId",
    "/toolCallId",
    "/stepName",
    "/subagentRunId",
    "/entityId",
    "/activityType",
];

/// What was made of a record.
#[derive(Debug)]
pub(super) struct Examined {
    /// The event, mended if it had to be; `None` if there is nothing left of it.
    pub(super) event: Option<Event>,
    /// Type on the wire.
    pub(super) event_type: Option<String>,
    /// An id was not there: the event cannot be placed.
    pub(super) is_placeless: bool,
    pub(super) findings: Vec<Finding>,
}

/// Reads one record.
pub(super) fn read(data: &str) -> Examined {
    let mut reading = Examined { event: None, event_type: None, is_placeless: false, findings: Vec::new() };
    // Halves of surrogate pairs are legal JSON, but not for every reader of it.
    let readable = Json::from_string(data.to_owned()).and_then(|json| json.parse::<Value>());
    let Ok(original) = readable else {
        reading.findings.push(Finding::new(Rule::NotJson, not_json(data)));
        return reading;
    };
    reading.event_type = original.get("type").and_then(Value::as_str).map(str::to_owned);
    let mut mender = Mender { text: data.to_owned(), value: original, mended: Vec::new() };
    for _ in 0..MAX_FAULTS {
        match decode_event_with(mender.text.as_bytes(), Reading::Exact) {
            Ok((Decoded::Known(event), _)) => {
                unknown_members(&mender.value, &event, &mut reading.findings);
                reading.event = Some(event);
                break;
            }
            Ok(_) => {
                reading.findings.push(unknown_event(reading.event_type.as_deref().unwrap_or_default()));
                break;
            }
            Err(error) => {
                if !mender.mended.contains(&error.pointer) {
                    reading.is_placeless |= IDS.contains(&error.pointer.as_str());
                    reading.findings.push(finding(&error, &mender));
                }
                if !mender.mend(&error) {
                    reading.event = mender.remains();
                    break;
                }
            }
        }
    }
    reading
}

fn not_json(data: &str) -> &'static str {
    match data.trim() {
        "[DONE]" => "[DONE] is no event",
        "" => "the record is empty",
        _ => "the record is no JSON document",
    }
}

fn unknown_event(event_type: &str) -> Finding {
    if event_type.starts_with("THINKING_") {
        return Finding::new(Rule::RetiredEvent, format!("{event_type} is an event of 0.x"));
    }
    Finding::new(Rule::UnknownEvent, format!("{event_type} is no event of AG-UI 1.0"))
}

fn finding(error: &DecodeError, mender: &Mender) -> Finding {
    let rule = match error.kind {
        DecodeErrorKind::WrongType(_) if error.pointer.is_empty() => Rule::NotObject,
        _ if error.pointer == "/type" => Rule::NoType,
        DecodeErrorKind::Syntax => Rule::NotJson,
        DecodeErrorKind::Missing => Rule::MissingMember,
        DecodeErrorKind::Null if mender.is_tolerated(error) => Rule::NullTolerated,
        DecodeErrorKind::Null => Rule::NullMember,
        DecodeErrorKind::WrongType(_) if mender.at(&error.pointer).is_some_and(Value::is_null) => {
            Rule::NullMember
        }
        DecodeErrorKind::DuplicateKey => Rule::DuplicateMember,
        // The specification would have it left out, but released clients end the run.
        DecodeErrorKind::UnknownMember if error.pointer == "/role" => Rule::NotAllowed,
        DecodeErrorKind::UnknownMember if mender.is_binary(&error.pointer) => Rule::RetiredPart,
        DecodeErrorKind::UnknownMember => Rule::UnknownKind,
        DecodeErrorKind::NotAllowed => Rule::NotAllowed,
        DecodeErrorKind::OutOfRange => Rule::OutOfRange,
        DecodeErrorKind::Empty => Rule::EmptyList,
        DecodeErrorKind::LoneSurrogate => Rule::LoneSurrogate,
        DecodeErrorKind::BadPointer => Rule::BadPointer,
        _ => Rule::WrongType,
    };
    Finding::new(rule, error.to_string()).at_pointer(error.pointer.clone())
}

/// An event that is being mended.
struct Mender {
    text: String,
    value: Value,
    /// Pointers that were mended: what follows there is a consequence.
    mended: Vec<String>,
}

impl Mender {
    fn at(&self, pointer: &str) -> Option<&Value> {
        self.value.pointer(pointer)
    }

    fn is_binary(&self, pointer: &str) -> bool {
        let part = pointer.strip_suffix("/type").unwrap_or(pointer);
        self.at(part).and_then(|part| part.get("type")).is_some_and(|found| found == "binary")
    }

    /// Whether released clients take the event as it is, this place considered.
    fn is_tolerated(&self, error: &DecodeError) -> bool {
        match decode_event_with(self.text.as_bytes(), Reading::Stream) {
            Ok(_) => true,
            Err(other) => other.pointer != error.pointer,
        }
    }

    /// Changes the event so that the fault is gone; `false` if that is hopeless.
    fn mend(&mut self, error: &DecodeError) -> bool {
        let pointer = error.pointer.as_str();
        let times = self.mended.iter().filter(|mended| *mended == pointer).count();
        if times > 3 || pointer == "/type" || matches!(error.kind, DecodeErrorKind::Syntax) {
            return false;
        }
        let done = match error.kind {
            DecodeErrorKind::DuplicateKey => true,
            DecodeErrorKind::WrongType(_) if pointer.is_empty() => false,
            DecodeErrorKind::WrongType(expected) => self.put(pointer, neutral(expected)),
            DecodeErrorKind::Missing => self.put(pointer, Value::from("")),
            DecodeErrorKind::OutOfRange => self.put(pointer, Value::from(0)),
            DecodeErrorKind::LoneSurrogate => self.put(pointer, Value::from("?")),
            // An outcome without its questions, and an operation without its path, say nothing.
            DecodeErrorKind::Empty | DecodeErrorKind::BadPointer => self.remove(parent(pointer)),
            DecodeErrorKind::UnknownMember => self.remove(pointer.strip_suffix("/type").unwrap_or(pointer)),
            _ => self.remove(pointer),
        };
        self.mended.push(pointer.to_owned());
        self.text = self.value.to_string();
        done
    }

    fn put(&mut self, pointer: &str, value: Value) -> bool {
        let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
        match self.value.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                members.insert(key.to_owned(), value);
                true
            }
            Some(Value::Array(elements)) => {
                let element = key.parse::<usize>().ok().and_then(|index| elements.get_mut(index));
                element.map(|element| *element = value).is_some()
            }
            _ => false,
        }
    }

    fn remove(&mut self, pointer: &str) -> bool {
        let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
        match self.value.pointer_mut(parent) {
            Some(Value::Object(members)) => members.remove(key).is_some(),
            Some(Value::Array(elements)) => {
                let index = key.parse::<usize>().ok().filter(|index| *index < elements.len());
                index.map(|index| elements.remove(index)).is_some()
            }
            _ => false,
        }
    }

    /// The event with nothing but its required words, for one that cannot be mended.
    fn remains(&self) -> Option<Event> {
        let mut kept: Map<String, Value> = self.value.as_object()?.clone();
        kept.retain(|key, value| value.is_string() && (key == "type" || key == "role" || !is_optional(key)));
        match decode_event_with(Value::Object(kept).to_string().as_bytes(), Reading::Stream) {
            Ok((Decoded::Known(event), _)) => Some(event),
            _ => None,
        }
    }
}

fn is_optional(key: &str) -> bool {
    matches!(key, "protocolVersion" | "code" | "name" | "parentRunId" | "parentMessageId" | "source")
}

fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn neutral(expected: Expected) -> Value {
    match expected {
        Expected::Object => Value::Object(Map::new()),
        Expected::Array => Value::Array(Vec::new()),
        Expected::Integer => Value::from(0),
        Expected::Boolean => Value::Bool(false),
        _ => Value::from(""),
    }
}

/// Members that are not in what the event would be written as: nobody but the sender knows them.
fn unknown_members(found: &Value, event: &Event, findings: &mut Vec<Finding>) {
    let Ok(known) = serde_json::to_value(event) else { return };
    let at_first = findings.len();
    compare(found, &known, "", findings);
    // A list of operations and messages repeats itself.
    findings.truncate(at_first + MAX_FAULTS);
}

fn compare(found: &Value, known: &Value, at: &str, findings: &mut Vec<Finding>) {
    match (found, known) {
        (Value::Object(found), Value::Object(known)) => {
            for (key, value) in found {
                let pointer = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                match known.get(key) {
                    Some(known) => compare(value, known, &pointer, findings),
                    // Absent and empty are the same for lists, and null is another rule.
                    None if value.is_null() || value.as_array().is_some_and(Vec::is_empty) => {}
                    None => {
                        let message = format!("{pointer}: no member of AG-UI 1.0");
                        findings.push(Finding::new(Rule::UnknownMember, message).at_pointer(pointer));
                    }
                }
            }
        }
        (Value::Array(found), Value::Array(known)) if found.len() == known.len() => {
            for (index, (found, known)) in found.iter().zip(known).enumerate() {
                compare(found, known, &format!("{at}/{index}"), findings);
            }
        }
        _ => {}
    }
}

/// What a client of 0.x does not know, if the event is or has it.
pub(super) fn too_new(event: &Event) -> Option<&'static str> {
    use agui_core::{Content, Outcome};
    match event {
        Event::ToolCallResult(e) if matches!(e.content, Content::Parts(_)) => Some("parts in a tool result"),
        Event::RunFinished(e) => match &e.outcome {
            Some(Outcome::Cancelled) => Some("the outcome `cancelled`"),
            Some(Outcome::Success { pending_tool_call_ids: Some(_) }) => Some("pendingToolCallIds"),
            _ => None,
        },
        event => matches!(
            event.event_type(),
            EventType::SubagentStarted | EventType::SubagentFinished | EventType::SubagentError
        )
        .then_some("events of subagents"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(data: &str) -> Vec<String> {
        let show =
            |finding: &Finding| format!("{}{}", finding.rule, finding.pointer.as_deref().unwrap_or_default());
        read(data).findings.iter().map(show).collect()
    }

    #[test]
    fn every_fault_of_an_event_is_found() {
        let cases: &[(&str, &[&str])] = &[
            (r#"{"type":"RUN_ERROR","message":"m"}"#, &[]),
            ("[DONE]", &["not-json"]),
            ("", &["not-json"]),
            ("[]", &["not-object"]),
            ("{}", &["no-type/type"]),
            (r#"{"type":""}"#, &["no-type/type"]),
            (r#"{"type":"NEW"}"#, &["unknown-event"]),
            (r#"{"type":"THINKING_END"}"#, &["retired-event"]),
            (
                r#"{"type":"RUN_STARTED","timestamp":null,"runId":7,"protocolVersion":null,"extra":1}"#,
                &[
                    "missing-member/threadId",
                    "wrong-type/runId",
                    "null-member/protocolVersion",
                    "null-member/timestamp",
                    "unknown-member/extra",
                ],
            ),
            (
                r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":null,"rawEvent":null,"usage":[{"inputTokens":-1}]}"#,
                &["null-tolerated/result", "out-of-range/usage/0/inputTokens", "null-tolerated/rawEvent"],
            ),
            (
                r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[]}}"#,
                &["empty-list/outcome/interrupts"],
            ),
            (
                r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"postponed"}}"#,
                &["unknown-kind/outcome"],
            ),
            (
                r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"a","value":1},{"op":"inc","path":"/b"},{"op":"add","path":"/c","value":1}]}"#,
                &["bad-pointer/delta/0/path", "unknown-kind/delta/0"],
            ),
            (r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"robot"}"#, &["not-allowed/role"]),
            (
                r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","messageId":"m","delta":"x"}"#,
                &["duplicate-member/messageId"],
            ),
            (r#"{"type":"TEXT_MESSAGE_END","messageId":"\ud800"}"#, &["lone-surrogate/messageId"]),
            (
                r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"binary","mimeType":"a/b","url":"u"}]}"#,
                &["retired-part/content/0"],
            ),
            (r#"{"type":"CUSTOM","name":"n"}"#, &["missing-member/value"]),
        ];
        for (data, expected) in cases {
            assert_eq!(rules(data), *expected, "{data}");
        }
    }

    #[test]
    fn a_mended_event_keeps_its_place_in_the_stream() {
        let mended = read(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":5}"#);
        assert!(matches!(mended.event, Some(Event::TextMessageContent(_))) && !mended.is_placeless);
        let lost = read(r#"{"type":"TEXT_MESSAGE_CONTENT","delta":"x"}"#);
        assert!(lost.is_placeless);
        let ended = read(
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[]}}"#,
        );
        assert!(matches!(ended.event, Some(Event::RunFinished(_))));
    }
}
