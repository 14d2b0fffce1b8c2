//! What a mapper is told before its run begins.

use agui_core::{Message, RunId, ThreadId, ToolCallId};

use crate::observed::OpenInput;
use crate::position::ResumePoint;
use crate::texts::Texts;

/// Longest JSON text of a tool result in bytes (default of [`MapperConfig::max_result_bytes`]).
///
/// A result can't be split over several events, and some readers of event streams refuse lines above
/// 64 KiB, so a longer one is cut with a note of what is left out. The kernel keeps the whole of it.
///
/// Example: see [`MapperConfig`].
pub const MAX_RESULT_BYTES: usize = 60_000;

/// Longest JSON text of an artifact or of the parts of a message in a custom event, in bytes (default of
/// [`MapperConfig::max_artifact_bytes`]).
///
/// Contents that go beyond are left out with a note; whoever needs them asks the agent.
///
/// Example: see [`MapperConfig`].
pub const MAX_ARTIFACT_BYTES: usize = 256 * 1024;

/// Whose metadata the updates carry.
///
/// Example: see [`MapperConfig`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// The iac-code kernel: `metadata.iac_code` is read, artifacts are structured data only.
    #[default]
    IacCode,
    /// Any A2A agent: metadata is not read, the text of artifacts is its answer, and a task that waits asks.
    Plain,
}

/// Everything that a mapper knows of its run beforehand.
///
/// ```
/// use agui_mapper::{Dialect, MAX_ARTIFACT_BYTES, MAX_RESULT_BYTES, MapperConfig};
///
/// // An agent that is not iac-code, and whose context is not known yet.
/// let config = MapperConfig::new("thread", "run", "execution", "invocation", "")
///     .with_dialect(Dialect::Plain)
///     .with_max_result_bytes(MAX_RESULT_BYTES / 2)
///     .with_max_artifact_bytes(4 * MAX_ARTIFACT_BYTES);
/// # drop(config);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MapperConfig {
    /// Thread of the run.
    pub thread_id: ThreadId,
    /// The run.
    pub run_id: RunId,
    /// The run that this one came from, as the client says.
    pub parent_run_id: Option<RunId>,
    /// Execution that the run belongs to; the cancel extension takes it.
    pub execution_id: Box<str>,
    /// Identity of the requester for the execution.
    pub ros_invocation_id: Box<str>,
    /// A2A context of the thread; an update of another one is not mapped. Empty if the agent has yet to tell.
    pub context_id: Box<str>,
    /// A2A task, when the run resumes one; an update of another one is not mapped.
    pub task_id: Option<Box<str>>,
    /// The iac-code session, when the thread has one.
    pub session_id: Option<Box<str>>,
    /// Whose metadata is read.
    pub dialect: Dialect,
    /// Texts of interrupts that the kernel gives no text for.
    pub texts: Texts,
    /// Where the execution stopped, when the run resumes it.
    pub resume: Option<ResumePoint>,
    /// Questions that earlier runs of the execution left open.
    pub pending: Vec<OpenInput>,
    /// Ids of the questions of the execution that were answered; they are never raised again.
    pub answered: Vec<Box<str>>,
    /// Longest JSON text of a tool result in bytes.
    pub max_result_bytes: usize,
    /// Longest JSON text of an artifact in a custom event, in bytes ([`Dialect::Plain`] only).
    pub max_artifact_bytes: usize,
    /// Tool calls that the client knows, with whether their result is known too.
    pub(crate) known_calls: Vec<(ToolCallId, Known)>,
}

/// What the client knows of a tool call of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Call,
    Result,
}

impl MapperConfig {
    /// A first run of an execution, in English, without parent.
    #[must_use]
    pub fn new(
        thread_id: impl Into<ThreadId>,
        run_id: impl Into<RunId>,
        execution_id: impl Into<Box<str>>,
        ros_invocation_id: impl Into<Box<str>>,
        context_id: impl Into<Box<str>>,
    ) -> Self {
        Self {
            thread_id: thread_id.into(),
            run_id: run_id.into(),
            parent_run_id: None,
            execution_id: execution_id.into(),
            ros_invocation_id: ros_invocation_id.into(),
            context_id: context_id.into(),
            task_id: None,
            session_id: None,
            dialect: Dialect::default(),
            texts: Texts::default(),
            resume: None,
            pending: Vec::new(),
            answered: Vec::new(),
            max_result_bytes: MAX_RESULT_BYTES,
            max_artifact_bytes: MAX_ARTIFACT_BYTES,
            known_calls: Vec::new(),
        }
    }

    /// Sets the parent run, which `RUN_STARTED` repeats.
    #[must_use]
    pub fn with_parent_run_id(mut self, id: impl Into<RunId>) -> Self {
        self.parent_run_id = Some(id.into());
        self
    }

    /// Sets the A2A task that the run resumes.
    #[must_use]
    pub fn with_task_id(mut self, id: impl Into<Box<str>>) -> Self {
        self.task_id = Some(id.into());
        self
    }

    /// Sets the iac-code session of the thread.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<Box<str>>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets whose metadata is read.
    #[must_use]
    pub const fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Sets the default texts of interrupts.
    #[must_use]
    pub fn with_texts(mut self, texts: Texts) -> Self {
        self.texts = texts;
        self
    }

    /// Makes the run a resume that goes on at `position`.
    #[must_use]
    pub fn with_resume(mut self, position: ResumePoint) -> Self {
        self.resume = Some(position);
        self
    }

    /// Sets the questions that earlier runs left open.
    #[must_use]
    pub fn with_pending(mut self, pending: Vec<OpenInput>) -> Self {
        self.pending = pending;
        self
    }

    /// Sets the ids of the answered questions.
    #[must_use]
    pub fn with_answered<I: Into<Box<str>>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.answered = ids.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the longest JSON text of a tool result in bytes.
    #[must_use]
    pub const fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = bytes;
        self
    }

    /// Sets the longest JSON text of an artifact in a custom event, in bytes.
    #[must_use]
    pub const fn with_max_artifact_bytes(mut self, bytes: usize) -> Self {
        self.max_artifact_bytes = bytes;
        self
    }

    /// Notes the tool calls in the client's history, so that no call of this run gets the id of another.
    ///
    /// Model providers exist that count their calls from 0 in every answer.
    #[must_use]
    pub fn with_history(mut self, messages: &[Message]) -> Self {
        for message in messages {
            match message {
                Message::Assistant(message) => {
                    let calls = message.tool_calls.iter();
                    self.known_calls.extend(calls.map(|call| (call.id.clone(), Known::Call)));
                }
                Message::Tool(message) => {
                    self.known_calls.push((message.tool_call_id.clone(), Known::Result));
                }
                _ => {}
            }
        }
        self
    }
}
