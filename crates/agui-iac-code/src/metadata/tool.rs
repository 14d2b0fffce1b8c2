//! Tool calls, reasoning and token counts.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::ArtifactRef;
use crate::json::{Notes, Raw, Read, any, boolean, finish, integer, number, read_members, string, text};
use crate::wire_enum::wire_enum;

/// A piece of reasoning.
///
/// Source: iac-code 0.16, `metadata.iac_code.thinking` and pipeline event `thinking_delta`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Thinking<'a> {
    /// Sort of reasoning; only `raw_thinking` is known.
    pub kind: Option<Cow<'a, str>>,
    /// The text to append.
    pub text: Option<Cow<'a, str>>,
}

impl<'a> Thinking<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "thinking", {
            "type" => it.kind, text;
            "text" => it.text, text;
        });
        finish(it, raw, is_object)
    }
}

wire_enum! {
    /// Where a tool call stands.
    ///
    /// Source: iac-code 0.16, `metadata.iac_code.tool.status`.
    pub enum ToolStatus {
        /// The model began the call.
        Started = "started",
        /// More of the arguments was written; only the length is told.
        InputDelta = "input_delta",
        /// The arguments are complete.
        InputComplete = "input_complete",
        /// The tool reports how far it is.
        Progress = "progress",
        /// The tool ended well.
        Completed = "completed",
        /// The tool failed or was denied.
        Failed = "failed",
    }
}

/// One step in the life of a tool call, from a normal turn or from a pipeline.
///
/// Pipeline events are read into the same form: `tool_started` as
/// [`InputComplete`](ToolStatus::InputComplete), `tool_result` as
/// [`Completed`](ToolStatus::Completed) or [`Failed`](ToolStatus::Failed), `tool_progress` as
/// [`Progress`](ToolStatus::Progress).
///
/// Source: iac-code 0.16, `metadata.iac_code.tool`; pipeline events `tool_started`, `tool_result` and
/// `tool_progress`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolUpdate<'a> {
    /// The object as it arrived.
    pub raw: Raw<'a>,
    /// Where the call stands.
    pub status: ToolStatus,
    /// Id of the call.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// Name of the tool.
    pub name: Option<Cow<'a, str>>,
    /// The complete arguments.
    pub tool_input: Option<Raw<'a>>,
    /// A shape of the arguments, when they themselves are not exposed.
    pub input_summary: Option<Raw<'a>>,
    /// Length of the arguments so far, in characters.
    pub partial_json_length: Option<u64>,
    /// The result, any JSON value except null.
    pub result: Option<Raw<'a>>,
    /// A file that the call stored.
    pub artifact: Option<Box<ArtifactRef<'a>>>,
    /// Progress of an MCP tool.
    pub mcp: Option<Box<McpProgress<'a>>>,
}

/// Progress of a tool of an MCP server.
///
/// Source: iac-code 0.16, `metadata.iac_code.tool.mcp` and `mcpProgress`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct McpProgress<'a> {
    /// Name of the server.
    pub server_name: Option<Cow<'a, str>>,
    /// The tool's own name on that server.
    pub tool_name: Option<Cow<'a, str>>,
    /// Work done, in the tool's own unit.
    pub progress: Option<f64>,
    /// All the work, in the same unit.
    pub total: Option<f64>,
    /// What it is doing.
    pub message: Option<Cow<'a, str>>,
}

impl<'a> ToolUpdate<'a> {
    fn empty(raw: &'a RawValue, status: ToolStatus) -> Self {
        Self {
            raw: Raw::new(raw),
            status,
            tool_use_id: None,
            name: None,
            tool_input: None,
            input_summary: None,
            partial_json_length: None,
            result: None,
            artifact: None,
            mcp: None,
        }
    }

    /// The result as text: a string as it is, any other value as its JSON text.
    #[must_use]
    pub fn result_text(&self) -> Option<Cow<'a, str>> {
        let raw = self.result?;
        Some(string(raw.value()).unwrap_or_else(|_| Cow::Borrowed(raw.get())))
    }

    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::empty(raw, ToolStatus::Other);
        let mut status = None;
        let mut artifact = None;
        let mut mcp = None;
        let is_object = read_members!(raw, notes, "tool", {
            "status" => status, text;
            "toolUseId" => it.tool_use_id, text;
            "name" => it.name, text;
            "toolInput" => it.tool_input, any;
            "inputSummary" => it.input_summary, any;
            "partialJsonLength" => it.partial_json_length, integer;
            "result" => it.result, any;
            "artifact" => artifact, ArtifactRef::read_member;
            "mcp" => mcp, McpProgress::read_member;
        });
        it.status = status.map_or(ToolStatus::Other, |name| ToolStatus::from_name(&name));
        it.artifact = artifact.map(Box::new);
        it.mcp = mcp.map(Box::new);
        finish(it, raw, is_object)
    }

    /// Reads the `data` of a pipeline event `tool_started`, `tool_result` or `tool_progress`.
    pub(crate) fn read_pipeline(raw: &'a RawValue, status: ToolStatus, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::empty(raw, status);
        let mut is_error = None;
        let mut artifact = None;
        let mut mcp = McpProgress::default();
        let is_object = read_members!(raw, notes, "pipeline.data", {
            "toolUseId" => it.tool_use_id, text;
            "toolName" => it.name, text;
            "input" => it.tool_input, any;
            "result" => it.result, any;
            "isError" => is_error, boolean;
            "artifact" => artifact, ArtifactRef::read_member;
            "serverName" => mcp.server_name, text;
            "mcpToolName" => mcp.tool_name, text;
            "progress" => mcp.progress, number;
            "total" => mcp.total, number;
            "message" => mcp.message, text;
        });
        if status == ToolStatus::Completed && is_error == Some(true) {
            it.status = ToolStatus::Failed;
        }
        it.artifact = artifact.map(Box::new);
        it.mcp = (mcp != McpProgress::default()).then(|| Box::new(mcp));
        finish(it, raw, is_object)
    }
}

impl<'a> McpProgress<'a> {
    fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "tool.mcp", {
            "serverName" => it.server_name, text;
            "toolName" => it.tool_name, text;
            "progress" => it.progress, number;
            "total" => it.total, number;
            "message" => it.message, text;
        });
        finish(it, raw, is_object)
    }
}

/// Token counts of one model call; several calls are summed by the reader.
///
/// The kernel's `inputTokens` leave out what came from a cache, which is `cachedInputTokens`.
/// A count that did not come is absent, not 0; a negative one is noted and absent.
///
/// Source: iac-code 0.16, `metadata.iac_code.usage` and pipeline event `usage`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Usage<'a> {
    /// Provider, for example `openai`.
    pub provider: Option<Cow<'a, str>>,
    /// Model.
    pub model: Option<Cow<'a, str>>,
    /// Input tokens that were not cached.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// All tokens, cached ones included.
    pub total_tokens: Option<u64>,
    /// Input tokens that came from a cache.
    pub cached_input_tokens: Option<u64>,
}

impl<'a> Usage<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "usage", {
            "provider" => it.provider, text;
            "model" => it.model, text;
            "inputTokens" => it.input_tokens, integer;
            "outputTokens" => it.output_tokens, integer;
            "totalTokens" => it.total_tokens, integer;
            "cachedInputTokens" => it.cached_input_tokens, integer;
        });
        finish(it, raw, is_object)
    }
}
