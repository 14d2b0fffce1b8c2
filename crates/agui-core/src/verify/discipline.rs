//! The rules for events that are not chunks.
//!
//! A check that fails changes nothing, so that a repairer can try again.

use std::collections::BTreeSet;

use super::owners::{Owners, Seed};
use super::{Kind, OpenSpan, Span, Violation};
use crate::{Event, EventType, Outcome, RunFinished, RunId, RunStarted, SubagentRunId, ThreadId};

mod items;

/// Where a stream stands.
#[derive(Debug)]
enum Phase {
    Fresh,
    Running(RunId),
    Finished,
    Failed,
}

/// The state of one stream.
#[derive(Debug)]
pub(crate) struct Discipline {
    phase: Phase,
    /// The thread of the stream, once known.
    thread_id: Option<ThreadId>,
    /// The only run that is allowed, if the stream answers one request.
    only_run: Option<RunId>,
    open: Vec<OpenSpan>,
    owners: Owners,
    ended_subagents: BTreeSet<SubagentRunId>,
}

impl Discipline {
    pub(crate) const fn new() -> Self {
        Self {
            phase: Phase::Fresh,
            thread_id: None,
            only_run: None,
            open: Vec::new(),
            owners: Owners::new(),
            ended_subagents: BTreeSet::new(),
        }
    }

    pub(crate) fn for_run(thread_id: ThreadId, run_id: RunId) -> Self {
        Self { thread_id: Some(thread_id), only_run: Some(run_id), ..Self::new() }
    }

    pub(crate) fn open(&self) -> &[OpenSpan] {
        &self.open
    }

