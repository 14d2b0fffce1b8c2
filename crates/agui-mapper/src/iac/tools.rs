//! Tool calls of the kernel: their ids, arguments and results.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use agui_core::{Custom, Json, JsonObject, ToolCallId};
use agui_iac_code::custom::{TOOL_PROGRESS_V1, ToolProgressV1};
use agui_iac_code::metadata::{ToolStatus, ToolUpdate};

use crate::a2a::Turn;
use crate::config::{Known, MapperConfig};
use crate::json::compact;
use crate::spans::{CallResult, LaneId, Spans};

/// Name of a tool that the kernel does not name.
const NAMELESS_TOOL: &str = "tool";

/// Metadata of the result of a call that failed.
///
/// AG-UI has no error flag on `TOOL_CALL_RESULT`; metadata is merged into the tool message, where a client
/// finds it, and clients of 0.x ignore it.
const FAILED: &str = r#"{"iacCode":{"status":"failed"}}"#;

/// Between a tool call id and the number of its reuse.
const REUSE_MARK: char = '~';

/// The tool calls of a run under the kernel's ids.
#[derive(Debug, Default)]
pub(super) struct Tools {
    /// The id a call has on the stream, where it is not the kernel's.
    aliases: HashMap<Box<str>, ToolCallId>,
    /// Calls that the kernel gave no id, oldest first.
    anonymous: Vec<Anonymous>,
    /// Hashes of the arguments of the calls whose arguments are known, by the kernel's id.
    inputs: HashMap<Box<str>, u64>,
    changed: Option<Box<str>>,
    /// Sequence of the pipeline event that brought a result, by the id on the stream.
    resolved_at: HashMap<ToolCallId, u64>,
}

#[derive(Debug)]
struct Anonymous {
    lane: LaneId,
    name: Box<str>,
    id: ToolCallId,
}

/// The arguments of a call, compared with those that came before for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arguments {
    First,
    Same,
    Other,
}

impl Tools {
    pub(super) fn new(config: &MapperConfig, turn: &mut Turn) -> Self {
        let mut it = Self::default();
        for open in &config.pending {
            let Some(call) = &open.interrupt.tool_call_id else { continue };
            turn.spans.adopt_call(call.clone());
            if let Some(id) = open.tool_use_id.as_deref().filter(|id| *id != call.as_str()) {
                it.aliases.insert(id.into(), call.clone());
            }
        }
        let results = config.known_calls.iter().filter(|(_, known)| *known == Known::Result);
        let results: HashSet<&ToolCallId> = results.map(|(id, _)| id).collect();
        for (id, _) in &config.known_calls {
            // A call that waits belongs to the execution that is resumed; any other id was used up.
            if config.resume.is_some() && !results.contains(id) {
                turn.spans.adopt_call(id.clone());
            } else {
                turn.spans.adopt_resolved_call(id.clone());
            }
        }
        it
    }

    /// The id of a call on the stream, if it is not the kernel's.
    pub(super) fn alias(&self, id: &str) -> Option<ToolCallId> {
        self.aliases.get(id).cloned()
    }

