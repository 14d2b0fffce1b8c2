use std::sync::{Arc, MutexGuard};

use super::{
    EndedToolCall, Inner, OpenActivity, OpenReasoning, OpenStep, OpenSubagent, OpenText, OpenToolCall, Shared,
};
use crate::{
    ActivitySnapshot, Content, Custom, Event, Json, JsonObject, Raw, ReasoningMessageStart, StepStarted,
    SubagentRunId, SubagentStarted, TextMessageStart, ToolCallId, ToolCallStart,
};

/// What the agent and its subagents can do alike: an [`EventSink`](super::EventSink) and an
/// [`OpenSubagent`] both are one. Whatever a subagent sends carries its id.
///
/// ```
/// use agui_core::{Emitter, EventSink, RunAgentInput, RunLimits};
///
/// fn say(emitter: &Emitter, text: &str) {
///     emitter.text_message().delta(text);
/// }
///
/// let input = RunAgentInput::new("t1", "r1", Vec::new());
/// let (sink, stream) = EventSink::start(&input, RunLimits::default());
/// let researcher = sink.subagent("researcher");
/// say(&researcher, "Found it."); // with the id of the subagent
/// researcher.finish();
/// say(&sink, "Done.");
/// sink.finish();
/// # drop(stream);
/// ```
#[derive(Debug)]
pub struct Emitter {
    shared: Arc<Shared>,
    owner: Option<SubagentRunId>,
}

impl Emitter {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared, owner: None }
    }

    pub(super) fn owned_by(&self, owner: SubagentRunId) -> Self {
        Self { shared: Arc::clone(&self.shared), owner: Some(owner) }
    }

    pub(super) const fn owner(&self) -> Option<&SubagentRunId> {
        self.owner.as_ref()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.shared.lock()
    }

    pub(super) fn emit(&self, event: impl Into<Event>) {
        let mut event = event.into();
        event.set_owner(self.owner.clone());
        self.lock().send(event);
    }

    /// The next id of the run's source, for an item that the caller has to know before it is sent.
    #[must_use]
    pub fn next_id(&self) -> String {
        (self.lock().ids)()
    }

    /// Opens an answer of the assistant.
    pub fn text_message(&self) -> OpenText<'_> {
        self.text_message_with(TextMessageStart::new(self.next_id()))
    }

    /// Opens a text message with an id, role or name of its own.
    pub fn text_message_with(&self, start: TextMessageStart) -> OpenText<'_> {
        OpenText::open(self, start)
    }

    /// Opens a span of reasoning with one message.
    pub fn reasoning(&self) -> OpenReasoning<'_> {
        self.reasoning_with(ReasoningMessageStart::new(self.next_id()))
    }

    /// Opens a span of reasoning with one message under an id of its own.
    pub fn reasoning_with(&self, start: ReasoningMessageStart) -> OpenReasoning<'_> {
        OpenReasoning::open(self, start)
    }

    /// Opens a call of a tool.
    pub fn tool_call(&self, tool_name: impl Into<String>) -> OpenToolCall<'_> {
        self.tool_call_with(ToolCallStart::new(self.next_id(), tool_name))
    }

    /// Opens a call of a tool with an id or a parent message of its own.
    pub fn tool_call_with(&self, start: ToolCallStart) -> OpenToolCall<'_> {
        OpenToolCall::open(self, start)
    }

    /// Answers a call of an earlier run, after the interrupt that it waited for.
    pub fn tool_result(&self, tool_call_id: impl Into<ToolCallId>, content: impl Into<Content>) {
        EndedToolCall::new(self, tool_call_id.into()).result(content);
    }

    /// Opens a named step.
    pub fn step(&self, name: impl Into<String>) -> OpenStep<'_> {
        OpenStep::open(self, StepStarted::new(name))
    }

    /// Opens an invocation of a subagent.
    pub fn subagent(&self, name: impl Into<String>) -> OpenSubagent<'_> {
        self.subagent_with(SubagentStarted::new(self.next_id(), name))
    }

    /// Opens an invocation of a subagent with an id, a description or parents of its own.
    pub fn subagent_with(&self, started: SubagentStarted) -> OpenSubagent<'_> {
        OpenSubagent::open(self, started)
    }

    /// Shows an activity; the handle changes it later.
    pub fn activity(&self, activity_type: impl Into<String>, content: JsonObject) -> OpenActivity<'_> {
        self.activity_with(ActivitySnapshot::new(self.next_id(), activity_type, content))
    }

    /// Shows an activity under an id of its own.
    #[expect(clippy::must_use_candidate, reason = "an activity may be left as it is")]
    pub fn activity_with(&self, snapshot: ActivitySnapshot) -> OpenActivity<'_> {
        OpenActivity::open(self, snapshot)
    }

    /// Sends an event outside the vocabulary; prefix the name with a vendor.
    pub fn custom(&self, name: impl Into<String>, value: impl Into<Json>) {
        self.emit(Custom::new(name, value));
    }

    /// Passes an event of a provider on.
    pub fn raw(&self, event: impl Into<Json>) {
        self.emit(Raw::new(event));
    }

    /// Content as the client can read it: clients of 0.x know text results only.
    pub(super) fn readable(&self, content: Content) -> Content {
        if self.lock().is_legacy_peer { Content::Text(content.to_text().into_owned()) } else { content }
    }
}
