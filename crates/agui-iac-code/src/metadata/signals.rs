//! What became of questions and answers, and how a turn ended.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::InputKind;
use crate::answer::PermissionDecision;
use crate::json::{Notes, Read, WrongType, boolean, finish, integer, read_members, text};
use crate::wire_enum::wire_enum;

/// Member reader for `{"complete": true}`.
pub(super) fn complete(raw: &RawValue, notes: &mut Notes) -> Read<bool> {
    let mut complete = None;
    let is_object = read_members!(raw, notes, "assistantFinal", {
        "complete" => complete, boolean;
    });
    finish(complete.unwrap_or(false), raw, is_object)
}

/// Member reader for a decision; an unknown word is noted.
fn decision(raw: &RawValue, notes: &mut Notes) -> Read<PermissionDecision> {
    match text(raw, notes)? {
        Some(word) => PermissionDecision::from_name(&word).map(Some).ok_or(WrongType),
        None => Ok(None),
    }
}

/// Member reader for the kind of a question.
fn kind(raw: &RawValue, notes: &mut Notes) -> Read<InputKind> {
    Ok(text(raw, notes)?.map(|name| InputKind::from_name(&name)))
}

/// An answer arrived, and what the kernel made of it.
///
/// Source: iac-code 0.16, `metadata.iac_code.inputReceived` and `permissionRecovered`, pipeline event
/// `input_received`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputReceived<'a> {
    /// What sort of question it answers.
    pub kind: Option<InputKind>,
    /// Id of the question.
    pub input_id: Option<Cow<'a, str>>,
    /// Tool call of the question.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// What was decided about a permission.
    pub decision: Option<PermissionDecision>,
    /// The question was found again after a restart or an inactive wait.
    pub recovered: Option<bool>,
    /// The same answer came before; nothing was executed again.
    pub duplicate: Option<bool>,
    /// Which option a pipeline question was answered with, from 0.
    pub selected_index: Option<u64>,
    /// Id of the chosen option.
    pub selected_id: Option<Cow<'a, str>>,
    /// Value or name of the chosen option.
    pub selected_value: Option<Cow<'a, str>>,
}

impl<'a> InputReceived<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "inputReceived", {
            "kind" => it.kind, kind;
            "inputId" => it.input_id, text;
            "toolUseId" => it.tool_use_id, text;
            "decision" => it.decision, decision;
            "recovered" => it.recovered, boolean;
            "duplicate" => it.duplicate, boolean;
            "selectedIndex" => it.selected_index, integer;
            "selectedId" => it.selected_id, text;
            "selectedValue" => it.selected_value, text;
        });
        finish(it, raw, is_object)
    }
}

/// The kernel took an answer to a permission; also the data part of its direct reply.
///
/// [`decision`](Self::decision) can be `deny` although `allow_once` was sent.
///
/// Source: iac-code 0.16, `metadata.iac_code.permissionAck`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PermissionAck<'a> {
    /// Id of the permission.
    pub input_id: Option<Cow<'a, str>>,
    /// Tool call of the permission.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// What counts.
    pub decision: Option<PermissionDecision>,
    /// Whether the answer was taken.
    pub accepted: Option<bool>,
}

impl<'a> PermissionAck<'a> {
    /// Reads the data part of a reply; `None` unless it is an object of kind `permission_ack`.
    #[must_use]
    pub fn read_part(data: &'a RawValue) -> Option<Self> {
        let mut notes = Notes::default();
        let mut kind = None;
        let is_object = read_members!(data, &mut notes, "permissionAck", {
            "kind" => kind, text;
        });
        if !is_object || kind.as_deref() != Some("permission_ack") {
            return None;
        }
        Self::read_member(data, &mut notes).ok().flatten()
    }

    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "permissionAck", {
            "inputId" => it.input_id, text;
            "toolUseId" => it.tool_use_id, text;
            "decision" => it.decision, decision;
            "accepted" => it.accepted, boolean;
        });
        finish(it, raw, is_object)
    }
}

/// A permission is pending, or was decided without asking.
///
/// Source: iac-code 0.16, `metadata.iac_code.permission`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PermissionNotice<'a> {
    /// It was allowed by a rule.
    pub auto_approved: Option<bool>,
    /// It waits for an answer.
    pub pending: Option<bool>,
    /// Name of the tool.
    pub tool_name: Option<Cow<'a, str>>,
    /// Tool call.
    pub tool_use_id: Option<Cow<'a, str>>,
}

