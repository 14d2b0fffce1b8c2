//! Tool calls: announced once, ended before their result, resolved once.

use agui_core::{JsonObject, ToolCallArgs, ToolCallEnd, ToolCallId, ToolCallResult, ToolCallStart, ToolRole};

use super::{LaneId, Open, Spans, split};

/// Where a tool call stands.
#[derive(Debug)]
pub(super) struct Call {
    stage: Stage,
    lane: LaneId,
    has_args: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// TOOL_CALL_START was sent.
    Open,
    /// TOOL_CALL_END was sent, by this run or by an earlier one.
    Ended,
    /// TOOL_CALL_RESULT was sent.
    Resolved,
}

/// The result of a tool call.
#[derive(Debug)]
pub(crate) struct CallResult<'a> {
    /// What the tool gave, as text.
    pub(crate) content: &'a str,
    /// Goes into the metadata of the event, and so of the tool message.
    pub(crate) metadata: Option<JsonObject>,
}

impl Spans {
    /// Notes a call that an earlier run announced.
    pub(crate) fn adopt_call(&mut self, id: ToolCallId) {
        let call = Call { stage: Stage::Ended, lane: LaneId::MAIN, has_args: true };
        self.calls.entry(id).or_insert(call);
    }

    /// Notes a call that was announced and resolved by an earlier run, unless it is known to wait.
    pub(crate) fn adopt_resolved_call(&mut self, id: ToolCallId) {
        let call = Call { stage: Stage::Resolved, lane: LaneId::MAIN, has_args: true };
        self.calls.entry(id).or_insert(call);
    }

    /// Whether the call was announced and has no result yet.
    pub(crate) fn call_waits(&self, id: &str) -> bool {
        self.calls.get(id).is_some_and(|call| call.stage != Stage::Resolved)
    }

    pub(crate) fn call_is_resolved(&self, id: &str) -> bool {
        self.calls.get(id).is_some_and(|call| call.stage == Stage::Resolved)
    }

    pub(crate) fn knows_call(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    pub(crate) fn call_is_open(&self, id: &str) -> bool {
        self.calls.get(id).is_some_and(|call| call.stage == Stage::Open)
    }

    /// Announces a call; the text and the reasoning of its lane end before it.
    pub(crate) fn start_call(&mut self, lane: LaneId, id: &ToolCallId, name: &str) {
        if self.calls.contains_key(id) {
            return;
        }
        self.close_messages(lane);
        let mut start = ToolCallStart::new(id.clone(), name);
        start.parent_message_id = self.parent(lane);
        self.out.push(start);
        self.open.push(Open::Call(id.clone()));
        self.calls.insert(id.clone(), Call { stage: Stage::Open, lane, has_args: false });
        self.remember_call(lane, id);
    }

    /// Gives the arguments of an open call, all at once and only once.
    pub(crate) fn call_args(&mut self, id: &ToolCallId, args: &str) {
        match self.calls.get_mut(id) {
            Some(call) if call.stage == Stage::Open && !call.has_args => call.has_args = true,
            _ => return,
        }
        for piece in split::pieces(args) {
            self.out.push(ToolCallArgs::new(id.clone(), piece));
        }
    }

    pub(crate) fn end_call(&mut self, id: &ToolCallId) {
        if self.forget(|open| matches!(open, Open::Call(call) if call == id)) {
            self.end_call_span(id);
        }
    }

    /// Emits the end of a call that is no longer on the list of open spans.
    pub(super) fn end_call_span(&mut self, id: &ToolCallId) {
        if let Some(call) = self.calls.get_mut(id) {
            call.stage = Stage::Ended;
        }
        self.out.push(ToolCallEnd::new(id.clone()));
    }

    /// Gives the result of a call, once; a call of an earlier run gets only its result.
    pub(crate) fn call_result(&mut self, lane: LaneId, id: &ToolCallId, result: CallResult<'_>) {
        if self.call_is_resolved(id.as_str()) {
            return;
        }
        self.end_call(id);
        let call = self.calls.entry(id.clone()).or_insert(Call { stage: Stage::Ended, lane, has_args: true });
        call.stage = Stage::Resolved;
        let lane = call.lane;
        let content = split::cut(result.content, self.max_result_bytes);
        let mut event = ToolCallResult::new(self.ids.mint("result"), id.clone(), content);
        event.role = Some(ToolRole::Tool);
        event.base.metadata = result.metadata;
        self.out.push(event);
        // Text that follows answers the result, so a later call does not belong to the text before it.
        self.lanes[lane.0].forget_parent();
    }
}
