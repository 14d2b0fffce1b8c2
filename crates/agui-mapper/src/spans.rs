//! What is open on the stream; the only place that opens and closes it, so that every stream is balanced.
//!
//! A *lane* is one strand of output: the normal turn, or one step of one candidate. Within a lane text,
//! reasoning and tool calls follow each other; lanes lie side by side and never close each other's spans.

use std::collections::HashMap;
use std::sync::Arc;

use agui_core::{Event, MessageId, RunId, StepFinished, StepStarted, ToolCallId, UnixMillis};

mod calls;
mod ids;
mod messages;
mod outbox;
pub(crate) mod split;

use calls::Call;
pub(crate) use calls::CallResult;
use ids::Ids;
use messages::Lane;
use outbox::Outbox;

/// Number of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneId(usize);

impl LaneId {
    /// The lane of the normal turn.
    pub(crate) const MAIN: Self = Self(0);
}

/// The open spans of a run and the events that wait to be taken.
#[derive(Debug)]
pub(crate) struct Spans {
    ids: Ids,
    out: Outbox,
    /// In opening order; the end of the run closes from the back.
    open: Vec<Open>,
    lanes: Vec<Lane>,
    calls: HashMap<ToolCallId, Call>,
    /// Longest JSON text of a tool result in bytes.
    max_result_bytes: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Open {
    Text(LaneId),
    Reasoning(LaneId),
    Call(ToolCallId),
    Step(Arc<str>),
}

impl Spans {
    pub(crate) fn new(run: &RunId, max_result_bytes: usize) -> Self {
        Self {
            ids: Ids::new(run),
            out: Outbox::default(),
            open: Vec::new(),
            lanes: vec![Lane::default()],
            calls: HashMap::new(),
            max_result_bytes,
        }
    }

    /// Sets the time of the events that follow; it never runs backwards within a run.
    pub(crate) fn set_now(&mut self, now: UnixMillis) {
        self.out.set_now(now);
    }

    /// Queues an event that opens and closes nothing.
    pub(crate) fn emit(&mut self, event: impl Into<Event>) {
        self.out.push(event);
    }

    /// The same, but ahead of what was not taken yet.
    pub(crate) fn emit_ahead(&mut self, event: impl Into<Event>) {
        self.out.push_ahead(event);
    }

    pub(crate) fn poll(&mut self) -> Option<Event> {
        self.out.pop()
    }

    /// Sets the task whose id is left out of message ids.
    pub(crate) fn set_task(&mut self, task: &str) {
        self.ids.set_task(task);
    }

    /// A new id that no other event of the thread has.
    pub(crate) fn mint(&mut self, stem: &str) -> MessageId {
        self.ids.mint(stem)
    }

    pub(crate) fn add_lane(&mut self) -> LaneId {
        self.lanes.push(Lane::default());
        LaneId(self.lanes.len() - 1)
    }

    /// Opens a step; a step of that name that is open stays open.
    pub(crate) fn open_step(&mut self, name: &str) {
        if self.step_is_open(name) {
            return;
        }
        self.open.push(Open::Step(name.into()));
        self.out.push(StepStarted::new(name));
    }

    /// Closes a step; nothing happens if it is not open.
    pub(crate) fn close_step(&mut self, name: &str) {
        if self.forget(|open| matches!(open, Open::Step(step) if **step == *name)) {
            self.out.push(StepFinished::new(name));
        }
    }

    pub(crate) fn step_is_open(&self, name: &str) -> bool {
        self.open.iter().any(|open| matches!(open, Open::Step(step) if **step == *name))
    }

    /// Closes everything, the last opened first.
    pub(crate) fn close_all(&mut self) {
        while let Some(open) = self.open.pop() {
            match open {
                Open::Text(lane) => self.end_text(lane, None),
                Open::Reasoning(lane) => self.end_reasoning(lane, None),
                Open::Call(call) => self.end_call_span(&call),
                Open::Step(name) => self.out.push(StepFinished::new(&*name)),
            }
        }
    }

    /// Takes the youngest matching span off the list of open ones.
    fn forget(&mut self, matches: impl Fn(&Open) -> bool) -> bool {
        match self.open.iter().rposition(matches) {
            Some(at) => {
                self.open.remove(at);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests;
