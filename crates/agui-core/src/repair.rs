//! Makes a valid stream out of any sequence of events.

use std::fmt;

use crate::verify::{Chunks, Discipline, Kind};
use crate::{
    Event, EventType, OpenSpan, PROTOCOL_VERSION, ReasoningMessageStart, RunError, RunId, RunStarted,
    TextMessageStart, ThreadId, Violation,
};

mod ending;
mod tags;

/// Code of the `RUN_ERROR` that stands for a fault of the agent itself.
///
/// Example: see [`Repairer`].
pub const AGENT_ERROR: &str = "AGENT_ERROR";

/// Most repairs of one event; each one takes a fault away, and no event can have more.
const MAX_TRIES: usize = 8;

/// What became of an event.
///
/// Example: see [`Repairer`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// An event was put in before the one that was given.
    Inserted {
        /// Type of the event that was put in.
        event: EventType,
    },
    /// The event was changed.
    Changed {
        /// Type of the event that was given.
        event: EventType,
        /// What was wrong with it.
        violation: Violation,
    },
    /// The event was left out.
    Dropped {
        /// Type of the event that was given.
        event: EventType,
        /// What was wrong with it.
        violation: Violation,
    },
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inserted { event } => write!(f, "put in {event}"),
            Self::Changed { event, violation } => write!(f, "changed {event}: {violation}"),
            Self::Dropped { event, violation } => write!(f, "left out {event}: {violation}"),
        }
    }
}

/// The repairs that one event needed; most need none, and then nothing is allocated.
///
/// Example: see [`Repairer`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The repairs, in order.
    pub repairs: Vec<Repair>,
}

impl Repaired {
    /// Whether the event was passed on as it was.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.repairs.is_empty()
    }
}

/// Takes the events of one run and gives a stream that a consumer accepts.
///
/// For every sequence of events: the stream has the ids of the request, spans are closed before the
/// terminal event, there is at most one terminal event (exactly one after [`close`](Self::close)) and
/// nothing follows it. Chunks come out as the whole events they stand for. What it gives passes
/// [`Verifier::for_run`](crate::Verifier::for_run).
///
/// It is a safety net, not a mapper: an agent that is right is passed on unchanged.
///
/// ```
/// use agui_core::{AGENT_ERROR, EventType, Repair, Repairer, RunError, TextMessageContent};
///
/// let mut repairer = Repairer::new("t1", "r1");
/// let mut out = Vec::new();
/// let repaired = repairer.push(TextMessageContent::new("m1", "Hi!"), &mut out);
/// assert_eq!(repaired.repairs[0], Repair::Inserted { event: EventType::RunStarted });
/// repairer.close(RunError::new("The agent broke off.").with_code(AGENT_ERROR), &mut out);
///
/// let types: Vec<_> = out.iter().map(|event| event.event_type()).collect();
/// assert_eq!(types, [
///     EventType::RunStarted,
///     EventType::TextMessageStart,
///     EventType::TextMessageContent,
///     EventType::TextMessageEnd,
///     EventType::RunError,
/// ]);
/// ```
#[derive(Debug)]
pub struct Repairer {
    thread_id: ThreadId,
    run_id: RunId,
    chunks: Chunks,
    discipline: Discipline,
}

impl Repairer {
    /// A repairer for the run of one request.
    #[must_use]
    pub fn new(thread_id: impl Into<ThreadId>, run_id: impl Into<RunId>) -> Self {
        let (thread_id, run_id) = (thread_id.into(), run_id.into());
        let discipline = Discipline::for_run(thread_id.clone(), run_id.clone());
        Self { thread_id, run_id, chunks: Chunks::new(), discipline }
    }

    /// Takes the next event and appends what should be sent for it.
    pub fn push(&mut self, event: impl Into<Event>, out: &mut Vec<Event>) -> Repaired {
        let event = event.into();
        let mut repaired = Repaired::default();
        if tags::is_chunk(&event) {
            self.expand(event, out, &mut repaired);
        } else {
            if !self.chunks.is_idle() && !self.has_ended() {
                let mut closed = Vec::new();
                self.chunks.close_before(&event, &mut closed);
                for end in closed {
                    self.settle(end, out, &mut repaired);
                }
            }
            self.settle(event, out, &mut repaired);
        }
        repaired
    }

    /// Ends the run with `error` unless it has ended.
    pub fn close(&mut self, error: RunError, out: &mut Vec<Event>) -> Repaired {
        if self.has_ended() { Repaired::default() } else { self.push(error, out) }
    }

