//! The last events of a run.

use std::collections::BTreeSet;

use super::{AGENT_ERROR, Remedy};
use crate::{
    Event, OpenSpan, Outcome, ReasoningEnd, ReasoningMessageEnd, RunError, Span, StepFinished, SubagentError,
    SubagentFinished, SubagentOutcome, SubagentRunId, TextMessageEnd, ToolCallEnd,
};

/// How a run ends, as far as open subagents are concerned.
enum Ending<'a> {
    Done,
    Waiting,
    Cancelled,
    Failed(&'a RunError),
}

impl<'a> Ending<'a> {
    const fn of(last: &'a Event) -> Self {
        match last {
            Event::RunError(error) => Self::Failed(error),
            Event::RunFinished(finished) => match &finished.outcome {
                Some(Outcome::Interrupt { .. }) => Self::Waiting,
                Some(Outcome::Cancelled) => Self::Cancelled,
                Some(Outcome::Success { .. }) | None => Self::Done,
            },
            _ => Self::Done,
        }
    }
}

/// The event that closes `open` before the terminal event `last`.
pub(super) fn end_of(open: OpenSpan, last: &Event) -> Event {
    let OpenSpan { span, owner } = open;
    match span {
        Span::Step(name) => tagged(StepFinished::new(String::from(name)), owner),
        Span::TextMessage(id) => tagged(TextMessageEnd::new(id), owner),
        Span::ReasoningMessage(id) => tagged(ReasoningMessageEnd::new(id), owner),
        Span::ReasoningSpan(id) => tagged(ReasoningEnd::new(id), owner),
        Span::ToolCall(id) => tagged(ToolCallEnd::new(id), owner),
        Span::Subagent(id) => end_of_subagent(id, last),
    }
}

fn tagged(event: impl Into<Event>, owner: Option<SubagentRunId>) -> Event {
    let mut event = event.into();
    event.set_owner(owner);
    event
}

fn end_of_subagent(id: SubagentRunId, last: &Event) -> Event {
    match Ending::of(last) {
        Ending::Done => SubagentFinished::new(id).into(),
        Ending::Waiting => {
            SubagentFinished::new(id).with_outcome(SubagentOutcome::Suspended { interrupt_ids: None }).into()
        }
        Ending::Cancelled => SubagentError::new(id, "The run was cancelled.").with_code("CANCELLED").into(),
        Ending::Failed(error) => {
            let mut failed = SubagentError::new(id, error.message.as_str());
            failed.code.clone_from(&error.code);
            failed.into()
        }
    }
}

/// Keeps the first interrupt of each id.
pub(super) fn without_repeated_interrupts(event: &mut Event) -> Remedy {
    let Event::RunFinished(finished) = event else { return Remedy::Drop };
    let Some(Outcome::Interrupt { interrupts }) = &mut finished.outcome else { return Remedy::Drop };
    let mut seen = BTreeSet::new();
    interrupts.retain(|interrupt| seen.insert(interrupt.id.clone()));
    Remedy::Changed
}

/// A run that waits for nothing has not done its work, so it must not read as a success.
pub(super) fn nothing_asked(event: &Event) -> Event {
    let mut error = RunError::new("The agent waits for an answer but asked nothing.").with_code(AGENT_ERROR);
    if let Event::RunFinished(finished) = event {
        error.base.clone_from(&finished.base);
        error.usage.clone_from(&finished.usage);
    }
    error.into()
}
