//! The order of a stream, judged past its first fault. Pure.
//!
//! The verifier of the protocol stops at a violation. Here each one is noted, the stream is put back on its
//! feet in the way that leaves the fewest consequences, and judged on.

use std::collections::BTreeMap;

use agui_core::{
    ChunkExpander, Event, MessageId, OpenSpan, Outcome, ReasoningEnd, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, RunError, RunId, RunStarted, Span, StepFinished, SubagentError,
    SubagentRunId, TextMessageEnd, TextMessageStart, ThreadId, ToolCallEnd, ToolCallStart, Verifier,
    Violation, decode_event,
};
use serde_json::Value;

use super::finding::Finding;
use super::rules::Rule;

/// Most remedies of one event; each takes a fault away.
const MAX_TRIES: usize = 16;

/// Judges the order of events, one after the other.
pub(super) struct Order {
    expander: ChunkExpander,
    verifier: Verifier,
    /// Ids to put in for a run that was never started.
    ids: Option<(ThreadId, RunId)>,
    run: Run,
    /// Numbers of the events that opened what is open.
    opened: BTreeMap<String, usize>,
    findings: Vec<Finding>,
}

/// What is known of the run that is open.
#[derive(Default)]
struct Run {
    /// It was started here, not by the stream, or without its ids: these are not compared.
    is_assumed: bool,
    /// Opened here, because something continued it: closed here as well.
    assumed: Vec<Span>,
    /// Spans whose next end is a consequence of a fault that was told.
    excused: Vec<Span>,
}

/// What to do with an event after a violation.
enum Remedy {
    /// Something was mended; check it again.
    Retry,
    /// It has no effect.
    Drop,
}

