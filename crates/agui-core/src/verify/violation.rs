use std::fmt;

use super::{MAX_OPEN_SPANS, Rule, Span};
use crate::{EventType, InterruptId, MessageId, RunId, SubagentRunId, ThreadId, ToolCallId};

/// A broken rule, with the ids that tell where.
///
/// Example: see [`Verifier`](crate::Verifier).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// The stream begins with something else than a run.
    FirstEvent {
        /// The event.
        event: EventType,
    },
    /// A run starts while another one is open.
    RunStillActive {
        /// The open run.
        run_id: RunId,
    },
    /// An event follows `RUN_FINISHED`.
    AfterRunFinished {
        /// The event.
        event: EventType,
    },
    /// An event follows `RUN_ERROR`.
    AfterRunError {
        /// The event.
        event: EventType,
    },
    /// What is opened is open already.
    AlreadyOpen {
        /// The span.
        span: Span,
    },
    /// So much is open that nothing more is opened, see [`MAX_OPEN_SPANS`](crate::MAX_OPEN_SPANS).
    TooManyOpen {
        /// The span that was to be opened.
        span: Span,
    },
    /// What is continued or closed is not open.
    NotOpen {
        /// The event.
        event: EventType,
        /// The span it names.
        span: Span,
    },
    /// A step is closed by another agent than the one that opened it.
    StepOwner {
        /// Name of the step.
        step_name: Box<str>,
        /// The agent that opened it; `None` is the parent agent.
        owner: Option<SubagentRunId>,
        /// The agent that the event names.
        tag: Option<SubagentRunId>,
    },
    /// The run finishes while spans are open.
    StillOpen {
        /// The spans, in the order of opening.
        spans: Vec<Span>,
    },
    /// A subagent invocation starts under an id that was used in this run.
    SubagentReused {
        /// The id.
        subagent_run_id: SubagentRunId,
    },
    /// A subagent invocation names a parent that was never started.
    UnknownParentSubagent {
        /// The parent.
        parent: SubagentRunId,
    },
    /// An event names another subagent than the owner of what it is about.
    OwnerMismatch {
        /// The event.
        event: EventType,
        /// Id of the message, call or activity.
        id: Box<str>,
        /// The owner; `None` is the parent agent.
        owner: Option<SubagentRunId>,
        /// The subagent that the event names.
        tag: SubagentRunId,
    },
    /// A tool call has another owner than the message that carries it.
    ParentOwnerMismatch {
        /// The call.
        tool_call_id: ToolCallId,
        /// The message.
        parent_message_id: MessageId,
        /// The owner of the message; `None` is the parent agent.
        parent_owner: Option<SubagentRunId>,
        /// The owner of the call; `None` is the parent agent.
        owner: Option<SubagentRunId>,
    },
    /// The first chunk of an item lacks what opens it.
    ChunkIncomplete {
        /// The chunk event.
        event: EventType,
        /// The member that is missing.
        missing: &'static str,
    },
    /// A chunk contradicts the chunk that opened its item.
    ChunkConflict {
        /// The chunk event.
        event: EventType,
        /// Id of the item.
        id: Box<str>,
        /// The member with another value.
        member: &'static str,
    },
    /// A chunk without id and owner could continue several items.
    ChunkAmbiguous {
        /// The chunk event.
        event: EventType,
    },
    /// The ids of a run are not the ones that are due.
    RunIds {
        /// The event.
        event: EventType,
        /// The thread that is due.
        thread_id: ThreadId,
        /// The run that is due.
        run_id: RunId,
    },
    /// A later run is on another thread.
    ThreadChanged {
        /// The thread of the stream.
        thread_id: ThreadId,
    },
    /// Two interrupts share an id.
    DuplicateInterrupt {
        /// The id.
        interrupt_id: InterruptId,
    },
    /// An interrupt outcome without an interrupt.
    NoInterrupt,
    /// A second run in answer to one request.
    SecondRun {
        /// The run.
        run_id: RunId,
    },
    /// The stream ends without a terminal event.
    Unterminated {
        /// The open run, if one was started.
        run_id: Option<RunId>,
    },
}

