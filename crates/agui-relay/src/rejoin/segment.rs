//! Events as JSON, one after the other: what a run looks like once nobody is about to read it.

use std::sync::Arc;

use agui_core::{Decoded, Event, decode_event};
use bytes::Bytes;

/// Bytes of JSON after which a segment is sealed, 32 KiB: old events go away, and are read, in such pieces.
const SEGMENT_BYTES: usize = 32 * 1024;

/// A piece of a log that is still being written.
#[derive(Debug, Default)]
pub(super) struct OpenSegment {
    json: Vec<u8>,
    /// Where each event ends. A segment is sealed long before a number could not hold it.
    ends: Vec<u32>,
}

impl OpenSegment {
    /// Appends an event; gives the bytes that it takes.
    pub(super) fn push(&mut self, event: &Event) -> usize {
        let start = self.json.len();
        if event.to_json_into(&mut self.json).is_err() {
            // An event that cannot be written is left out by whoever writes; it has its position.
            self.json.truncate(start);
        }
        self.ends.push(u32::try_from(self.json.len()).unwrap_or(u32::MAX));
        self.json.len() - start
    }

    pub(super) fn is_full(&self) -> bool {
        self.json.len() >= SEGMENT_BYTES
    }

    pub(super) const fn events(&self) -> usize {
        self.ends.len()
    }

    /// Takes what was written, in as little memory as it needs.
    pub(super) fn seal(&mut self) -> Segment {
        let mut ends = std::mem::take(&mut self.ends);
        ends.shrink_to_fit();
        let json = Bytes::copy_from_slice(&self.json);
        self.json.clear();
        Segment { json, ends: ends.into() }
    }
}

/// A piece of a log that does not change any more; cheap to clone.
#[derive(Clone)]
pub(super) struct Segment {
    json: Bytes,
    ends: Arc<[u32]>,
}

impl Segment {
    pub(super) fn events(&self) -> usize {
        self.ends.len()
    }

    pub(super) const fn bytes(&self) -> usize {
        self.json.len()
    }

    /// The events from an index on. Those that this version cannot read back are left out.
    pub(super) fn read(&self, from: usize) -> impl Iterator<Item = Event> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| index(*end)));
        starts.zip(self.ends.iter().map(|end| index(*end))).skip(from).filter_map(|(start, end)| {
            let json = self.json.get(start..end)?;
            match decode_event(json) {
                Ok(Decoded::Known(event)) => Some(event),
                Ok(_) => None,
                Err(error) => {
                    tracing::warn!(%error, "kept event cannot be read again");
                    None
                }
            }
        })
    }
}

impl std::fmt::Debug for Segment {
    /// What was said is content, and content is not logged.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segment").field("events", &self.events()).field("bytes", &self.bytes()).finish()
    }
}

fn index(end: u32) -> usize {
    usize::try_from(end).unwrap_or(usize::MAX)
}