    /// Maps one step in the life of a call. `sequence` is that of the pipeline event, else 0: the start of
    /// a call that is recovered after its result has come is too late to be shown.
    pub(super) fn update(&mut self, turn: &mut Turn, lane: LaneId, tool: &ToolUpdate<'_>, sequence: u64) {
        let announces = announces(tool.status);
        let resolves = matches!(tool.status, ToolStatus::Completed | ToolStatus::Failed);
        if !announces && !resolves {
            return;
        }
        let name = tool.name.as_deref().filter(|name| !name.is_empty());
        let id = match tool.tool_use_id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) if announces && self.comes_late(id, sequence) => return,
            Some(id) => self.named(&turn.spans, id, tool.status),
            None => self.nameless(&mut turn.spans, lane, name.unwrap_or(NAMELESS_TOOL), tool.status),
        };
        if announces {
            self.announce(turn, lane, &id, tool);
        } else {
            let failed = tool.status == ToolStatus::Failed;
            let content = content(tool);
            let metadata = if failed { JsonObject::from_string(FAILED.to_owned()).ok() } else { None };
            turn.spans.call_result(lane, &id, CallResult { content: &content, metadata });
            if sequence > 0 {
                self.resolved_at.insert(id, sequence);
            }
        }
    }

    /// The user's answer is the result of the call that asked.
    pub(super) fn answered(&self, turn: &mut Turn, lane: LaneId, call: &str, words: &str) {
        let id = self.stream_id(call);
        turn.spans.call_result(lane, &id, CallResult { content: words, metadata: None });
    }

    fn comes_late(&self, id: &str, sequence: u64) -> bool {
        let resolved = self.resolved_at.get(&self.stream_id(id));
        sequence > 0 && resolved.is_some_and(|resolved| sequence < *resolved)
    }

    fn announce(&mut self, turn: &mut Turn, lane: LaneId, id: &ToolCallId, tool: &ToolUpdate<'_>) {
        if lane == LaneId::MAIN {
            turn.text.end_segment(&mut turn.spans);
        }
        let name = tool.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(NAMELESS_TOOL);
        let was_open = turn.spans.call_is_open(id.as_str());
        turn.spans.start_call(lane, id, name);
        if tool.status == ToolStatus::InputComplete {
            // Whoever was asked about a call before its arguments were complete did not see them.
            let changed = match self.note_input(tool) {
                Arguments::First => was_open,
                Arguments::Same => false,
                Arguments::Other => true,
            };
            if changed {
                self.changed = tool.tool_use_id.as_deref().map(Into::into);
            }
            if let Some(args) = arguments(tool) {
                turn.spans.call_args(id, &args);
            }
            turn.spans.end_call(id);
        }
    }

    /// Emits the progress of a tool of the normal turn; a pipeline event of that kind is forwarded itself.
    pub(super) fn progress(&self, turn: &mut Turn, tool: &ToolUpdate<'_>) {
        if tool.status == ToolStatus::Progress
            && let Ok(value) = Json::from_serialize(&ToolProgressV1::new(tool.raw.value()))
        {
            turn.spans.emit(Custom::new(TOOL_PROGRESS_V1, value));
        }
    }

    /// A call whose arguments differ from those that came before for it.
    pub(super) fn take_changed_call(&mut self) -> Option<Box<str>> {
        self.changed.take()
    }

    /// The id on the stream of a call, by the kernel's id.
    pub(super) fn stream_id(&self, id: &str) -> ToolCallId {
        self.aliases.get(id).cloned().unwrap_or_else(|| ToolCallId::from(id))
    }

    /// The id of a call that has one; a call that begins after another with its id was resolved gets a new one.
    fn named(&mut self, spans: &Spans, id: &str, status: ToolStatus) -> ToolCallId {
        let present = self.stream_id(id);
        if !announces(status) || !spans.call_is_resolved(present.as_str()) {
            return present;
        }
        let mut number = 2_u32;
        let fresh = loop {
            let candidate = format!("{id}{REUSE_MARK}{number}");
            if !spans.knows_call(&candidate) {
                break ToolCallId::from(candidate);
            }
            number = number.saturating_add(1);
        };
        self.inputs.remove(id);
        self.aliases.insert(id.into(), fresh.clone());
        fresh
    }

    /// The id of a call without one: the oldest call of that name that waits for this step, else a new one.
    fn nameless(&mut self, spans: &mut Spans, lane: LaneId, name: &str, status: ToolStatus) -> ToolCallId {
        let waits = |call: &&Anonymous| match status {
            ToolStatus::Started => false,
            ToolStatus::InputComplete => spans.call_is_open(call.id.as_str()),
            _ => spans.call_waits(call.id.as_str()),
        };
        let of_lane = || self.anonymous.iter().filter(|call| call.lane == lane).filter(waits);
        let found =
            of_lane().find(|call| *call.name == *name || name == NAMELESS_TOOL).map(|call| call.id.clone());
        found.unwrap_or_else(|| {
            let id = ToolCallId::from(spans.mint(name).as_str());
            self.anonymous.push(Anonymous { lane, name: name.into(), id: id.clone() });
            id
        })
    }

    fn note_input(&mut self, tool: &ToolUpdate<'_>) -> Arguments {
        let (Some(id), Some(input)) = (tool.tool_use_id.as_deref(), tool.tool_input) else {
            return Arguments::Same;
        };
        let mut hasher = DefaultHasher::new();
        input.get().hash(&mut hasher);
        let hash = hasher.finish();
        match self.inputs.insert(id.into(), hash) {
            None => Arguments::First,
            Some(before) if before == hash => Arguments::Same,
            Some(_) => Arguments::Other,
        }
    }
}

/// Whether a call becomes known by this step.
const fn announces(status: ToolStatus) -> bool {
    matches!(status, ToolStatus::Started | ToolStatus::InputComplete)
}

/// The result: text as it is, any other value as its JSON text without the white space between tokens.
fn content<'t>(tool: &'t ToolUpdate<'_>) -> Cow<'t, str> {
    match tool.result {
        Some(raw) if !raw.get().starts_with('"') => compact(raw.value().get()),
        _ => tool.result_text().unwrap_or_default(),
    }
}

/// The arguments as the kernel wrote them, without the white space between tokens; when they are not
/// exposed, their shape.
fn arguments(tool: &ToolUpdate<'_>) -> Option<String> {
    if let Some(input) = tool.tool_input {
        return Some(compact(input.get()).into_owned());
    }
    tool.input_summary.map(|summary| format!(r#"{{"summary":{}}}"#, compact(summary.get())))
}
