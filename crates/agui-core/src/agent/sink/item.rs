//! Guards of messages, steps and activities.

use super::Emitter;
use crate::{
    ActivityDelta, ActivitySnapshot, EncryptedValueSubtype, JsonObject, JsonPatch, MessageId,
    ReasoningEncryptedValue, ReasoningEnd, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, StepFinished, StepStarted, TextMessageContent, TextMessageEnd,
    TextMessageStart,
};

/// An open text message; dropping it ends it.
///
/// Example: see [`EventSink`](crate::EventSink).
#[derive(Debug)]
#[must_use = "the message ends when this is dropped"]
pub struct OpenText<'a> {
    emitter: &'a Emitter,
    id: MessageId,
}

impl<'a> OpenText<'a> {
    pub(super) fn open(emitter: &'a Emitter, start: TextMessageStart) -> Self {
        let id = start.message_id.clone();
        let role = start.role.unwrap_or(crate::TextRole::Assistant);
        emitter.emit(start.with_role(role));
        Self { emitter, id }
    }

    /// Id of the message.
    #[must_use]
    pub const fn id(&self) -> &MessageId {
        &self.id
    }

    /// Appends text; nothing is sent for an empty one.
    pub fn delta(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.emitter.emit(TextMessageContent::new(&self.id, text));
        }
    }

    /// Ends the message.
    pub fn end(self) {}
}

impl Drop for OpenText<'_> {
    fn drop(&mut self) {
        self.emitter.emit(TextMessageEnd::new(&self.id));
    }
}

/// Open reasoning: a span with one message, both under one id. Dropping it ends both.
///
/// Example: see [`EventSink`](crate::EventSink).
#[derive(Debug)]
#[must_use = "the reasoning ends when this is dropped"]
pub struct OpenReasoning<'a> {
    emitter: &'a Emitter,
    id: MessageId,
}

impl<'a> OpenReasoning<'a> {
    pub(super) fn open(emitter: &'a Emitter, start: ReasoningMessageStart) -> Self {
        let id = start.message_id.clone();
        emitter.emit(ReasoningStart::new(&id));
        emitter.emit(start);
        Self { emitter, id }
    }

    /// Id of the message.
    #[must_use]
    pub const fn id(&self) -> &MessageId {
        &self.id
    }

    /// Appends text; nothing is sent for an empty one.
    pub fn delta(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.emitter.emit(ReasoningMessageContent::new(&self.id, text));
        }
    }

    /// Sets what the client returns for the provider to read with the next run.
    pub fn encrypted_value(&mut self, value: impl Into<String>) {
        let subtype = EncryptedValueSubtype::Message;
        self.emitter.emit(ReasoningEncryptedValue::new(subtype, self.id.as_str(), value));
    }

    /// Ends the reasoning.
    pub fn end(self) {}
}

impl Drop for OpenReasoning<'_> {
    fn drop(&mut self) {
        self.emitter.emit(ReasoningMessageEnd::new(&self.id));
        self.emitter.emit(ReasoningEnd::new(&self.id));
    }
}

/// An open step; dropping it ends it.
///
/// Example: see [`EventSink`](crate::EventSink).
#[derive(Debug)]
#[must_use = "the step ends when this is dropped"]
pub struct OpenStep<'a> {
    emitter: &'a Emitter,
    name: String,
}

impl<'a> OpenStep<'a> {
    pub(super) fn open(emitter: &'a Emitter, started: StepStarted) -> Self {
        let name = started.step_name.clone();
        emitter.emit(started);
        Self { emitter, name }
    }

    /// Ends the step.
    pub fn end(self) {}
}

impl Drop for OpenStep<'_> {
    fn drop(&mut self) {
        self.emitter.emit(StepFinished::new(self.name.as_str()));
    }
}

/// An activity that can be changed until the run ends. It has no end of its own.
///
/// ```
/// use agui_core::{EventSink, Json, JsonObject, JsonPointer, PatchOp, RunAgentInput, RunLimits};
///
/// let input = RunAgentInput::new("t1", "r1", Vec::new());
/// let (sink, stream) = EventSink::start(&input, RunLimits::default());
/// let mut plan = sink.activity("plan", JsonObject::from_string(r#"{"done":0}"#.to_owned())?);
/// let done = JsonPointer::from_tokens(["done"]);
/// plan.patch(vec![PatchOp::replace(done, Json::from_serialize(&1)?)]);
/// sink.finish();
/// # drop(stream);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct OpenActivity<'a> {
    emitter: &'a Emitter,
    id: MessageId,
    activity_type: String,
}

impl<'a> OpenActivity<'a> {
    pub(super) fn open(emitter: &'a Emitter, snapshot: ActivitySnapshot) -> Self {
        let (id, activity_type) = (snapshot.message_id.clone(), snapshot.activity_type.clone());
        emitter.emit(snapshot);
        Self { emitter, id, activity_type }
    }

    /// Id of the activity message.
    #[must_use]
    pub const fn id(&self) -> &MessageId {
        &self.id
    }

    /// Replaces the content.
    pub fn replace(&mut self, content: JsonObject) {
        self.emitter.emit(ActivitySnapshot::new(&self.id, self.activity_type.as_str(), content));
    }

    /// Changes the content.
    pub fn patch(&mut self, patch: JsonPatch) {
        self.emitter.emit(ActivityDelta::new(&self.id, self.activity_type.as_str(), patch));
    }
}
