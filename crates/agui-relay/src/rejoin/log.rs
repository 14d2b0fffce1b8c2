//! The events of one run, from the first one on as long as they fit, for readers that come and go.
//!
//! The newest events wait as values until every reader has them; all of them are kept as JSON, which is small,
//! for readers that come later. So a run with one reader is neither copied nor decoded on its way.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agui_core::{Event, Problem, RunLimits};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

use super::config::RejoinConfig;
use super::segment::{OpenSegment, Segment};

mod follower;

pub(super) use follower::{Follower, Next};

/// Bytes of JSON that a reader takes at a time, about.
const TAKE_BYTES: usize = 64 * 1024;
/// Events that a reader takes at a time.
const TAKE_EVENTS: usize = 512;

/// How much a log keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) events: usize,
    pub(super) bytes: usize,
    /// How far the run may be ahead of its fastest reader.
    pub(super) ahead: RunLimits,
    /// Bytes that all live logs may keep together.
    pub(super) live_bytes: usize,
}

impl From<&RejoinConfig> for Bounds {
    fn from(config: &RejoinConfig) -> Self {
        Self {
            events: config.log_max_events,
            bytes: config.log_max_bytes,
            ahead: RunLimits::new(config.read_ahead.max_events.max(1), config.read_ahead.max_bytes.max(1)),
            live_bytes: config.live_max_bytes,
        }
    }
}

/// The events of a run.
pub(super) struct Log {
    state: Mutex<State>,
    bounds: Bounds,
    /// Bytes that all live logs keep.
    live_bytes: Arc<AtomicUsize>,
    /// Told when there is more to read, or nothing more to come.
    grown: watch::Sender<()>,
    /// Told when a reader came, went or moved on; one task waits for it.
    moved: Notify,
    /// Since when nobody reads.
    deserted: watch::Sender<Option<Instant>>,
}

#[derive(Default)]
struct State {
    phase: Phase,
    sealed: VecDeque<Segment>,
    open: OpenSegment,
    /// The newest events, from that on which some reader has not got.
    tail: VecDeque<Waiting>,
    /// Before the first event that is kept as JSON.
    start: Place,
    /// Behind the newest event.
    end: Place,
    readers: HashMap<u64, Place>,
    next_reader: u64,
}

#[derive(Default)]
enum Phase {
    /// The agent has not taken the run yet.
    #[default]
    Asked,
    Running,
    Refused(Problem),
    Ended,
}

struct Waiting {
    event: Arc<Event>,
    /// The place behind it.
    end: Place,
}

/// A place between two events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    /// Events before it.
    events: usize,
    /// Bytes of JSON before it.
    bytes: usize,
}

impl State {
    /// The index of the first event of the tail.
    fn tail_start(&self) -> usize {
        self.end.events - self.tail.len()
    }

    fn push(&mut self, event: Event) -> usize {
        let bytes = self.open.push(&event);
        self.end = Place { events: self.end.events + 1, bytes: self.end.bytes + bytes };
        self.tail.push_back(Waiting { event: Arc::new(event), end: self.end });
        if self.open.is_full() {
            self.seal();
        }
        bytes
    }

    fn seal(&mut self) {
        if self.open.events() > 0 {
            self.sealed.push_back(self.open.seal());
        }
    }

    /// Lets go of values that every reader has, or that are too far behind to wait as values.
    fn trim(&mut self, ahead: RunLimits) {
        let needed = self.readers.values().map(|place| place.events).min().unwrap_or(self.end.events);
        while self.tail_start() < needed && self.tail.pop_front().is_some() {}
        // The run may be twice that far ahead of its fastest reader, by the batch that came last.
        let (max_events, max_bytes) = (ahead.max_events.saturating_mul(2), ahead.max_bytes.saturating_mul(2));
        while self.tail.len() > max_events
            || self.tail.len() > 1
                && self.tail.front().is_some_and(|oldest| self.end.bytes - oldest.end.bytes > max_bytes)
        {
            let sealed = self.end.events - self.open.events();
            if self.tail_start() >= sealed {
                self.seal();
            }
            self.tail.pop_front();
        }
    }

