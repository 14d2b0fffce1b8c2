//! What agents of 0.x send, in the form of 1.0. Pure: no IO, no clock.

use std::collections::BTreeMap;

use agui_core::{
    Content, ContentPart, DecodeError, DecodeErrorKind, Decoded, Event, Message, Reading, RunId, Skipped,
    UnknownEvent, decode_event_with,
};
use serde_json::value::{RawValue, to_raw_value};

use crate::Note;

/// An event type of 0.x that 1.0 has no more, and what it says today.
struct Retired {
    old: &'static str,
    new: &'static str,
    item: Item,
    opens: bool,
}

/// What a retired event opens, continues or closes. None of them carries an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Span,
    Message,
}

const fn retired(old: &'static str, new: &'static str, item: Item, opens: bool) -> Retired {
    Retired { old, new, item, opens }
}

const RETIRED: [Retired; 5] = [
    retired("THINKING_START", "REASONING_START", Item::Span, true),
    retired("THINKING_END", "REASONING_END", Item::Span, false),
    retired("THINKING_TEXT_MESSAGE_START", "REASONING_MESSAGE_START", Item::Message, true),
    retired("THINKING_TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", Item::Message, false),
    retired("THINKING_TEXT_MESSAGE_END", "REASONING_MESSAGE_END", Item::Message, false),
];

/// Members that may be `null` but not absent, which the Python models of 0.1.20 left out when they were.
const DROPPED_NULLS: [(&str, &str); 3] =
    [("CUSTOM", "value"), ("RAW", "event"), ("STATE_SNAPSHOT", "snapshot")];

/// Reads records of any version as events of 1.0.
///
/// - `THINKING_*` becomes `REASONING_*`, with ids made of the id of the run and a number; the `title` of a
///   thinking span goes to `metadata.title`. Their order is not mended.
/// - `binary` parts become media parts; those that hold a handle only are left out.
/// - `null` is absent where released clients take it so, which is the decoder's work.
/// - An absent `CUSTOM.value`, `RAW.event` or `STATE_SNAPSHOT.snapshot` is `null`, if the agent has declared
///   no version.
///
/// Source: behaviour of the released 1.0 client; AG-UI 1.0, "Versioning".
#[derive(Debug, Default)]
pub struct Modernizer {
    run_id: Option<RunId>,
    /// The agent has declared a version, so it is none of 0.x.
    is_modern: bool,
    /// Numbers of the spans and messages of the run so far.
    spans: u32,
    messages: u32,
}

impl Modernizer {
    /// For a stream that begins.
    #[must_use]
    pub const fn new() -> Self {
        Self { run_id: None, is_modern: false, spans: 0, messages: 0 }
    }

    /// Reads one record; what was left out or translated is appended to `notes`.
    ///
    /// # Errors
    /// As [`decode_event_with`].
    pub fn decode(&mut self, record: &[u8], notes: &mut Vec<Note>) -> Result<Decoded, DecodeError> {
        let (decoded, skipped) = match decode_event_with(record, Reading::Stream) {
            Err(error) if !self.is_modern => with_dropped_null(record, error, notes)?,
            decoded => decoded?,
        };
        notes.extend(skipped.into_iter().map(|piece| Note::Skipped { pointer: piece.pointer }));
        let mut event = match decoded {
            Decoded::Known(event) => event,
            Decoded::Unknown(unknown) => match self.translate(&unknown)? {
                Some(event) => {
                    notes.push(Note::RetiredEvent { event_type: unknown.event_type });
                    event
                }
                None => return Ok(Decoded::Unknown(unknown)),
            },
            other => return Ok(other),
        };
        if let Event::RunStarted(started) = &event {
            self.run_id = Some(started.run_id.clone());
            self.is_modern = started.protocol_version.is_some();
            (self.spans, self.messages) = (0, 0);
        }
        modernize_event(&mut event, notes);
        Ok(Decoded::Known(event))
    }

    /// The event of 1.0 for a retired one; `None` for what nobody knows.
    fn translate(&mut self, unknown: &UnknownEvent) -> Result<Option<Event>, DecodeError> {
        let Some(retired) = RETIRED.iter().find(|retired| *retired.old == *unknown.event_type) else {
            return Ok(None);
        };
        let (count, word) = match retired.item {
            Item::Span => (&mut self.spans, "thinking"),
            Item::Message => (&mut self.messages, "thought"),
        };
        *count += u32::from(retired.opens);
        let run_id = self.run_id.as_ref().map_or("", |run_id| run_id.as_str());
        let Some(record) = rewritten(unknown, retired, &format!("{run_id}:{word}:{count}")) else {
            return Ok(None);
        };
        match decode_event_with(&record, Reading::Stream)?.0 {
            Decoded::Known(event) => Ok(Some(event)),
            _ => Ok(None),
        }
    }
}

