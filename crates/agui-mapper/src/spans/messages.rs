//! Text and reasoning messages of a lane.

use agui_core::{
    JsonObject, MessageId, ReasoningEnd, ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart,
    ReasoningStart, TextMessageContent, TextMessageEnd, TextMessageStart, TextRole, ToolCallId,
};

use super::{LaneId, Open, Spans, split};

/// Stands in the id of a message that the kernel gives none.
const NAMELESS: &str = "message";

/// Most ids that a lane remembers of one model message, for the case that the message is withdrawn.
const MAX_REMEMBERED_IDS: usize = 256;

/// What a lane has open and what belongs to its present model message.
#[derive(Debug, Default)]
pub(super) struct Lane {
    text: Option<OpenText>,
    reasoning: Option<MessageId>,
    /// The text message that tool calls of the present model message belong to.
    parent: Option<MessageId>,
    message: ModelMessage,
}

#[derive(Debug)]
struct OpenText {
    id: MessageId,
    /// The kernel's id of the message.
    kernel: Box<str>,
}

/// What the present model message has shown so far.
#[derive(Debug, Default)]
pub(crate) struct ModelMessage {
    /// Text and reasoning messages.
    pub(crate) messages: Vec<MessageId>,
    /// Tool calls that were announced.
    pub(crate) calls: Vec<ToolCallId>,
}

impl Spans {
    /// Appends text; a new kernel message, or anything that came between, begins a new message.
    pub(crate) fn text(&mut self, lane: LaneId, kernel: &str, delta: &str) {
        if delta.is_empty() {
            return;
        }
        let id = match &self.lanes[lane.0].text {
            Some(text) if *text.kernel == *kernel => text.id.clone(),
            _ => self.begin_text(lane, kernel),
        };
        for piece in split::pieces(delta) {
            self.out.push(TextMessageContent::new(id.clone(), piece));
        }
    }

    fn begin_text(&mut self, lane: LaneId, kernel: &str) -> MessageId {
        self.close_messages(lane);
        let id = self.ids.mint(if kernel.is_empty() { NAMELESS } else { kernel });
        self.out.push(TextMessageStart::new(id.clone()).with_role(TextRole::Assistant));
        self.open.push(Open::Text(lane));
        let strand = &mut self.lanes[lane.0];
        strand.text = Some(OpenText { id: id.clone(), kernel: kernel.into() });
        strand.parent = Some(id.clone());
        strand.message.remember(&id);
        id
    }

    /// Appends reasoning to the lane's reasoning message, which text or a tool call ends.
    pub(crate) fn reasoning(&mut self, lane: LaneId, delta: &str) {
        if delta.is_empty() {
            return;
        }
        let id = match &self.lanes[lane.0].reasoning {
            Some(id) => id.clone(),
            None => self.begin_reasoning(lane),
        };
        for piece in split::pieces(delta) {
            self.out.push(ReasoningMessageContent::new(id.clone(), piece));
        }
    }

    fn begin_reasoning(&mut self, lane: LaneId) -> MessageId {
        self.close_messages(lane);
        let id = self.ids.mint("reasoning");
        self.out.push(ReasoningStart::new(id.clone()));
        self.out.push(ReasoningMessageStart::new(id.clone()));
        self.open.push(Open::Reasoning(lane));
        let strand = &mut self.lanes[lane.0];
        strand.reasoning = Some(id.clone());
        strand.message.remember(&id);
        id
    }

    /// Closes the open text or reasoning of a lane.
    pub(crate) fn close_messages(&mut self, lane: LaneId) {
        self.close_messages_with(lane, None);
    }

    fn close_messages_with(&mut self, lane: LaneId, metadata: Option<&JsonObject>) {
        if self.forget(|open| *open == Open::Text(lane)) {
            self.end_text(lane, metadata);
        }
        if self.forget(|open| *open == Open::Reasoning(lane)) {
            self.end_reasoning(lane, metadata);
        }
    }

    /// Ends the present model message of a lane: what follows belongs to the next one.
    pub(crate) fn next_model_message(&mut self, lane: LaneId) {
        self.close_messages(lane);
        let strand = &mut self.lanes[lane.0];
        strand.parent = None;
        strand.message = ModelMessage::default();
    }

    /// Closes the open messages of a lane with `metadata` and tells what its model message had shown.
    pub(crate) fn withdraw(&mut self, lane: LaneId, metadata: Option<&JsonObject>) -> ModelMessage {
        self.close_messages_with(lane, metadata);
        let strand = &mut self.lanes[lane.0];
        strand.parent = None;
        std::mem::take(&mut strand.message)
    }

    /// The message that a tool call of this lane belongs to, if the model message has text.
    pub(super) fn parent(&self, lane: LaneId) -> Option<MessageId> {
        self.lanes[lane.0].parent.clone()
    }

    pub(super) fn remember_call(&mut self, lane: LaneId, call: &ToolCallId) {
        let calls = &mut self.lanes[lane.0].message.calls;
        if calls.len() < MAX_REMEMBERED_IDS {
            calls.push(call.clone());
        }
    }

    pub(super) fn end_text(&mut self, lane: LaneId, metadata: Option<&JsonObject>) {
        if let Some(text) = self.lanes[lane.0].text.take() {
            let mut end = TextMessageEnd::new(text.id);
            end.base.metadata = metadata.cloned();
            self.out.push(end);
        }
    }

    pub(super) fn end_reasoning(&mut self, lane: LaneId, metadata: Option<&JsonObject>) {
        if let Some(id) = self.lanes[lane.0].reasoning.take() {
            let mut end = ReasoningMessageEnd::new(id.clone());
            end.base.metadata = metadata.cloned();
            self.out.push(end);
            self.out.push(ReasoningEnd::new(id));
        }
    }
}

impl Lane {
    pub(super) fn forget_parent(&mut self) {
        if self.text.is_none() {
            self.parent = None;
        }
    }
}

impl ModelMessage {
    fn remember(&mut self, id: &MessageId) {
        if self.messages.len() < MAX_REMEMBERED_IDS {
            self.messages.push(id.clone());
        }
    }
}
