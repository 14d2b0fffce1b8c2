//! What a mapper has learnt from the kernel: the basis of how a run ends.

use a2a_wire::TaskState;
use agui_core::{Interrupt, InterruptId, Json};
use agui_iac_code::PermissionDecision;
use agui_iac_code::metadata::PermissionWait;

use crate::config::Dialect;
use crate::interrupt::{self, OpenInputKind};
use crate::texts::Texts;

/// Everything that the decision how to end a run needs.
///
/// `identity_error`, `failure`, `backup_blocked` and `permission_wait` belong to the state they came with:
/// they are forgotten when the task works again.
///
/// Example: see [`EventMapper`](crate::EventMapper).
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Observed {
    /// Whose rules say what a state means.
    pub dialect: Dialect,
    /// The A2A task.
    pub task_id: Identity,
    /// The A2A context.
    pub context_id: Identity,
    /// The iac-code session.
    pub session_id: Identity,
    /// State of the last update or Task.
    pub last_state: Option<TaskState>,
    /// The questions that wait for an answer, oldest first.
    pub open_inputs: Vec<OpenInput>,
    /// Questions that changed while they were open, oldest first; at most [`Observed::MAX_RECEIPTS`].
    pub replaced: Vec<ReplacedInput>,
    /// What the kernel said about answers, oldest first; at most [`Observed::MAX_RECEIPTS`].
    pub receipts: Vec<Receipt>,
    /// An answer was not applied for a reason of cloud identity; its question is open again.
    pub identity_error: Option<IdentityError>,
    /// The turn ended with an error.
    pub failure: Option<Failure>,
    /// The end of the execution waits for a backup that fails.
    pub backup_blocked: Option<BackupBlock>,
    /// The wait for a permission is suspended.
    pub permission_wait: Option<PermissionWait>,
    /// The agent answered with a message instead of a task: the run is complete.
    pub direct_message: bool,
    /// The pipeline ended, and how.
    pub pipeline_end: Option<PipelineEnd>,
    /// Pipeline events after this sequence are missing: read the pipeline state after it and hand it to
    /// [`EventMapper::handle_recovery`](crate::EventMapper::handle_recovery) before the next update.
    pub pipeline_gap: Option<u64>,
    /// Members of the kernel's metadata that were skipped because of their type.
    pub skipped_members: usize,
}

impl Observed {
    /// Most receipts that are kept; the oldest go first.
    pub const MAX_RECEIPTS: usize = 256;

    /// The newest receipt for a question, by the kernel's id of it.
    #[must_use]
    pub fn receipt(&self, input_id: &str) -> Option<&Receipt> {
        self.receipts.iter().rev().find(|receipt| receipt.input_id.as_deref() == Some(input_id))
    }

    /// Whether an id of task, context or session is another one than before.
    #[must_use]
    pub const fn identity_changed(&self) -> bool {
        self.task_id.changed() || self.context_id.changed() || self.session_id.changed()
    }

    pub(crate) fn add_replaced(&mut self, replaced: ReplacedInput) {
        if self.replaced.len() >= Self::MAX_RECEIPTS {
            self.replaced.remove(0);
        }
        self.replaced.push(replaced);
    }

    pub(crate) fn add_receipt(&mut self, receipt: Receipt) {
        if self.receipts.len() >= Self::MAX_RECEIPTS {
            self.receipts.remove(0);
        }
        self.receipts.push(receipt);
    }
}

/// An id that the kernel tells once and must not change.
///
/// Example: see [`EventMapper`](crate::EventMapper).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The id, as first told or as known from before the run.
    pub value: Option<Box<str>>,
    /// A different one that came later.
    pub conflicting: Option<Box<str>>,
}

impl Identity {
    pub(crate) fn known(value: Option<Box<str>>) -> Self {
        Self { value: value.filter(|value| !value.is_empty()), conflicting: None }
    }

    /// Compares an id with the known one, and tells whether it is the same.
    pub(crate) fn observe(&mut self, id: &str) -> bool {
        match &self.value {
            _ if id.is_empty() => true,
            Some(known) if **known == *id => true,
            Some(_) => {
                self.conflicting = Some(id.into());
                false
            }
            None => {
                self.value = Some(id.into());
                true
            }
        }
    }

    /// The id.
    #[must_use]
    pub fn get(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// Whether a different id came later.
    #[must_use]
    pub const fn changed(&self) -> bool {
        self.conflicting.is_some()
    }
}

/// A question that waits for an answer.
///
/// Example: see [`answers::resolve`](crate::answers::resolve).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenInput {
    /// The kernel's id of the question, or one made from what else names it.
    ///
    /// It differs from the interrupt's id only after the question changed while it was open.
    pub input_id: Box<str>,
    /// What sort of question it is.
    pub kind: OpenInputKind,
    /// The kernel's id of the tool call that asks; the interrupt has the id that the call has on the stream.
    pub tool_use_id: Option<Box<str>>,
    /// Whether the answer goes beside the stream, by a unary call.
    pub sideband: bool,
    /// The members that may be stored, with task, context and input id filled in; see
    /// [`Input::PUBLIC_MEMBERS`](agui_iac_code::metadata::Input::PUBLIC_MEMBERS).
    pub value: Json,
    /// What the client gets, without `expiresAt`.
    pub interrupt: Interrupt,
}