/// The event under its new name and with an id; everything else is kept as text.
fn rewritten(unknown: &UnknownEvent, retired: &Retired, id: &str) -> Option<Vec<u8>> {
    let mut members: BTreeMap<String, Box<RawValue>> = unknown.raw.parse().ok()?;
    let title = members.remove("title").filter(|title| title.get() != "null");
    members.insert("type".to_owned(), to_raw_value(retired.new).ok()?);
    members.insert("messageId".to_owned(), to_raw_value(id).ok()?);
    if retired.item == Item::Message && retired.opens {
        members.insert("role".to_owned(), to_raw_value("reasoning").ok()?);
    }
    if let Some(title) = title
        && !members.contains_key("metadata")
    {
        members.insert("metadata".to_owned(), to_raw_value(&BTreeMap::from([("title", title)])).ok()?);
    }
    serde_json::to_vec(&members).ok()
}

/// Reads the record again with the `null` that its sender has left out, if that is the fault.
fn with_dropped_null(
    record: &[u8],
    error: DecodeError,
    notes: &mut Vec<Note>,
) -> Result<(Decoded, Vec<Skipped>), DecodeError> {
    let member = error.pointer.trim_start_matches('/');
    let may_be_null = DROPPED_NULLS.iter().any(|(_, nullable)| *nullable == member);
    if error.kind != DecodeErrorKind::Missing || !may_be_null {
        return Err(error);
    }
    let Ok(mut members) = serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(record) else {
        return Err(error);
    };
    let event_type = members.get("type").and_then(|value| serde_json::from_str::<String>(value.get()).ok());
    if !event_type.is_some_and(|found| DROPPED_NULLS.contains(&(found.as_str(), member))) {
        return Err(error);
    }
    members.insert(member.to_owned(), RawValue::NULL.to_owned());
    let Ok(record) = serde_json::to_vec(&members) else { return Err(error) };
    let decoded = decode_event_with(&record, Reading::Stream)?;
    notes.push(Note::AbsentMember { pointer: error.pointer });
    Ok(decoded)
}

/// Gives the media parts of 0.x inside an event the form of 1.0.
fn modernize_event(event: &mut Event, notes: &mut Vec<Note>) {
    match event {
        Event::MessagesSnapshot(snapshot) => modernize_messages(&mut snapshot.messages, "", notes),
        Event::RunStarted(started) => {
            if let Some(input) = &mut started.input {
                modernize_messages(&mut input.messages, "/input", notes);
            }
        }
        Event::ToolCallResult(result) => {
            let parts = modernize_content(&mut result.content);
            notes.extend(parts.into_iter().map(|part| note_of(&part, "")));
        }
        _ => {}
    }
}

/// Gives the media parts of 0.x in messages the form of 1.0.
pub(crate) fn modernize_messages(messages: &mut [Message], at: &str, notes: &mut Vec<Note>) {
    for (index, message) in messages.iter_mut().enumerate() {
        let content = match message {
            Message::User(message) => &mut message.content,
            Message::Tool(message) => &mut message.content,
            _ => continue,
        };
        let parts = modernize_content(content);
        notes.extend(parts.into_iter().map(|part| note_of(&part, &format!("{at}/messages/{index}"))));
    }
}

/// A part that was changed, by its place, and whether it is there still.
struct OldPart {
    index: usize,
    is_kept: bool,
}

fn modernize_content(content: &mut Content) -> Vec<OldPart> {
    let Content::Parts(parts) = content else { return Vec::new() };
    if !parts.iter().any(|part| matches!(part, ContentPart::Binary(_))) {
        return Vec::new();
    }
    let mut old_parts = Vec::new();
    let given = std::mem::take(parts);
    for (index, part) in given.into_iter().enumerate() {
        if let ContentPart::Binary(binary) = part {
            let media = binary.to_media();
            old_parts.push(OldPart { index, is_kept: media.is_some() });
            parts.extend(media);
        } else {
            parts.push(part);
        }
    }
    old_parts
}