    /// Lets go of the oldest JSON; gives how many bytes.
    fn evict(&mut self, max_events: usize, max_bytes: usize) -> usize {
        let before = self.start.bytes;
        while self.end.events - self.start.events > max_events
            || self.end.bytes - self.start.bytes > max_bytes
        {
            let Some(oldest) = self.sealed.pop_front() else { break };
            self.start.events += oldest.events();
            self.start.bytes += oldest.bytes();
        }
        self.start.bytes - before
    }

    /// Whether the run may go on: nobody reads, or somebody keeps up.
    fn has_room(&self, ahead: RunLimits) -> bool {
        self.readers.is_empty()
            || self.readers.values().any(|reader| {
                self.end.events - reader.events < ahead.max_events
                    && self.end.bytes - reader.bytes < ahead.max_bytes
            })
    }
}

impl Log {
    pub(super) fn new(bounds: Bounds, live_bytes: Arc<AtomicUsize>) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            bounds,
            live_bytes,
            grown: watch::Sender::new(()),
            moved: Notify::new(),
            deserted: watch::Sender::new(Some(Instant::now())),
        })
    }

    /// The agent has taken the run.
    pub(super) fn admit(&self) {
        self.set_phase(Phase::Running);
    }

    /// The agent has not taken the run.
    pub(super) fn refuse(&self, problem: Problem) {
        self.set_phase(Phase::Refused(problem));
    }

    /// Nothing follows. Gives the bytes of JSON that are kept, if that is the whole run.
    pub(super) fn end(&self) -> Option<usize> {
        let mut state = self.lock();
        let kept = state.end.bytes - state.start.bytes;
        if matches!(state.phase, Phase::Asked | Phase::Running) {
            state.phase = Phase::Ended;
            state.seal();
            state.trim(self.bounds.ahead);
            self.live_bytes.fetch_sub(kept, Ordering::Relaxed);
        }
        let whole = (state.start.events == 0).then_some(kept);
        drop(state);
        self.grown.send_replace(());
        whole
    }

    /// Adds events; never waits.
    pub(super) fn append(&self, events: &mut Vec<Event>) {
        let mut state = self.lock();
        let added: usize = events.drain(..).map(|event| state.push(event)).sum();
        let live = self.live_bytes.fetch_add(added, Ordering::Relaxed) + added;
        // When all runs together keep too much, this one keeps no more than its readers need.
        let bytes =
            if live > self.bounds.live_bytes { self.bounds.ahead.max_bytes } else { self.bounds.bytes };
        let evicted = state.evict(self.bounds.events, bytes);
        self.live_bytes.fetch_sub(evicted, Ordering::Relaxed);
        state.trim(self.bounds.ahead);
        drop(state);
        self.grown.send_replace(());
    }

    /// Readers now, and events so far.
    pub(super) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.readers.len(), state.end.events)
    }

    /// Waits while even the fastest reader is too far behind. Cancel-safe; for one task.
    pub(super) async fn room(&self) {
        while !self.lock().has_room(self.bounds.ahead) {
            // A move between the look and the wait has left its mark.
            self.moved.notified().await;
        }
    }

    /// Resolves when nobody has read for this long. Cancel-safe.
    pub(super) async fn deserted_for(&self, time: Duration) {
        let mut deserted = self.deserted.subscribe();
        loop {
            let since = *deserted.borrow_and_update();
            // A time that no clock reaches never passes.
            let changed = match since.and_then(|since| since.checked_add(time)) {
                Some(until) => timeout_at(until, deserted.changed()).await,
                None => Ok(deserted.changed().await),
            };
            if changed.is_err() {
                return;
            }
        }
    }

    /// A reader from the first event on; `None` if that is not kept any more.
    pub(super) fn follow(self: &Arc<Self>) -> Option<Follower> {
        let mut state = self.lock();
        if state.start.events > 0 {
            return None;
        }
        // What other readers have is not in the tail any more, so it has to be readable.
        state.seal();
        let id = state.next_reader;
        state.next_reader += 1;
        state.readers.insert(id, Place::default());
        self.deserted.send_replace(None);
        drop(state);
        Some(Follower::new(Arc::clone(self), id, self.grown.subscribe()))
    }

    fn set_phase(&self, phase: Phase) {
        self.lock().phase = phase;
        self.grown.send_replace(());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent after every statement, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Log {
    /// What was said is content, and content is not logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (readers, events) = self.counts();
        f.debug_struct("Log").field("readers", &readers).field("events", &events).finish_non_exhaustive()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
