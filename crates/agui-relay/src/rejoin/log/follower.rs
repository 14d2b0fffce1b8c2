use std::sync::Arc;

use agui_core::{Event, Problem};
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Log, Phase, Place, Segment, State, TAKE_BYTES, TAKE_EVENTS};

/// A reader of a log, from the first event on. It holds the run back only while there is no faster one.
#[derive(Debug)]
pub(in crate::rejoin) struct Follower {
    log: Arc<Log>,
    id: u64,
    /// Events that were given out.
    given: usize,
    over: bool,
    grown: watch::Receiver<()>,
}

/// What a reader gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rejoin) enum Next {
    /// Events were appended.
    Events,
    /// Events are gone that were not given out. Nothing follows.
    Gap,
    /// Nothing follows.
    End,
}

/// What was taken from the state under its lock.
enum Taken {
    Values(Vec<Arc<Event>>),
    /// A segment and the index of the first event in it that is new.
    Json(Segment, usize),
    Gap,
    Nothing,
    End,
}

impl Follower {
    pub(super) const fn new(log: Arc<Log>, id: u64, grown: watch::Receiver<()>) -> Self {
        Self { log, id, given: 0, over: false, grown }
    }

    /// Waits until the agent has taken the run. Cancel-safe.
    ///
    /// # Errors
    /// What the agent says if it does not.
    pub(in crate::rejoin) async fn admitted(&mut self) -> Result<(), Problem> {
        loop {
            // Seen before the look, so that what comes after the look is noticed.
            self.grown.mark_unchanged();
            match &self.log.lock().phase {
                Phase::Asked => {}
                Phase::Running | Phase::Ended => return Ok(()),
                Phase::Refused(problem) => return Err(problem.clone()),
            }
            if self.grown.changed().await.is_err() {
                return Ok(());
            }
        }
    }

    /// Appends the next events to `out`. Cancel-safe.
    pub(in crate::rejoin) async fn next(&mut self, out: &mut Vec<Event>) -> Next {
        while !self.over {
            self.grown.mark_unchanged();
            match self.take() {
                // When no other reader needs a value, this one gets it without a copy.
                Taken::Values(values) => {
                    out.extend(values.into_iter().map(Arc::unwrap_or_clone));
                    return Next::Events;
                }
                Taken::Json(segment, from) => {
                    out.extend(segment.read(from));
                    return Next::Events;
                }
                Taken::Gap => {
                    self.over = true;
                    return Next::Gap;
                }
                Taken::Nothing => self.over = self.grown.changed().await.is_err(),
                Taken::End => self.over = true,
            }
        }
        Next::End
    }

    fn take(&mut self) -> Taken {
        let mut state = self.log.lock();
        let (taken, place) = look(&state, self.given);
        if let Some(place) = place {
            self.given = place.events;
            state.readers.insert(self.id, place);
            state.trim(self.log.bounds.ahead);
            drop(state);
            self.log.moved.notify_one();
        }
        taken
    }
}

/// What comes after `given` events, and the place behind it.
fn look(state: &State, given: usize) -> (Taken, Option<Place>) {
    if let Some(index) = given.checked_sub(state.tail_start()) {
        let mut values = Vec::new();
        let mut place = None;
        let mut first = None;
        for waiting in state.tail.iter().skip(index).take(TAKE_EVENTS) {
            values.push(Arc::clone(&waiting.event));
            place = Some(waiting.end);
            if waiting.end.bytes - *first.get_or_insert(waiting.end.bytes) >= TAKE_BYTES {
                break;
            }
        }
        return match place {
            Some(_) => (Taken::Values(values), place),
            None if matches!(state.phase, Phase::Ended) => (Taken::End, None),
            None => (Taken::Nothing, None),
        };
    }
    if given < state.start.events {
        return (Taken::Gap, None);
    }
    let mut place = state.start;
    for segment in &state.sealed {
        let from = given - place.events;
        place = Place { events: place.events + segment.events(), bytes: place.bytes + segment.bytes() };
        if given < place.events {
            return (Taken::Json(segment.clone(), from), Some(place));
        }
    }
    debug_assert!(false, "what is not in the tail is sealed");
    (Taken::Gap, None)
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut state = self.log.lock();
        state.readers.remove(&self.id);
        if state.readers.is_empty() {
            self.log.deserted.send_replace(Some(Instant::now()));
        }
        state.trim(self.log.bounds.ahead);
        drop(state);
        self.log.moved.notify_one();
    }
}