impl<'a> PermissionNotice<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "permission", {
            "autoApproved" => it.auto_approved, boolean;
            "pending" => it.pending, boolean;
            "toolName" => it.tool_name, text;
            "toolUseId" => it.tool_use_id, text;
        });
        finish(it, raw, is_object)
    }
}

/// A permission of a pipeline was decided, withdrawn or timed out.
///
/// Source: iac-code 0.16, pipeline event `permission_resolved`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PermissionResolved<'a> {
    /// Id of the question.
    pub input_id: Option<Cow<'a, str>>,
    /// The kernel's own id of the permission; often equal to the input id.
    pub permission_id: Option<Cow<'a, str>>,
    /// Tool call.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// What was decided.
    pub decision: Option<PermissionDecision>,
    /// It was withdrawn.
    pub canceled: Option<bool>,
    /// A rule decided.
    pub automatic: Option<bool>,
    /// Nobody answered in time.
    pub timed_out: Option<bool>,
}

impl<'a> PermissionResolved<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "permission_resolved", {
            "inputId" => it.input_id, text;
            "permissionId" => it.permission_id, text;
            "toolUseId" => it.tool_use_id, text;
            "decision" => it.decision, decision;
            "canceled" => it.canceled, boolean;
            "automatic" => it.automatic, boolean;
            "timedOut" => it.timed_out, boolean;
        });
        finish(it, raw, is_object)
    }
}

wire_enum! {
    /// State of a suspended wait.
    ///
    /// Source: iac-code 0.16, `metadata.iac_code.permissionWait.status`.
    pub enum PermissionWaitStatus {
        /// The wait is suspended.
        Suspended = "suspended",
        /// The wait is being suspended.
        Suspending = "suspending",
    }
}

/// The wait for a permission was given up for now.
///
/// Source: iac-code 0.16, `metadata.iac_code.permissionWait`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionWait {
    /// State of the wait.
    pub status: Option<PermissionWaitStatus>,
    /// Whether an answer can still resume it.
    pub resumable: Option<bool>,
}

impl PermissionWait {
    pub(crate) fn read_member(raw: &RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let mut status = None;
        let is_object = read_members!(raw, notes, "permissionWait", {
            "status" => status, text;
            "resumable" => it.resumable, boolean;
        });
        it.status = status.map(|name| PermissionWaitStatus::from_name(&name));
        finish(it, raw, is_object)
    }
}

/// The cloud identity of the answer does not fit; the permission is still open.
///
/// Source: iac-code 0.16, `metadata.iac_code.permissionIdentityError`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PermissionIdentityError<'a> {
    /// Machine code.
    pub code: Option<Cow<'a, str>>,
    /// Whether the same answer may work later.
    pub retryable: Option<bool>,
    /// Id of the permission.
    pub input_id: Option<Cow<'a, str>>,
    /// Tool call.
    pub tool_use_id: Option<Cow<'a, str>>,
}

impl<'a> PermissionIdentityError<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "permissionIdentityError", {
            "code" => it.code, text;
            "retryable" => it.retryable, boolean;
            "inputId" => it.input_id, text;
            "toolUseId" => it.tool_use_id, text;
        });
        finish(it, raw, is_object)
    }
}

/// The turn ended with an error whose text stays in the kernel's log.
///
/// Source: iac-code 0.16, `metadata.iac_code.error`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ErrorSignal<'a> {
    /// Whether the turn can be tried again.
    pub retryable: Option<bool>,
    /// Number of the log entry.
    pub error_id: Option<Cow<'a, str>>,
}

impl<'a> ErrorSignal<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "error", {
            "retryable" => it.retryable, boolean;
            "errorId" => it.error_id, text;
        });
        finish(it, raw, is_object)
    }
}

/// The end of the execution waits for a backup that fails.
///
/// Source: iac-code 0.16, `metadata.iac_code.backupBlocked` and pipeline event `backup_blocked`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct BackupBlocked<'a> {
    /// What the backup was for.
    pub reason: Option<Cow<'a, str>>,
    /// The end state that is held back.
    pub blocked_terminal_state: Option<Cow<'a, str>>,
    /// The kernel's text; it may hold paths and is not for clients.
    pub error: Option<Cow<'a, str>>,
    /// Whether trying again can help.
    pub recoverable: Option<bool>,
}

impl<'a> BackupBlocked<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "backupBlocked", {
            "reason" => it.reason, text;
            "blockedTerminalState" => it.blocked_terminal_state, text;
            "error" => it.error, text;
            "recoverable" => it.recoverable, boolean;
        });
        finish(it, raw, is_object)
    }
}