    /// Whether a terminal event has passed and no run is open.
    pub(crate) const fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Finished | Phase::Failed)
    }

    pub(crate) fn finish(&self) -> Result<(), Violation> {
        match &self.phase {
            Phase::Finished | Phase::Failed => Ok(()),
            Phase::Running(run_id) => Err(Violation::Unterminated { run_id: Some(run_id.clone()) }),
            Phase::Fresh => Err(Violation::Unterminated { run_id: None }),
        }
    }

    pub(crate) fn check(&mut self, event: &Event) -> Result<(), Violation> {
        self.check_phase(event)?;
        let tag = event.subagent_run_id();
        match event {
            Event::RunStarted(e) => self.run_started(e)?,
            Event::RunFinished(e) => self.run_finished(e)?,
            Event::RunError(_) => self.end(Phase::Failed),
            Event::StepStarted(e) => self.step_started(&e.step_name, tag)?,
            Event::StepFinished(e) => self.step_finished(&e.step_name, tag)?,
            Event::TextMessageStart(e) => self.opens(Span::TextMessage(e.message_id.clone()), event)?,
            Event::TextMessageContent(e) => {
                self.continues(Kind::TextMessage, e.message_id.as_str(), event)?;
            }
            Event::TextMessageEnd(e) => self.closes(Kind::TextMessage, e.message_id.as_str(), event)?,
            Event::ReasoningStart(e) => self.opens(Span::ReasoningSpan(e.message_id.clone()), event)?,
            Event::ReasoningEnd(e) => self.closes(Kind::ReasoningSpan, e.message_id.as_str(), event)?,
            Event::ReasoningMessageStart(e) => {
                self.opens(Span::ReasoningMessage(e.message_id.clone()), event)?;
            }
            Event::ReasoningMessageContent(e) => {
                self.continues(Kind::ReasoningMessage, e.message_id.as_str(), event)?;
            }
            Event::ReasoningMessageEnd(e) => {
                self.closes(Kind::ReasoningMessage, e.message_id.as_str(), event)?;
            }
            Event::ReasoningEncryptedValue(e) => self.encrypted_value(e)?,
            Event::ToolCallStart(e) => self.tool_call_started(e)?,
            Event::ToolCallArgs(e) => self.continues(Kind::ToolCall, e.tool_call_id.as_str(), event)?,
            Event::ToolCallEnd(e) => self.closes(Kind::ToolCall, e.tool_call_id.as_str(), event)?,
            Event::ToolCallResult(e) => self.owns_message(&e.message_id, tag),
            Event::ActivitySnapshot(e) => self.activity_snapshot(e),
            Event::ActivityDelta(e) => self.activity_delta(e)?,
            Event::MessagesSnapshot(e) => self.seed(&e.messages, Seed::Snapshot),
            Event::SubagentStarted(e) => self.subagent_started(e)?,
            Event::SubagentFinished(e) => self.subagent_ended(&e.subagent_run_id, event)?,
            Event::SubagentError(e) => self.subagent_ended(&e.subagent_run_id, event)?,
            Event::StateSnapshot(_)
            | Event::StateDelta(_)
            | Event::Raw(_)
            | Event::Custom(_)
            | Event::TextMessageChunk(_)
            | Event::ToolCallChunk(_)
            | Event::ReasoningMessageChunk(_) => {}
        }
        Ok(())
    }

    /// Whether an event of this type may come now.
    fn check_phase(&self, event: &Event) -> Result<(), Violation> {
        let event_type = event.event_type();
        let starts = event_type == EventType::RunStarted;
        let fails = event_type == EventType::RunError;
        let one_run = self.only_run.is_some();
        match (&self.phase, event) {
            (Phase::Running(run_id), Event::RunStarted(_)) => {
                Err(Violation::RunStillActive { run_id: run_id.clone() })
            }
            (Phase::Finished | Phase::Failed, Event::RunStarted(e)) if one_run => {
                Err(Violation::SecondRun { run_id: e.run_id.clone() })
            }
            (Phase::Fresh, _) if !starts && !fails => Err(Violation::FirstEvent { event: event_type }),
            (Phase::Finished, _) if !starts && (!fails || one_run) => {
                Err(Violation::AfterRunFinished { event: event_type })
            }
            (Phase::Failed, _) if !starts => Err(Violation::AfterRunError { event: event_type }),
            (Phase::Fresh | Phase::Running(_) | Phase::Finished | Phase::Failed, _) => Ok(()),
        }
    }

    fn run_started(&mut self, event: &RunStarted) -> Result<(), Violation> {
        if let Some(run_id) = &self.only_run {
            self.check_ids(EventType::RunStarted, &event.thread_id, &event.run_id, run_id)?;
        } else if let Some(thread_id) = &self.thread_id
            && *thread_id != event.thread_id
        {
            return Err(Violation::ThreadChanged { thread_id: thread_id.clone() });
        }
        self.open.clear();
        self.owners = Owners::new();
        self.ended_subagents.clear();
        self.thread_id = Some(event.thread_id.clone());
        self.phase = Phase::Running(event.run_id.clone());
        if let Some(input) = &event.input {
            self.seed(&input.messages, Seed::History);
        }
        Ok(())
    }

    fn run_finished(&mut self, event: &RunFinished) -> Result<(), Violation> {
        if let Phase::Running(run_id) = &self.phase {
            self.check_ids(EventType::RunFinished, &event.thread_id, &event.run_id, run_id)?;
        }
        if !self.open.is_empty() {
            return Err(Violation::StillOpen {
                spans: self.open.iter().map(|open| open.span.clone()).collect(),
            });
        }
        if let Some(Outcome::Interrupt { interrupts }) = &event.outcome {
            let mut seen = BTreeSet::new();
            if interrupts.is_empty() {
                return Err(Violation::NoInterrupt);
            }
            if let Some(twice) = interrupts.iter().find(|interrupt| !seen.insert(&interrupt.id)) {
                return Err(Violation::DuplicateInterrupt { interrupt_id: twice.id.clone() });
            }
        }
        self.end(Phase::Finished);
        Ok(())
    }

    fn check_ids(
        &self,
        event: EventType,
        thread_id: &ThreadId,
        run_id: &RunId,
        due: &RunId,
    ) -> Result<(), Violation> {
        let due_thread = self.thread_id.as_ref().unwrap_or(thread_id);
        if due_thread == thread_id && due == run_id {
            return Ok(());
        }
        Err(Violation::RunIds { event, thread_id: due_thread.clone(), run_id: due.clone() })
    }

    fn end(&mut self, phase: Phase) {
        self.phase = phase;
        self.open.clear();
    }
}
