//! Typed, borrowed reading of `metadata.iac_code` in what the kernel sends.
//!
//! Reading never fails: nulls count as absent, integral floats as integers, unknown members are
//! skipped, and a known member of the wrong type is treated as absent and left as a
//! [`Note`](crate::Note).

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{Notes, Raw, Read, any, each_member, list, read_members, text};

mod artifact;
mod control;
mod input;
mod pipeline;
mod refs;
mod signals;
mod tool;

pub use artifact::ArtifactRef;
pub use control::{CleanupOnly, ExecutionControl, McpWarning};
pub use input::{Input, InputKind, InputOption, PublicMembers, ResourceSelector};
pub(crate) use pipeline::read_envelopes;
pub use pipeline::{PipelineBatch, PipelineEnvelope, PipelinePayload, PipelineStatus, Scope, Visibility};
pub use refs::{CandidateRef, StepRef};
pub use signals::{
    BackupBlocked, ErrorSignal, InputReceived, PermissionAck, PermissionIdentityError, PermissionNotice,
    PermissionResolved, PermissionWait, PermissionWaitStatus,
};
pub use tool::{McpProgress, Thinking, ToolStatus, ToolUpdate, Usage};

/// Everything that one update or Task says in `metadata.iac_code`.
///
/// ```
/// use agui_iac_code::metadata::{IacMetadata, InputKind};
/// use serde_json::value::RawValue;
///
/// let metadata: &RawValue = serde_json::from_str(
///     r#"{"iac_code":{"iacCodeSessionId":"S1","thinking":{"type":"raw_thinking","text":"compare zones"},
///         "input":{"kind":"permission","inputId":"permission-0a","toolUseId":"call_1"}}}"#,
/// )?;
/// let read = IacMetadata::read(metadata);
/// assert_eq!(read.session_id.as_deref(), Some("S1"));
/// assert_eq!(read.thinking.and_then(|thinking| thinking.text).as_deref(), Some("compare zones"));
/// assert_eq!(read.input.map(|input| input.kind), Some(InputKind::Permission));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Source: iac-code 0.16, `metadata.iac_code` of updates and Tasks.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct IacMetadata<'a> {
    /// The iac-code session (`iacCodeSessionId`).
    pub session_id: Option<Cow<'a, str>>,
    /// A question to the user (`input`).
    pub input: Option<Box<Input<'a>>>,
    /// A resource selection (`inputRequired`); in pipeline mode the same one is under `input` too.
    pub input_required: Option<Box<Input<'a>>>,
    /// Open permissions of a Task (`pendingPermissions`), those of candidates among them.
    pub pending_permissions: Vec<Input<'a>>,
    /// A piece of reasoning.
    pub thinking: Option<Thinking<'a>>,
    /// One step in the life of a tool call.
    pub tool: Option<Box<ToolUpdate<'a>>>,
    /// Token counts of one model call.
    pub usage: Option<Box<Usage<'a>>>,
    /// `assistantFinal.complete`: the update repeats the whole final text.
    pub assistant_final: Option<bool>,
    /// One pipeline event.
    pub pipeline: Option<Box<PipelineEnvelope<'a>>>,
    /// Several pipeline events of one send.
    pub pipeline_batch: Option<PipelineBatch<'a>>,
    /// What was decided about a permission, or that one is pending.
    pub permission: Option<Box<PermissionNotice<'a>>>,
    /// An answer arrived.
    pub input_received: Option<Box<InputReceived<'a>>>,
    /// An answer to a live permission was taken.
    pub permission_ack: Option<Box<PermissionAck<'a>>>,
    /// A permission of before a restart was found again (`permissionRecovered`).
    pub permission_recovered: Option<Box<InputReceived<'a>>>,
    /// The wait for a permission is suspended.
    pub permission_wait: Option<PermissionWait>,
    /// The answer was not applied for a reason of cloud identity; the permission is still open.
    pub permission_identity_error: Option<Box<PermissionIdentityError<'a>>>,
    /// The turn ended with an error.
    pub error: Option<Box<ErrorSignal<'a>>>,
    /// The end waits for a backup that fails.
    pub backup_blocked: Option<Box<BackupBlocked<'a>>>,
    /// Result of a turn that only cleaned up.
    pub cleanup_only: Option<Box<CleanupOnly<'a>>>,
    /// One warning about an MCP server.
    pub mcp_warning: Option<Box<McpWarning<'a>>>,
    /// State of the MCP servers, unread.
    pub mcp_status: Option<Raw<'a>>,
    /// Execution control of a Task.
    pub execution_control: Option<Box<ExecutionControl<'a>>>,
    /// Known members that were skipped because of their type.
    pub notes: Notes,
}

