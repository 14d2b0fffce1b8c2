//! The newest events of one run, for readers that come and go.

use agui_core::{Event, RunLimits};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

/// Events that are kept of one run: five to ten minutes of a model that talks without a pause, and more of
/// one that works.
///
/// Example: see [`AttachRequest`](crate::AttachRequest).
pub const LOG_MAX_EVENTS: usize = 24_576;
/// Bytes of JSON that are kept of one run, 4 MiB: about as many small deltas. The newest event is kept
/// whatever its size.
///
/// Example: see [`AttachRequest`](crate::AttachRequest).
pub const LOG_MAX_BYTES: usize = 4 * 1024 * 1024;
/// How far a run may be ahead of its fastest reader before it has to wait: 1,024 events or 1 MiB of JSON,
/// the same as between a run and its only reader. A slower reader may fall behind as far as the log reaches.
///
/// Example: see [`AttachRequest`](crate::AttachRequest).
pub const READ_AHEAD: RunLimits = RunLimits::new(1_024, 1_048_576);

/// Bytes of JSON that a reader takes at a time, about: what it holds is held beyond the log's bounds.
const TAKE_BYTES: u64 = 64 * 1024;

/// The events of a run from some position on.
#[derive(Debug)]
pub(crate) struct EventLog {
    state: Mutex<State>,
    bounds: Bounds,
    /// Told when there is more to read, or nothing more to come.
    grown: watch::Sender<()>,
    /// Told when a reader came, went or moved on; one task waits for it.
    moved: Notify,
    /// Since when nobody reads.
    deserted: watch::Sender<Option<Instant>>,
}

/// How much a log keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { events: LOG_MAX_EVENTS, bytes: LOG_MAX_BYTES }
    }
}

#[derive(Debug, Default)]
struct State {
    entries: VecDeque<Entry>,
    /// The place behind the events that are not kept any more.
    dropped: Place,
    ended: bool,
    readers: HashMap<u64, Place>,
    next_reader: u64,
}

struct Entry {
    event: Arc<Event>,
    /// Bytes of JSON from the first event of the run to the end of this one.
    end: u64,
}

impl fmt::Debug for Entry {
    /// What was said is content, and content is not logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("type", &self.event.event_type()).field("end", &self.end).finish()
    }
}

/// A place between two events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    /// Position of the event before it; 0 at the beginning.
    position: u64,
    /// Bytes of JSON up to it.
    bytes: u64,
}

impl State {
    /// The place behind the newest event.
    fn end(&self) -> Place {
        let bytes = self.entries.back().map_or(self.dropped.bytes, |entry| entry.end);
        Place { position: self.dropped.position + as_u64(self.entries.len()), bytes }
    }

    /// The place behind the event with this position, or behind what is gone if that is later.
    fn place(&self, position: u64) -> Place {
        match position.checked_sub(self.dropped.position + 1) {
            None => self.dropped,
            Some(index) => match usize::try_from(index).ok().and_then(|index| self.entries.get(index)) {
                Some(entry) => Place { position, bytes: entry.end },
                None => self.end(),
            },
        }
    }

    fn push(&mut self, event: Event, bytes: usize, bounds: Bounds) {
        let end = self.end().bytes + as_u64(bytes);
        self.entries.push_back(Entry { event: Arc::new(event), end });
        while self.entries.len() > 1
            && (self.entries.len() > bounds.events || end - self.dropped.bytes > as_u64(bounds.bytes))
        {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.dropped = Place { position: self.dropped.position + 1, bytes: oldest.end };
        }
    }

    /// Whether the run may go on: nobody reads, or somebody keeps up.
    fn has_room(&self) -> bool {
        let end = self.end();
        self.readers.is_empty()
            || self.readers.values().any(|reader| {
                end.position - reader.position < as_u64(READ_AHEAD.max_events)
                    && end.bytes - reader.bytes < as_u64(READ_AHEAD.max_bytes)
            })
    }
}