fn note_of(part: &OldPart, at: &str) -> Note {
    let pointer = format!("{at}/content/{}", part.index);
    if part.is_kept { Note::BinaryPart { pointer } } else { Note::Skipped { pointer } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events as they are written, and the notes.
    fn read(records: &[&str]) -> (Vec<String>, Vec<String>) {
        let (mut modernizer, mut notes, mut events) = (Modernizer::new(), Vec::new(), Vec::new());
        for record in records {
            match modernizer.decode(record.as_bytes(), &mut notes) {
                Ok(Decoded::Known(event)) => events.push(serde_json::to_string(&event).unwrap()),
                Ok(other) => events.push(format!("{other:?}")),
                Err(error) => events.push(error.to_string()),
            }
        }
        (events, notes.iter().map(ToString::to_string).collect())
    }

    const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
    const MODERN: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}"#;

    #[test]
    fn thinking_is_reasoning_with_ids_of_the_run() {
        let (events, notes) = read(&[
            STARTED,
            r#"{"type":"THINKING_START","title":"Plan","timestamp":7,"rawEvent":{"n":1.50}}"#,
            r#"{"type":"THINKING_TEXT_MESSAGE_START","subagentRunId":"s"}"#,
            r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}"#,
            r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#,
            r#"{"type":"THINKING_END"}"#,
            r#"{"type":"THINKING_START","title":null}"#,
        ]);
        assert_eq!(
            events,
            [
                STARTED,
                r#"{"type":"REASONING_START","messageId":"r:thinking:1","timestamp":7,"rawEvent":{"n":1.50},"metadata":{"title":"Plan"}}"#,
                r#"{"type":"REASONING_MESSAGE_START","role":"reasoning","messageId":"r:thought:1","subagentRunId":"s"}"#,
                r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"r:thought:1","delta":"hm"}"#,
                r#"{"type":"REASONING_MESSAGE_END","messageId":"r:thought:1"}"#,
                r#"{"type":"REASONING_END","messageId":"r:thinking:1"}"#,
                r#"{"type":"REASONING_START","messageId":"r:thinking:2"}"#,
            ]
        );
        assert_eq!(notes.len(), 6);
        assert_eq!(notes[0], r#"retired event "THINKING_START" translated"#);
    }

    #[test]
    fn a_malformed_retired_event_is_refused_like_its_successor() {
        let (events, notes) = read(&[r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":5}"#]);
        assert_eq!((events, notes), (vec!["/delta: expected a string".to_owned()], vec![]));
    }

    #[test]
    fn nulls_that_old_models_leave_out_are_put_back_for_agents_without_a_version() {
        let dropped = [
            r#"{"type":"CUSTOM","name":"n"}"#,
            r#"{"type":"RAW","source":"s"}"#,
            r#"{"type":"STATE_SNAPSHOT"}"#,
        ];
        for (record, member) in dropped.iter().zip(["value", "event", "snapshot"]) {
            let (events, notes) = read(&[STARTED, record]);
            assert!(events[1].contains(&format!(r#""{member}":null"#)), "{events:?}");
            assert_eq!(notes, [format!("absent /{member} read as null")]);
            let (events, notes) = read(&[MODERN, record]);
            assert_eq!(events[1], format!("/{member}: required but missing"));
            assert_eq!(notes, [""; 0]);
        }
        let (events, _) =
            read(&[STARTED, r#"{"type":"CUSTOM","value":1}"#, r#"{"type":"TEXT_MESSAGE_END"}"#]);
        assert_eq!(events[1..], ["/name: required but missing", "/messageId: required but missing"]);
    }

    #[test]
    fn binary_parts_are_media_and_bare_handles_go() {
        let (events, notes) = read(&[
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[
                {"type":"binary","mimeType":"audio/ogg","data":"AA=="},{"type":"text","text":"x"}]}"#,
            r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"system","content":"s"},
                {"id":"u","role":"user","content":[{"type":"binary","mimeType":"image/png","id":"handle"}]}]}"#,
        ]);
        assert_eq!(
            events,
            [
                r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"audio","source":{"type":"data","value":"AA==","mimeType":"audio/ogg"}},{"type":"text","text":"x"}]}"#,
                r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"system","id":"a","content":"s"},{"role":"user","id":"u","content":[]}]}"#,
            ]
        );
        assert_eq!(
            notes,
            ["part of 0.x translated at /content/0", "unknown piece left out at /messages/1/content/0"]
        );
    }
}