impl<'a> IacMetadata<'a> {
    /// Reads the `metadata` object of an update, artifact, message or Task.
    ///
    /// Metadata without `iac_code`, or of another shape, gives an empty value.
    #[must_use]
    pub fn read(metadata: &'a RawValue) -> Self {
        let mut inner = None;
        let mut read = Self::default();
        if !each_member(metadata, |member, value| {
            if member == "iac_code" {
                inner = Some(value);
            }
        }) && metadata.get() != "null"
        {
            read.notes.add("message", "metadata");
        }
        inner.map_or(read, Self::read_iac_code)
    }

    /// Reads the value of `iac_code` itself.
    #[must_use]
    pub fn read_iac_code(iac_code: &'a RawValue) -> Self {
        let mut it = Self::default();
        let mut notes = Notes::default();
        let mut pending = None;
        let is_object = read_members!(iac_code, &mut notes, "iac_code", {
            "iacCodeSessionId" => it.session_id, text;
            "input" => it.input, boxed(Input::read_member);
            "inputRequired" => it.input_required, boxed(Input::read_member);
            "pendingPermissions" => pending, pending_permissions;
            "thinking" => it.thinking, Thinking::read_member;
            "tool" => it.tool, boxed(ToolUpdate::read_member);
            "usage" => it.usage, boxed(Usage::read_member);
            "assistantFinal" => it.assistant_final, signals::complete;
            "pipeline" => it.pipeline, boxed(PipelineEnvelope::read_member);
            "pipelineBatch" => it.pipeline_batch, PipelineBatch::read_member;
            "permission" => it.permission, boxed(PermissionNotice::read_member);
            "inputReceived" => it.input_received, boxed(InputReceived::read_member);
            "permissionAck" => it.permission_ack, boxed(PermissionAck::read_member);
            "permissionRecovered" => it.permission_recovered, boxed(InputReceived::read_member);
            "permissionWait" => it.permission_wait, PermissionWait::read_member;
            "permissionIdentityError" => it.permission_identity_error,
                boxed(PermissionIdentityError::read_member);
            "error" => it.error, boxed(ErrorSignal::read_member);
            "backupBlocked" => it.backup_blocked, boxed(BackupBlocked::read_member);
            "cleanupOnly" => it.cleanup_only, boxed(CleanupOnly::read_member);
            "mcpWarning" => it.mcp_warning, boxed(McpWarning::read_member);
            "mcpStatus" => it.mcp_status, any;
            "executionControl" => it.execution_control, boxed(ExecutionControl::read_member);
        });
        if !is_object && iac_code.get() != "null" {
            notes.add("metadata", "iac_code");
        }
        it.pending_permissions = pending.unwrap_or_default();
        it.notes = notes;
        it
    }

    /// The pipeline events of this update in sending order: those of the batch, then the single one.
    pub fn envelopes(&self) -> impl Iterator<Item = &PipelineEnvelope<'a>> {
        self.pipeline_batch.iter().flat_map(|batch| batch.events.iter()).chain(self.pipeline.as_deref())
    }

    /// The questions that wait for an answer, each id once: `input`, `inputRequired`, then
    /// `pendingPermissions`.
    ///
    /// A question that stands in a pipeline event only is found through [`envelopes`](Self::envelopes).
    #[must_use]
    pub fn open_inputs(&self) -> Vec<&Input<'a>> {
        let all = self.input.as_deref().into_iter().chain(self.input_required.as_deref());
        let mut open: Vec<&Input<'a>> = Vec::new();
        for input in all.chain(&self.pending_permissions).filter(|input| input.is_open()) {
            let seen = open.iter().any(|known| known.interrupt_id() == input.interrupt_id());
            if !seen {
                open.push(input);
            }
        }
        open
    }
}

fn pending_permissions<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Vec<Input<'a>>> {
    list(raw, notes, "pendingPermissions", Input::read_member)
}

/// Makes a member reader put its value in a box: rare or large members stay out of line.
fn boxed<'a, T>(
    read: impl Fn(&'a RawValue, &mut Notes) -> Read<T>,
) -> impl Fn(&'a RawValue, &mut Notes) -> Read<Box<T>> {
    move |raw, notes| Ok(read(raw, notes)?.map(Box::new))
}

#[cfg(test)]
mod tests;
