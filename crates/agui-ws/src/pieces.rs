//! Events on their way out: long deltas are cut, waiting deltas of one item are joined.

use std::collections::VecDeque;
use std::ops::Range;

use agui_core::Event;

/// Room for text below which a delta is not cut, in bytes of JSON (64): its other members would be
/// repeated for next to nothing.
const LEAST_TEXT_BYTES: usize = 64;

/// Room that a silent stream keeps, in events.
const KEPT_EVENTS: usize = 16;

/// The events of a run that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    events: VecDeque<Event>,
    /// The delta at the front, of which a part has been given out.
    begun: Option<Begun>,
}

/// A delta of which a part was given out already.
#[derive(Debug)]
struct Begun {
    /// The event with an empty delta, and without what only its first part carries.
    shell: Event,
    text: String,
    /// Where the rest begins.
    at: usize,
}

/// Whether deltas that wait behind each other become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joining {
    /// Each event is sent as it came.
    Off,
    /// More waits than can leave.
    On,
}

impl Pieces {
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.begun.is_none()
    }

    /// How many events wait.
    pub(crate) fn len(&self) -> usize {
        self.events.len() + usize::from(self.begun.is_some())
    }

    pub(crate) fn extend(&mut self, events: impl IntoIterator<Item = Event>) {
        self.events.extend(events);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next event, of at most `max_bytes` of JSON if it is a delta that can be cut.
    pub(crate) fn next(&mut self, joining: Joining, max_bytes: usize) -> Option<Event> {
        let (mut piece, mut source) = match self.begun.take() {
            Some(begun) => (begun.shell.clone(), begun),
            None => {
                let mut event = self.events.pop_front()?;
                if self.events.is_empty() {
                    self.events.shrink_to(KEPT_EVENTS);
                }
                let Some(text) = delta_mut(&mut event).map(std::mem::take) else { return Some(event) };
                let shell = rest_of(&event);
                (event, Begun { shell, text, at: 0 })
            }
        };
        let room = max_bytes.saturating_sub(json_bytes(&piece));
        let delta = delta_mut(&mut piece)?;
        if room < LEAST_TEXT_BYTES {
            delta.push_str(&source.text[source.at..]);
            return Some(piece);
        }
        let mut left = room;
        loop {
            let (part, cost) = fitting(&source.text, source.at, left);
            source.at = part.end;
            left -= cost;
            if part == (0..source.text.len()) && delta.is_empty() {
                *delta = std::mem::take(&mut source.text);
            } else {
                delta.push_str(&source.text[part]);
                if source.at < source.text.len() {
                    self.begun = Some(source);
                    break;
                }
            }
            match self.pop_joinable(joining, &source.shell) {
                Some(next) => source = next,
                None => break,
            }
        }
        Some(piece)
    }

    /// The event at the front, if it goes on where `shell` ends and nothing but its text is lost.
    fn pop_joinable(&mut self, joining: Joining, shell: &Event) -> Option<Begun> {
        let next = self.events.front().filter(|_| joining == Joining::On)?;
        if !is_plain(next) || !same_item(shell, next) {
            return None;
        }
        let mut next = self.events.pop_front()?;
        let text = std::mem::take(delta_mut(&mut next)?);
        Some(Begun { shell: next, text, at: 0 })
    }
}

/// The text that an event appends to an item.
fn delta_mut(event: &mut Event) -> Option<&mut String> {
    match event {
        Event::TextMessageContent(e) => Some(&mut e.delta),
        Event::ReasoningMessageContent(e) => Some(&mut e.delta),
        Event::ToolCallArgs(e) => Some(&mut e.delta),
        _ => None,
    }
}

/// The event again, without what is told once.
fn rest_of(event: &Event) -> Event {
    let mut rest = event.clone();
    let base = rest.base_mut();
    base.raw_event = None;
    base.metadata = None;
    rest
}

/// Whether an event carries nothing beside its text that would be lost in another.
fn is_plain(event: &Event) -> bool {
    let base = event.base();
    base.raw_event.is_none() && base.metadata.is_none()
}

/// Whether both append to the same item in the same name.
fn same_item(one: &Event, other: &Event) -> bool {
    let same_id = match (one, other) {
        (Event::TextMessageContent(a), Event::TextMessageContent(b)) => a.message_id == b.message_id,
        (Event::ReasoningMessageContent(a), Event::ReasoningMessageContent(b)) => {
            a.message_id == b.message_id
        }
        (Event::ToolCallArgs(a), Event::ToolCallArgs(b)) => a.tool_call_id == b.tool_call_id,
        _ => false,
    };
    same_id && one.subagent_run_id() == other.subagent_run_id()
}

/// Size of an event as JSON. One that cannot be written counts as too large for any frame.
fn json_bytes(event: &Event) -> usize {
    let mut json = Vec::new();
    event.to_json_into(&mut json).map_or(usize::MAX, |()| json.len())
}

/// The longest part of `text` from `at` on that takes at most `room` bytes inside a JSON string, ending
/// at the border of a character, and how many bytes it takes.
fn fitting(text: &str, at: usize, room: usize) -> (Range<usize>, usize) {
    let mut cost = 0;
    // What the characters that are complete take.
    let mut whole = (at, 0);
    for (offset, byte) in text.bytes().enumerate().skip(at) {
        let begins_char = byte & 0xc0 != 0x80;
        if begins_char {
            whole = (offset, cost);
        }
        cost += escaped_bytes(byte);
        if cost > room {
            return (at..whole.0, whole.1);
        }
    }
    (at..text.len(), cost)
}

/// Bytes that serde_json writes for a byte of a string.
const fn escaped_bytes(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0x00..=0x1f => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
