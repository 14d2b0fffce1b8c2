//! Chunk events in the form of the whole events they stand for.

use crate::verify::Chunks;
use crate::{Event, EventType, Violation};

/// Replaces `*_CHUNK` events by the start, content and end events they stand for.
///
/// Everything else passes through, after the end events that it brings with it: at most one item is open
/// for each owner, and another item or a whole event of that owner closes it. A stream that ends without a
/// terminal event leaves its item open.
///
/// Source: AG-UI 1.0, "Events", chunks; behaviour of the released 1.0 client.
#[derive(Debug)]
pub struct ChunkExpander(Chunks);

impl ChunkExpander {
    /// An expander for a stream that begins.
    #[must_use]
    pub const fn new() -> Self {
        Self(Chunks::new())
    }

    /// Takes the next event and appends what it stands for.
    ///
    /// # Errors
    /// A chunk that lacks what it needs or contradicts the chunks before it; nothing was appended.
    pub fn push(&mut self, event: Event, out: &mut Vec<Event>) -> Result<(), Violation> {
        if matches!(
            event.event_type(),
            EventType::TextMessageChunk | EventType::ToolCallChunk | EventType::ReasoningMessageChunk
        ) {
            return self.0.expand(&event, out);
        }
        if !self.0.is_idle() {
            self.0.close_before(&event, out);
        }
        out.push(event);
        Ok(())
    }
}

impl Default for ChunkExpander {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        RunFinished, TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, TextRole,
    };

    #[test]
    fn chunks_become_whole_events_and_the_next_event_closes_them() {
        let mut expander = ChunkExpander::new();
        let mut out = Vec::new();
        let chunk = TextMessageChunk::default().with_message_id("m").with_delta("a");
        expander.push(chunk.into(), &mut out).unwrap();
        expander.push(TextMessageChunk::default().with_delta("b").into(), &mut out).unwrap();
        expander.push(RunFinished::new("t", "r").into(), &mut out).unwrap();
        let expected: [Event; 5] = [
            TextMessageStart::new("m").with_role(TextRole::Assistant).into(),
            TextMessageContent::new("m", "a").into(),
            TextMessageContent::new("m", "b").into(),
            TextMessageEnd::new("m").into(),
            RunFinished::new("t", "r").into(),
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn a_first_chunk_without_an_id_is_refused() {
        let mut out = Vec::new();
        let refused = ChunkExpander::new().push(TextMessageChunk::default().with_delta("a").into(), &mut out);
        let event = EventType::TextMessageChunk;
        assert_eq!(refused, Err(Violation::ChunkIncomplete { event, missing: "messageId" }));
        assert_eq!(out, []);
    }
}
