use super::Emitter;
use crate::{
    Content, EncryptedValueSubtype, MessageId, ReasoningEncryptedValue, ToolCallArgs, ToolCallEnd,
    ToolCallId, ToolCallResult, ToolCallStart, ToolRole,
};

/// An open tool call; dropping it ends its arguments.
///
/// Example: see [`EventSink`](crate::EventSink).
#[derive(Debug)]
#[must_use = "the arguments end when this is dropped"]
pub struct OpenToolCall<'a> {
    emitter: &'a Emitter,
    id: ToolCallId,
}

impl<'a> OpenToolCall<'a> {
    pub(super) fn open(emitter: &'a Emitter, start: ToolCallStart) -> Self {
        let id = start.tool_call_id.clone();
        emitter.emit(start);
        Self { emitter, id }
    }

    /// Id of the call.
    #[must_use]
    pub const fn id(&self) -> &ToolCallId {
        &self.id
    }

    /// Appends a fragment of the JSON arguments; nothing is sent for an empty one.
    pub fn args(&mut self, fragment: impl Into<String>) {
        let fragment = fragment.into();
        if !fragment.is_empty() {
            self.emitter.emit(ToolCallArgs::new(&self.id, fragment));
        }
    }

    /// Sets what the client returns for the provider to read with the next run.
    pub fn encrypted_value(&mut self, value: impl Into<String>) {
        let subtype = EncryptedValueSubtype::ToolCall;
        self.emitter.emit(ReasoningEncryptedValue::new(subtype, self.id.as_str(), value));
    }

    /// Ends the arguments. A tool of the application is answered by the application, so its call is left
    /// here; a tool of the agent gets its result.
    #[expect(clippy::must_use_candidate, reason = "a call of the application's tool is done here")]
    pub fn end(self) -> EndedToolCall<'a> {
        EndedToolCall::new(self.emitter, self.id.clone())
    }
}

impl Drop for OpenToolCall<'_> {
    fn drop(&mut self) {
        self.emitter.emit(ToolCallEnd::new(&self.id));
    }
}

/// A tool call whose arguments are complete. It takes one result, or none.
///
/// Example: see [`EventSink`](crate::EventSink).
#[derive(Debug)]
pub struct EndedToolCall<'a> {
    emitter: &'a Emitter,
    id: ToolCallId,
}

impl<'a> EndedToolCall<'a> {
    pub(super) const fn new(emitter: &'a Emitter, id: ToolCallId) -> Self {
        Self { emitter, id }
    }

    /// Id of the call.
    #[must_use]
    pub const fn id(&self) -> &ToolCallId {
        &self.id
    }

    /// Sends the result. A client that speaks 0.x gets the text of the parts only.
    pub fn result(self, content: impl Into<Content>) {
        let id = self.emitter.next_id();
        self.result_with(id, content);
    }

    /// As [`result`](Self::result), under a message id of the caller.
    pub fn result_with(self, message_id: impl Into<MessageId>, content: impl Into<Content>) {
        let content = self.emitter.readable(content.into());
        let result = ToolCallResult::new(message_id, self.id, content);
        self.emitter.emit(result.with_role(ToolRole::Tool));
    }
}