impl Order {
    /// For a stream whose first ids are these.
    pub(super) fn new(ids: Option<(ThreadId, RunId)>) -> Self {
        Self {
            expander: ChunkExpander::new(),
            verifier: Verifier::new(),
            ids,
            run: Run::default(),
            opened: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    /// Takes the event with the number `at`; what took effect is appended to `out`, and the faults are given.
    pub(super) fn push(&mut self, event: Event, at: usize, out: &mut Vec<Event>) -> Vec<Finding> {
        let mut whole = Vec::new();
        let mut event = event;
        for tries in 0..MAX_TRIES {
            let Err(violation) = self.expander.push(event.clone(), &mut whole) else { break };
            let mended = mended_chunk(&event, &violation, at);
            // What was mended once is not told again.
            if tries == 0 {
                self.found(&violation);
            }
            match mended {
                Some(mended) => event = mended,
                None => break,
            }
        }
        for event in whole {
            self.settle(event, at, out);
        }
        std::mem::take(&mut self.findings)
    }

    /// The stream is over.
    pub(super) fn finish(&mut self) -> Option<Finding> {
        let violation = self.verifier.finish().err()?;
        Some(Finding::new(Rule::of_order(violation.rule()), violation.to_string()))
    }

    /// The ids of the run that was just started could not be read.
    pub(super) const fn assume_ids(&mut self) {
        self.run.is_assumed = true;
    }

    fn found(&mut self, violation: &Violation) {
        self.findings.push(Finding::new(Rule::of_order(violation.rule()), violation.to_string()));
    }

    fn settle(&mut self, mut event: Event, at: usize, out: &mut Vec<Event>) {
        if matches!(event, Event::RunFinished(_)) {
            self.close_assumed();
        }
        for _ in 0..MAX_TRIES {
            let Err(violation) = self.verifier.check(&event) else {
                self.applied(&event, at);
                out.push(event);
                return;
            };
            match self.remedy(&mut event, &violation, out) {
                Remedy::Retry => {}
                Remedy::Drop => return,
            }
        }
    }

    fn remedy(&mut self, event: &mut Event, violation: &Violation, out: &mut Vec<Event>) -> Remedy {
        match violation {
            Violation::FirstEvent { .. } => {
                self.found(violation);
                self.assume_run()
            }
            Violation::RunStillActive { run_id } => self.second_start(event, violation, run_id),
            Violation::NotOpen { span, .. } => self.not_open(event, violation, span, out),
            Violation::StillOpen { spans } => {
                for span in spans {
                    let opened = self.opened.get(&key(span)).map(|at| format!(", since event {at}"));
                    let message = format!("{span} is open at RUN_FINISHED{}", opened.unwrap_or_default());
                    self.findings.push(Finding::new(Rule::StillOpen, message));
                }
                self.close_all();
                Remedy::Retry
            }
            Violation::RunIds { thread_id, run_id, .. } => {
                if !self.run.is_assumed {
                    self.found(violation);
                }
                let Event::RunFinished(finished) = event else { return Remedy::Drop };
                (finished.thread_id, finished.run_id) = (thread_id.clone(), run_id.clone());
                Remedy::Retry
            }
            Violation::ThreadChanged { .. } => {
                self.found(violation);
                self.verifier = Verifier::new();
                Remedy::Retry
            }
            Violation::AlreadyOpen { span } | Violation::TooManyOpen { span } => {
                self.found(violation);
                self.run.excused.push(span.clone());
                Remedy::Drop
            }
            Violation::SubagentReused { subagent_run_id } => {
                self.found(violation);
                self.run.excused.push(Span::Subagent(subagent_run_id.clone()));
                Remedy::Drop
            }
            violation => {
                self.found(violation);
                mended(event, violation)
            }
        }
    }

    fn assume_run(&mut self) -> Remedy {
        let (thread_id, run_id) = self.ids.clone().unwrap_or_else(|| ("?".into(), "?".into()));
        let started = RunStarted::new(thread_id, run_id);
        if self.verifier.check(&started.into()).is_err() {
            return Remedy::Drop;
        }
        self.run = Run { is_assumed: true, ..Run::default() };
        Remedy::Retry
    }

    /// A start inside a run: the start that should have come first, the same run again, or the next run.
    fn second_start(&mut self, event: &Event, violation: &Violation, open: &RunId) -> Remedy {
        if self.run.is_assumed {
            self.run.is_assumed = false;
            return Remedy::Drop;
        }
        self.found(violation);
        let Event::RunStarted(started) = event else { return Remedy::Drop };
        if started.run_id == *open || self.verifier.check(&RunError::new("").into()).is_err() {
            return Remedy::Drop;
        }
        Remedy::Retry
    }

    /// What is continued is opened; what is closed is forgotten.
    fn not_open(
        &mut self,
        event: &Event,
        violation: &Violation,
        span: &Span,
        out: &mut Vec<Event>,
    ) -> Remedy {
        if let Some(index) = self.run.excused.iter().position(|excused| excused == span) {
            self.run.excused.remove(index);
            return Remedy::Drop;
        }
        self.found(violation);
        let owner = event.subagent_run_id().cloned();
        let Some(start) = continued(event).and_then(|()| start_of(span, owner)) else { return Remedy::Drop };
        if self.verifier.check(&start).is_err() {
            return Remedy::Drop;
        }
        out.push(start);
        self.run.assumed.push(span.clone());
        Remedy::Retry
    }

    fn close_assumed(&mut self) {
        for span in std::mem::take(&mut self.run.assumed) {
            let open = self.verifier.open().iter().find(|open| open.span == span).cloned();
            if let Some(end) = open.and_then(end_of) {
                // It is open, so it can be closed.
                let _ = self.verifier.check(&end);
            }
        }
    }

    fn close_all(&mut self) {
        while let Some(open) = self.verifier.open().last().cloned() {
            let Some(end) = end_of(open) else { return };
            if self.verifier.check(&end).is_err() {
                return;
            }
        }
    }

    fn applied(&mut self, event: &Event, at: usize) {
        if matches!(event, Event::RunStarted(_)) {
            self.run = Run::default();
            self.opened.clear();
        }
        for open in self.verifier.open() {
            self.opened.entry(key(&open.span)).or_insert(at);
        }
        let open = self.verifier.open();
        self.opened.retain(|known, _| open.iter().any(|open| key(&open.span) == *known));
    }
}

fn key(span: &Span) -> String {
    span.to_string()
}

/// Whether the event continues something, rather than to close it.
const fn continued(event: &Event) -> Option<()> {
    match event {
        Event::TextMessageContent(_) | Event::ReasoningMessageContent(_) | Event::ToolCallArgs(_) => Some(()),
        _ => None,
    }
}

fn start_of(span: &Span, owner: Option<SubagentRunId>) -> Option<Event> {
    Some(match span {
        Span::TextMessage(id) => {
            let mut start = TextMessageStart::new(id);
            start.subagent_run_id = owner;
            start.into()
        }
        Span::ReasoningMessage(id) => {
            let mut start = ReasoningMessageStart::new(id);
            start.subagent_run_id = owner;
            start.into()
        }
        Span::ToolCall(id) => {
            let mut start = ToolCallStart::new(id, "?");
            start.subagent_run_id = owner;
            start.into()
        }
        Span::ReasoningSpan(id) => ReasoningStart::new(id).into(),
        _ => return None,
    })
}

fn end_of(open: OpenSpan) -> Option<Event> {
    Some(match open.span {
        Span::Step(name) => {
            let mut end = StepFinished::new(&*name);
            end.subagent_run_id = open.owner;
            end.into()
        }
        Span::TextMessage(id) => TextMessageEnd::new(id).into(),
        Span::ReasoningMessage(id) => ReasoningMessageEnd::new(id).into(),
        Span::ReasoningSpan(id) => ReasoningEnd::new(id).into(),
        Span::ToolCall(id) => ToolCallEnd::new(id).into(),
        Span::Subagent(id) => SubagentError::new(id, "").into(),
        _ => return None,
    })
}

/// Takes the fault out of the event itself, if it lies there.
fn mended(event: &mut Event, violation: &Violation) -> Remedy {
    let changed = match (violation, &mut *event) {
        (Violation::StepOwner { owner, .. }, Event::StepFinished(e)) => {
            e.subagent_run_id.clone_from(owner);
            true
        }
        (Violation::OwnerMismatch { .. }, _) => match without(event, "subagentRunId") {
            Some(untagged) => {
                *event = untagged;
                true
            }
            None => false,
        },
        (Violation::ParentOwnerMismatch { .. }, Event::ToolCallStart(e)) => {
            e.parent_message_id.take().is_some()
        }
        (Violation::UnknownParentSubagent { .. }, Event::SubagentStarted(e)) => {
            e.parent_subagent_run_id.take().is_some()
        }
        (Violation::DuplicateInterrupt { .. }, Event::RunFinished(e)) => {
            if let Some(Outcome::Interrupt { interrupts }) = &mut e.outcome {
                let mut seen = std::collections::BTreeSet::new();
                interrupts.retain(|interrupt| seen.insert(interrupt.id.clone()));
            }
            true
        }
        (Violation::NoInterrupt, Event::RunFinished(e)) => e.outcome.take().is_some(),
        _ => false,
    };
    if changed { Remedy::Retry } else { Remedy::Drop }
}

/// A chunk that says what it should have said.
fn mended_chunk(event: &Event, violation: &Violation, at: usize) -> Option<Event> {
    match violation {
        Violation::ChunkConflict { member, .. } => without(event, member),
        Violation::ChunkIncomplete { .. } => {
            let mut event = event.clone();
            match &mut event {
                Event::TextMessageChunk(e) => drop(e.message_id.get_or_insert_with(|| assumed_id(at))),
                Event::ReasoningMessageChunk(e) => drop(e.message_id.get_or_insert_with(|| assumed_id(at))),
                Event::ToolCallChunk(e) => {
                    e.tool_call_id.get_or_insert_with(|| format!("?{at}").into());
                    e.tool_call_name.get_or_insert_with(|| "?".to_owned());
                }
                _ => return None,
            }
            Some(event)
        }
        _ => None,
    }
}

fn assumed_id(at: usize) -> MessageId {
    format!("?{at}").into()
}

/// The event without a member.
fn without(event: &Event, member: &str) -> Option<Event> {
    let mut value = serde_json::to_value(event).ok()?;
    value.as_object_mut().and_then(|members: &mut serde_json::Map<String, Value>| members.remove(member))?;
    match decode_event(value.to_string().as_bytes()) {
        Ok(agui_core::Decoded::Known(event)) => Some(event),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
