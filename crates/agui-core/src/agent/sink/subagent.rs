use std::ops::Deref;

use super::Emitter;
use crate::{
    Event, InterruptId, Json, SubagentError, SubagentFinished, SubagentOutcome, SubagentRunId,
    SubagentStarted,
};

/// An open invocation of a subagent. What the subagent opens has to end before it does.
///
/// Dropped without a verdict it has failed, as the run itself has. Clients that speak 0.x do not know
/// subagents: for them the invocation is not announced, and what it sends carries its id all the same.
///
/// Example: see [`Emitter`](crate::Emitter).
#[derive(Debug)]
#[must_use = "the invocation fails when this is dropped"]
pub struct OpenSubagent<'a> {
    parent: &'a Emitter,
    emitter: Emitter,
    id: SubagentRunId,
    ended: bool,
}

impl<'a> OpenSubagent<'a> {
    pub(super) fn open(parent: &'a Emitter, mut started: SubagentStarted) -> Self {
        let id = started.subagent_run_id.clone();
        if started.parent_subagent_run_id.is_none() {
            started.parent_subagent_run_id = parent.owner().cloned();
        }
        let subagent = Self { parent, emitter: parent.owned_by(id.clone()), id, ended: false };
        subagent.announce(started);
        subagent
    }

    /// Id of the invocation.
    #[must_use]
    pub const fn id(&self) -> &SubagentRunId {
        &self.id
    }

    /// Ends the invocation: it did its work.
    pub fn finish(self) {
        let finished = SubagentFinished::new(&self.id);
        self.end(finished);
    }

    /// Ends the invocation with a result; `null` counts as none.
    pub fn finish_with(self, result: impl Into<Json>) {
        let finished = SubagentFinished::new(&self.id).with_result(result);
        self.end(finished);
    }

    /// Ends the invocation because it waits for answers; the run has to end with these interrupts.
    pub fn suspend(self, interrupts: impl Into<Vec<InterruptId>>) {
        let outcome = SubagentOutcome::Suspended { interrupt_ids: Some(interrupts.into()) };
        let finished = SubagentFinished::new(&self.id).with_outcome(outcome);
        self.end(finished);
    }

    /// Ends the invocation with a failure; the run goes on.
    pub fn fail(self, message: impl Into<String>) {
        let failed = SubagentError::new(&self.id, message);
        self.end(failed);
    }

    fn end(mut self, last: impl Into<Event>) {
        self.ended = true;
        self.announce(last);
    }

    fn announce(&self, event: impl Into<Event>) {
        let mut run = self.parent.lock();
        if !run.is_legacy_peer {
            run.send(event.into());
        }
    }
}

impl Deref for OpenSubagent<'_> {
    type Target = Emitter;

    fn deref(&self) -> &Emitter {
        &self.emitter
    }
}

impl Drop for OpenSubagent<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.announce(SubagentError::new(&self.id, "The subagent stopped before it was finished."));
        }
    }
}