impl Violation {
    /// The rule that is broken.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        match self {
            Self::FirstEvent { .. } => Rule::FirstEvent,
            Self::RunStillActive { .. } => Rule::RunStillActive,
            Self::AfterRunFinished { .. } => Rule::AfterRunFinished,
            Self::AfterRunError { .. } => Rule::AfterRunError,
            Self::AlreadyOpen { .. } => Rule::AlreadyOpen,
            Self::TooManyOpen { .. } => Rule::TooManyOpen,
            Self::NotOpen { .. } => Rule::NotOpen,
            Self::StepOwner { .. } => Rule::StepOwner,
            Self::StillOpen { .. } => Rule::StillOpen,
            Self::SubagentReused { .. } => Rule::SubagentReused,
            Self::UnknownParentSubagent { .. } => Rule::UnknownParentSubagent,
            Self::OwnerMismatch { .. } => Rule::OwnerMismatch,
            Self::ParentOwnerMismatch { .. } => Rule::ParentOwnerMismatch,
            Self::ChunkIncomplete { .. } => Rule::ChunkIncomplete,
            Self::ChunkConflict { .. } => Rule::ChunkConflict,
            Self::ChunkAmbiguous { .. } => Rule::ChunkAmbiguous,
            Self::RunIds { .. } => Rule::RunIds,
            Self::ThreadChanged { .. } => Rule::ThreadChanged,
            Self::DuplicateInterrupt { .. } => Rule::DuplicateInterrupt,
            Self::NoInterrupt => Rule::NoInterrupt,
            Self::SecondRun { .. } => Rule::SecondRun,
            Self::Unterminated { .. } => Rule::Unterminated,
        }
    }

    /// One English sentence with the ids; no content of the stream.
    #[must_use]
    pub fn describe(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstEvent { event } => write!(f, "{event} came before RUN_STARTED"),
            Self::RunStillActive { run_id } => write!(f, "RUN_STARTED came while run {run_id:?} was open"),
            Self::AfterRunFinished { event } => write!(f, "{event} came after RUN_FINISHED"),
            Self::AfterRunError { event } => write!(f, "{event} came after RUN_ERROR"),
            Self::AlreadyOpen { span } => write!(f, "{span} was opened while it was open"),
            Self::TooManyOpen { span } => {
                write!(f, "{span} was opened while {MAX_OPEN_SPANS} others were open")
            }
            Self::NotOpen { event, span } => write!(f, "{event} came while {span} was not open"),
            Self::StepOwner { step_name, owner, tag } => {
                write!(f, "step {step_name:?} of {} was finished by {}", Who(owner), Who(tag))
            }
            Self::StillOpen { spans } => {
                f.write_str("RUN_FINISHED came while these were open:")?;
                spans.iter().try_for_each(|span| write!(f, " {span};"))
            }
            Self::SubagentReused { subagent_run_id } => {
                write!(f, "subagent {subagent_run_id:?} was started a second time in one run")
            }
            Self::UnknownParentSubagent { parent } => {
                write!(f, "parent subagent {parent:?} was not started in this run")
            }
            Self::OwnerMismatch { event, id, owner, tag } => {
                write!(f, "{event} for {id:?} names subagent {tag:?}, but it belongs to {}", Who(owner))
            }
            Self::ParentOwnerMismatch { tool_call_id, parent_message_id, parent_owner, owner } => write!(
                f,
                "tool call {tool_call_id:?} of {} is under message {parent_message_id:?} of {}",
                Who(owner),
                Who(parent_owner)
            ),
            Self::ChunkIncomplete { event, missing } => write!(f, "the first {event} has no {missing}"),
            Self::ChunkConflict { event, id, member } => {
                write!(f, "{event} for {id:?} changes {member}")
            }
            Self::ChunkAmbiguous { event } => write!(f, "{event} could continue several open items"),
            Self::RunIds { event, thread_id, run_id } => {
                write!(f, "{event} does not carry thread {thread_id:?} and run {run_id:?}")
            }
            Self::ThreadChanged { thread_id } => {
                write!(f, "a run is not on thread {thread_id:?} of the stream")
            }
            Self::DuplicateInterrupt { interrupt_id } => {
                write!(f, "interrupt {interrupt_id:?} occurs twice in one outcome")
            }
            Self::NoInterrupt => f.write_str("an interrupt outcome holds no interrupt"),
            Self::SecondRun { run_id } => write!(f, "run {run_id:?} follows the run that was asked for"),
            Self::Unterminated { run_id: Some(run_id) } => {
                write!(f, "the stream ended while run {run_id:?} was open")
            }
            Self::Unterminated { run_id: None } => f.write_str("the stream ended without a run"),
        }
    }
}

impl std::error::Error for Violation {}

/// An owner in a sentence.
struct Who<'a>(&'a Option<SubagentRunId>);

impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => write!(f, "subagent {id:?}"),
            None => f.write_str("the parent agent"),
        }
    }
}