impl EventLog {
    pub(super) fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            bounds,
            grown: watch::Sender::new(()),
            moved: Notify::new(),
            deserted: watch::Sender::new(Some(Instant::now())),
        })
    }

    /// Adds events; never waits.
    pub(super) fn append(&self, events: &mut Vec<Event>) {
        let mut json = Vec::new();
        for event in events.drain(..) {
            json.clear();
            // An event that cannot be written is left out by whoever writes; it has its position.
            let bytes = event.to_json_into(&mut json).map_or(0, |()| json.len());
            self.lock().push(event, bytes, self.bounds);
        }
        self.grown.send_replace(());
    }

    /// Nothing follows.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.grown.send_replace(());
    }

    /// Bytes of JSON that are kept.
    pub(super) fn bytes(&self) -> u64 {
        let state = self.lock();
        state.end().bytes - state.dropped.bytes
    }

    /// Waits while even the fastest reader is too far behind. Cancel-safe; for one task.
    pub(super) async fn room(&self) {
        while !self.lock().has_room() {
            // A move between the look and the wait has left its mark.
            self.moved.notified().await;
        }
    }

    /// Resolves when nobody has read for this long. Cancel-safe.
    pub(super) async fn deserted_for(&self, time: Duration) {
        let mut deserted = self.deserted.subscribe();
        loop {
            let since = *deserted.borrow_and_update();
            let changed = match since {
                Some(since) => timeout_at(since + time, deserted.changed()).await,
                None => Ok(deserted.changed().await),
            };
            if changed.is_err() {
                return;
            }
        }
    }

    /// Resolves when somebody reads. Cancel-safe.
    pub(super) async fn attended(&self) {
        let mut deserted = self.deserted.subscribe();
        // The sender lives in `self`: it cannot be gone.
        let _ = deserted.wait_for(Option::is_none).await;
    }

    /// A reader of what comes after this position; `None` if the run has not got that far.
    pub(super) fn follow(self: &Arc<Self>, position: u64) -> Option<Follower> {
        let mut state = self.lock();
        if position > state.end().position {
            return None;
        }
        let id = state.next_reader;
        state.next_reader += 1;
        let place = state.place(position);
        state.readers.insert(id, place);
        self.deserted.send_replace(None);
        drop(state);
        let grown = self.grown.subscribe();
        Some(Follower { log: Arc::clone(self), id, position, ready: VecDeque::new(), over: false, grown })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent after every statement, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a reader gets.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// The next event and its position.
    Event(u64, Arc<Event>),
    /// Events up to and with this position are gone. Nothing follows.
    Gap { lost: u64 },
}

/// A reader of a log. It holds the run back only while there is no faster one.
#[derive(Debug)]
pub(super) struct Follower {
    log: Arc<EventLog>,
    id: u64,
    /// Position of the last event that was given out.
    position: u64,
    /// Taken from the log, not yet given out.
    ready: VecDeque<Arc<Event>>,
    over: bool,
    grown: watch::Receiver<()>,
}

impl Follower {
    /// The next step, `None` when there is none. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Step> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.position += 1;
                return Some(Step::Event(self.position, event));
            }
            if self.over {
                return None;
            }
            // Seen before the look, so that what comes after the look is noticed.
            self.grown.mark_unchanged();
            match self.take() {
                Taken::Events => {}
                Taken::Gap { lost } => {
                    self.over = true;
                    return Some(Step::Gap { lost });
                }
                Taken::Nothing => self.grown.changed().await.ok()?,
                Taken::End => self.over = true,
            }
        }
    }

    /// Moves what waits, up to a bound, into `ready`.
    fn take(&mut self) -> Taken {
        let mut state = self.log.lock();
        let Some(index) = self.position.checked_sub(state.dropped.position) else {
            return Taken::Gap { lost: state.dropped.position };
        };
        let from = state.place(self.position);
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let mut place = from;
        for entry in state.entries.iter().skip(index) {
            self.ready.push_back(Arc::clone(&entry.event));
            place = Place { position: place.position + 1, bytes: entry.end };
            if place.bytes - from.bytes >= TAKE_BYTES {
                break;
            }
        }
        if place == from {
            return if state.ended { Taken::End } else { Taken::Nothing };
        }
        state.readers.insert(self.id, place);
        drop(state);
        self.log.moved.notify_one();
        Taken::Events
    }
}

enum Taken {
    Events,
    Gap { lost: u64 },
    Nothing,
    End,
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut state = self.log.lock();
        state.readers.remove(&self.id);
        if state.readers.is_empty() {
            self.log.deserted.send_replace(Some(Instant::now()));
        }
        drop(state);
        self.log.moved.notify_one();
    }
}

fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
