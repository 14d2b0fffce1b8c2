//! Execution control, clean-up and MCP notices.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{Notes, Raw, Read, any, boolean, finish, integer, number, read_members, text};

/// Execution control of the kernel: what a paused, resumed or terminated execution does.
///
/// Its execution id is the kernel's own, not the one that AG-UI clients know.
///
/// Source: iac-code 0.16, `metadata.iac_code.executionControl` and `GET /iac-code/execution/state`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ExecutionControl<'a> {
    /// The object as it arrived.
    pub raw: Raw<'a>,
    /// The kernel's execution id.
    pub execution_id: Option<Cow<'a, str>>,
    /// Task of the execution.
    pub task_id: Option<Cow<'a, str>>,
    /// Context of the execution.
    pub context_id: Option<Cow<'a, str>>,
    /// `running`, `pausing`, `paused`, `resuming`, `terminating`, `terminated` and the like.
    pub phase: Option<Cow<'a, str>>,
    /// `working`, `input-required`, `completed`, `failed` or `canceled`.
    pub execution_status: Option<Cow<'a, str>>,
    /// Number of the state, growing.
    pub revision: Option<u64>,
    /// Last connection epoch; −1 before the first, so it is kept as a number with sign.
    pub connection_epoch: Option<f64>,
    /// Whether a live stream can still be joined.
    pub stream_available: Option<bool>,
    /// Id of the active pause.
    pub pause_id: Option<Cow<'a, str>>,
    /// Why it was terminated.
    pub termination_reason: Option<Cow<'a, str>>,
}

impl<'a> ExecutionControl<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self { raw: Raw::new(raw), ..Self::default() };
        let is_object = read_members!(raw, notes, "executionControl", {
            "executionId" => it.execution_id, text;
            "taskId" => it.task_id, text;
            "contextId" => it.context_id, text;
            "phase" => it.phase, text;
            "executionStatus" => it.execution_status, text;
            "revision" => it.revision, integer;
            "connectionEpoch" => it.connection_epoch, number;
            "streamAvailable" => it.stream_available, boolean;
            "pauseId" => it.pause_id, text;
            "terminationReason" => it.termination_reason, text;
        });
        finish(it, raw, is_object)
    }
}

/// Result of a turn that was asked to clean up only.
///
/// Source: iac-code 0.16, `metadata.iac_code.cleanupOnly`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CleanupOnly<'a> {
    /// Whether the caller asked for it.
    pub requested: Option<bool>,
    /// `completed`, `unavailable` and the like.
    pub status: Option<Cow<'a, str>>,
    /// How many resources it is about.
    pub resource_count: Option<u64>,
    /// The resources, unread.
    pub resources: Option<Raw<'a>>,
}

impl<'a> CleanupOnly<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "cleanupOnly", {
            "requested" => it.requested, boolean;
            "status" => it.status, text;
            "resourceCount" => it.resource_count, integer;
            "resources" => it.resources, any;
        });
        finish(it, raw, is_object)
    }
}

/// A warning about an MCP server.
///
/// Source: iac-code 0.16, `metadata.iac_code.mcpWarning`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct McpWarning<'a> {
    /// Name of the server.
    pub server_name: Option<Cow<'a, str>>,
    /// Machine code, for example `parse_error`.
    pub code: Option<Cow<'a, str>>,
    /// What happened.
    pub message: Option<Cow<'a, str>>,
    /// `fatal` and the like.
    pub severity: Option<Cow<'a, str>>,
    /// Which configuration it comes from.
    pub scope: Option<Cow<'a, str>>,
}

impl<'a> McpWarning<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "mcpWarning", {
            "serverName" => it.server_name, text;
            "code" => it.code, text;
            "message" => it.message, text;
            "severity" => it.severity, text;
            "scope" => it.scope, text;
        });
        finish(it, raw, is_object)
    }
}
