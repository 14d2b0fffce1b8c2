//! The bounded queue between an agent and the reader of its events.

use std::io;
use std::task::Waker;

use crate::Event;

/// How much may wait for the reader before the agent should wait, too.
///
/// ```
/// use agui_core::{OVERRUN_FACTOR, RunLimits};
///
/// // `RunSink::ready` waits from 256 events or 64 KiB on.
/// let limits = RunLimits::new(256, 64 * 1024);
/// // An agent that does not wait loses its run here.
/// assert_eq!(limits.max_events * OVERRUN_FACTOR, 4_096);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunLimits {
    /// Events; 0 is read as 1.
    pub max_events: usize,
    /// Bytes of JSON; 0 is read as 1. One event may go beyond.
    pub max_bytes: usize,
}

impl RunLimits {
    /// Limits in events and in bytes of JSON.
    #[must_use]
    pub const fn new(max_events: usize, max_bytes: usize) -> Self {
        Self { max_events, max_bytes }
    }
}

impl Default for RunLimits {
    /// 1,024 events and 1 MiB: many writes of a socket, and little memory for a thousand runs.
    fn default() -> Self {
        Self::new(1_024, 1_048_576)
    }
}

/// How many times the limits an agent may overrun before its run is ended.
///
/// Sending never blocks, so an agent that does not wait for the reader is stopped here: memory of a run
/// stays bounded whatever the agent does.
///
/// Example: see [`RunLimits`].
pub const OVERRUN_FACTOR: usize = 16;

/// What agent and reader share.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) events: Vec<Event>,
    bytes: usize,
    limits: RunLimits,
    /// No event follows.
    pub(super) ended: bool,
    /// The reader has gone.
    pub(super) abandoned: bool,
    pub(super) reader: Option<Waker>,
    pub(super) waits_for_room: Vec<Waker>,
    pub(super) waits_for_close: Vec<Waker>,
}

impl Queue {
    pub(super) fn new(limits: RunLimits) -> Self {
        Self {
            events: Vec::new(),
            bytes: 0,
            limits: RunLimits::new(limits.max_events.max(1), limits.max_bytes.max(1)),
            ended: false,
            abandoned: false,
            reader: None,
            waits_for_room: Vec::new(),
            waits_for_close: Vec::new(),
        }
    }

    /// Takes over all events. One event counts as full at most, so that a large one alone is no overrun.
    pub(super) fn append(&mut self, events: &mut Vec<Event>) {
        for event in &*events {
            self.bytes = self.bytes.saturating_add(json_bytes(event).min(self.limits.max_bytes));
        }
        self.events.append(events);
    }

    /// The reader has taken everything.
    pub(super) const fn taken(&mut self) {
        self.bytes = 0;
    }

    pub(super) fn has_room(&self) -> bool {
        self.events.len() < self.limits.max_events && self.bytes < self.limits.max_bytes
    }

    pub(super) fn is_overrun(&self) -> bool {
        self.events.len() >= self.limits.max_events.saturating_mul(OVERRUN_FACTOR)
            || self.bytes >= self.limits.max_bytes.saturating_mul(OVERRUN_FACTOR)
    }
}

/// Size of an event on the wire. Exact except for deltas, where the escapes are not counted.
fn json_bytes(event: &Event) -> usize {
    /// Names, punctuation and ids of a delta, about.
    const DELTA_FRAME_BYTES: usize = 128;
    let base = event.base();
    let delta = match event {
        Event::TextMessageContent(e) => Some(e.delta.len()),
        Event::ReasoningMessageContent(e) => Some(e.delta.len()),
        Event::ToolCallArgs(e) => Some(e.delta.len()),
        _ => None,
    };
    match delta {
        Some(delta) if base.raw_event.is_none() && base.metadata.is_none() => DELTA_FRAME_BYTES + delta,
        Some(_) | None => {
            let mut counter = Counter(0);
            // Counting does not fail; an event that could not be written would count as far as it got.
            let _ = serde_json::to_writer(&mut counter, event);
            counter.0
        }
    }
}

/// Counts what is written.
struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