impl OpenInput {
    /// Builds a question again from what was stored of it: the interrupt's id and the value.
    ///
    /// `None` if the value is no object.
    #[must_use]
    pub fn restore(interrupt_id: &str, value: Json, sideband: Sideband, texts: &Texts) -> Option<Self> {
        interrupt::restore(interrupt_id, value, sideband, texts)
    }
}

/// The way an answer takes to the kernel.
///
/// Example: see [`answers::resolve`](crate::answers::resolve).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sideband {
    /// The task waits; the answer continues its stream.
    No,
    /// The task goes on meanwhile; the answer is a unary call.
    Yes,
}

/// A question that was asked again with other arguments under the same id.
///
/// ```
/// use a2a_wire::StreamItem;
/// use agui_core::UnixMillis;
/// use agui_mapper::{EventMapper, MapperConfig};
///
/// let mut mapper = EventMapper::new(MapperConfig::new("thread", "run", "execution", "invocation", "C1"));
/// for target in ["/tmp/a", "/etc"] {
///     let asked = format!(
///         r#"{{"result":{{"statusUpdate":{{"taskId":"T1","contextId":"C1",
///             "status":{{"state":"TASK_STATE_INPUT_REQUIRED"}},"metadata":{{"iac_code":{{"input":{{
///             "kind":"permission","inputId":"permission-0a","toolUseId":"call_1",
///             "target":"{target}"}}}}}}}}}}}}"#
///     );
///     mapper.handle_item(UnixMillis::new(1), &StreamItem::decode(asked.as_bytes())?);
/// }
/// // Who agreed to the first one has not agreed to the second.
/// let replaced = &mapper.observed().replaced[0];
/// assert_eq!(replaced.old.as_str(), "permission-0a");
/// assert_ne!(replaced.new, replaced.old);
/// # Ok::<(), a2a_wire::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplacedInput {
    /// Id of the interrupt that is void; an answer to it must be refused.
    pub old: InterruptId,
    /// Id of the interrupt that stands for the question now.
    pub new: InterruptId,
}

/// What the kernel said about an answer.
///
/// Source: iac-code 0.16, `metadata.iac_code.inputReceived`, `permissionAck` and `permissionRecovered`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// What kind of notice it is.
    pub notice: Notice,
    /// The kernel's id of the question.
    pub input_id: Option<Box<str>>,
    /// Tool call of the question.
    pub tool_use_id: Option<Box<str>>,
    /// What counts; it can be `Deny` although `AllowOnce` was sent.
    pub decision: Option<PermissionDecision>,
    /// The same answer was applied before; nothing was executed again.
    pub duplicate: bool,
    /// The question was found again after a restart.
    pub recovered: bool,
}

impl Receipt {
    pub(crate) fn new(notice: Notice, input_id: Option<&str>, tool_use_id: Option<&str>) -> Self {
        Self {
            notice,
            input_id: input_id.map(Into::into),
            tool_use_id: tool_use_id.map(Into::into),
            decision: None,
            duplicate: false,
            recovered: false,
        }
    }
}

/// Kinds of notices about answers.
///
/// Source: iac-code 0.16, members of `metadata.iac_code` and pipeline events of these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The answer arrived (`inputReceived`, `input_received`).
    Received,
    /// The answer was taken (`permissionAck` and the reply to a unary answer).
    Accepted,
    /// The answer was not taken.
    Refused,
    /// The question was found again after a restart (`permissionRecovered`).
    Recovered,
    /// A pipeline permission was decided, withdrawn or timed out (`permission_resolved`).
    Resolved,
}

/// An answer that was not applied for a reason of cloud identity.
///
/// Source: iac-code 0.16, `metadata.iac_code.permissionIdentityError`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdentityError {
    /// Machine code.
    pub code: Option<Box<str>>,
    /// Whether the same answer may work later.
    pub retryable: Option<bool>,
    /// The kernel's id of the question.
    pub input_id: Option<Box<str>>,
}

/// The turn ended with an error; its text is not for clients.
///
/// Source: iac-code 0.16, `metadata.iac_code.error`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// Whether the turn can be tried again.
    pub retryable: Option<bool>,
    /// Number of the kernel's log entry.
    pub error_id: Option<Box<str>>,
}

/// The end of the execution waits for a backup that fails; its text is not for clients.
///
/// Source: iac-code 0.16, `metadata.iac_code.backupBlocked` and pipeline event `backup_blocked`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupBlock {
    /// What the backup was for.
    pub reason: Option<Box<str>>,
    /// Whether trying again can help.
    pub recoverable: Option<bool>,
}

/// How a pipeline ended.
///
/// Source: iac-code 0.16, pipeline events `pipeline_completed`, `pipeline_failed`, `pipeline_canceled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PipelineEnd {
    /// It ended well.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Canceled,
}