    /// Whether the terminal event was given.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.discipline.has_ended()
    }

    /// What is open, in the order of opening.
    #[must_use]
    pub fn open(&self) -> &[OpenSpan] {
        self.discipline.open()
    }

    fn expand(&mut self, mut chunk: Event, out: &mut Vec<Event>, repaired: &mut Repaired) {
        let event_type = chunk.event_type();
        let mut whole = Vec::new();
        while let Err(violation) = self.chunks.expand(&chunk, &mut whole) {
            let Violation::ChunkConflict { member, .. } = violation else {
                repaired.repairs.push(Repair::Dropped { event: event_type, violation });
                return;
            };
            tags::clear_member(&mut chunk, member);
            repaired.repairs.push(Repair::Changed { event: event_type, violation });
        }
        for event in whole {
            self.settle(event, out, repaired);
        }
    }

    /// Appends `event` in a form that keeps the stream valid, or leaves it out.
    fn settle(&mut self, mut event: Event, out: &mut Vec<Event>, repaired: &mut Repaired) {
        let event_type = event.event_type();
        if event_type == EventType::RunError && !self.has_ended() {
            self.close_open(&event, out, repaired);
        }
        for tries in 1.. {
            let Err(violation) = self.discipline.check(&event) else {
                out.push(event);
                return;
            };
            let remedy = if tries > MAX_TRIES {
                Remedy::Drop
            } else {
                self.remedy(&mut event, &violation, out, repaired)
            };
            match remedy {
                Remedy::Inserted => {}
                Remedy::Changed => repaired.repairs.push(Repair::Changed { event: event_type, violation }),
                Remedy::Drop => {
                    repaired.repairs.push(Repair::Dropped { event: event_type, violation });
                    return;
                }
            }
        }
    }

    fn remedy(
        &mut self,
        event: &mut Event,
        violation: &Violation,
        out: &mut Vec<Event>,
        repaired: &mut Repaired,
    ) -> Remedy {
        match violation {
            Violation::FirstEvent { .. } => {
                let started = RunStarted::new(&self.thread_id, &self.run_id);
                self.insert(started.with_protocol_version(PROTOCOL_VERSION), event, out, repaired)
            }
            Violation::StillOpen { .. } => {
                self.close_open(event, out, repaired);
                Remedy::Inserted
            }
            Violation::NotOpen { span, .. } => self.open_for(span.kind(), event, out, repaired),
            Violation::RunIds { thread_id, run_id, .. } => tags::set_run(event, thread_id, run_id),
            Violation::StepOwner { owner, .. } => {
                event.set_owner(owner.clone());
                Remedy::Changed
            }
            Violation::OwnerMismatch { .. } => {
                event.set_owner(None);
                Remedy::Changed
            }
            Violation::ParentOwnerMismatch { .. } => tags::reparent(event),
            Violation::UnknownParentSubagent { .. } => {
                let Event::SubagentStarted(e) = event else { return Remedy::Drop };
                e.parent_subagent_run_id = None;
                Remedy::Changed
            }
            Violation::DuplicateInterrupt { .. } => ending::without_repeated_interrupts(event),
            Violation::NoInterrupt => {
                *event = ending::nothing_asked(event);
                Remedy::Changed
            }
            Violation::RunStillActive { .. }
            | Violation::AfterRunFinished { .. }
            | Violation::AfterRunError { .. }
            | Violation::AlreadyOpen { .. }
            | Violation::TooManyOpen { .. }
            | Violation::SubagentReused { .. }
            | Violation::ChunkIncomplete { .. }
            | Violation::ChunkConflict { .. }
            | Violation::ChunkAmbiguous { .. }
            | Violation::ThreadChanged { .. }
            | Violation::SecondRun { .. }
            | Violation::Unterminated { .. } => Remedy::Drop,
        }
    }

    /// Text keeps its words: a message is opened for a delta that has none. Arguments of a call are
    /// left out, for neither the name of the tool nor the rest of the arguments is known.
    fn open_for(
        &mut self,
        kind: Kind,
        event: &Event,
        out: &mut Vec<Event>,
        repaired: &mut Repaired,
    ) -> Remedy {
        let start = match (kind, event) {
            (Kind::TextMessage, Event::TextMessageContent(e)) => {
                let mut start = TextMessageStart::new(&e.message_id).with_role(crate::TextRole::Assistant);
                start.subagent_run_id.clone_from(&e.subagent_run_id);
                Event::from(start)
            }
            (Kind::ReasoningMessage, Event::ReasoningMessageContent(e)) => {
                let mut start = ReasoningMessageStart::new(&e.message_id);
                start.subagent_run_id.clone_from(&e.subagent_run_id);
                Event::from(start)
            }
            _ => return Remedy::Drop,
        };
        self.insert(start, event, out, repaired)
    }

    /// Puts an event in before `cause`; it carries the time of `cause`.
    fn insert(
        &mut self,
        event: impl Into<Event>,
        cause: &Event,
        out: &mut Vec<Event>,
        repaired: &mut Repaired,
    ) -> Remedy {
        let mut event = event.into();
        event.base_mut().timestamp = cause.base().timestamp;
        if self.discipline.check(&event).is_err() {
            // A tag that its item does not have is the one thing that can be wrong with it.
            event.set_owner(None);
            if self.discipline.check(&event).is_err() {
                return Remedy::Drop;
            }
        }
        repaired.repairs.push(Repair::Inserted { event: event.event_type() });
        out.push(event);
        Remedy::Inserted
    }

    /// Closes everything before `last`, the innermost first.
    fn close_open(&mut self, last: &Event, out: &mut Vec<Event>, repaired: &mut Repaired) {
        while let Some(open) = self.discipline.open().last().cloned() {
            let end = ending::end_of(open, last);
            if matches!(self.insert(end, last, out, repaired), Remedy::Drop) {
                debug_assert!(false, "an open span can be closed");
                return;
            }
        }
    }
}

/// What to do with an event that broke a rule.
enum Remedy {
    /// Something was put in before it; try again.
    Inserted,
    /// It was changed; try again.
    Changed,
    /// Leave it out.
    Drop,
}

#[cfg(test)]
mod tests;
