use std::fmt;

use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::{Method, ProtocolVersion};

/// A message of the user, to be sent.
///
/// Parts and metadata may hold secrets; `Debug` leaves them out.
///
/// Example: see [`SendMessage`].
#[derive(Clone)]
#[non_exhaustive]
pub struct OutgoingMessage {
    /// Id that the client gives it.
    pub message_id: String,
    /// What is said; at least one part.
    pub parts: Vec<OutgoingPart>,
    /// Conversation.
    pub context_id: Option<String>,
    /// Task to go on with; a client never invents one.
    pub task_id: Option<String>,
    /// Free-form object.
    pub metadata: Option<Box<RawValue>>,
}

impl OutgoingMessage {
    /// A message without conversation, task and metadata.
    #[must_use]
    pub fn new(message_id: impl Into<String>, parts: Vec<OutgoingPart>) -> Self {
        Self { message_id: message_id.into(), parts, context_id: None, task_id: None, metadata: None }
    }

    /// Sets the conversation.
    #[must_use]
    pub fn with_context_id(mut self, context_id: impl Into<String>) -> Self {
        self.context_id = Some(context_id.into());
        self
    }

    /// Sets the task to go on with.
    #[must_use]
    pub fn with_task_id(mut self, task_id: impl Into<String>) -> Self {
        self.task_id = Some(task_id.into());
        self
    }

    /// Sets the free-form object.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Box<RawValue>) -> Self {
        self.metadata = Some(metadata);
        self
    }
}

impl fmt::Debug for OutgoingMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingMessage")
            .field("message_id", &self.message_id)
            .field("context_id", &self.context_id)
            .field("task_id", &self.task_id)
            .field("parts", &self.parts.len())
            .finish_non_exhaustive()
    }
}

/// A piece of an [`OutgoingMessage`]. `Debug` leaves the content out.
///
/// Example: see [`SendMessage`].
#[derive(Clone)]
pub struct OutgoingPart {
    content: OutgoingContent,
    media_type: Option<String>,
    filename: Option<String>,
}

#[derive(Clone)]
enum OutgoingContent {
    Text(String),
    Data(Box<RawValue>),
    Raw(String),
    Url(String),
}

impl OutgoingPart {
    /// Plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(OutgoingContent::Text(text.into()))
    }

    /// A JSON value; 0.3 allows objects only.
    #[must_use]
    pub const fn data(data: Box<RawValue>) -> Self {
        Self::of(OutgoingContent::Data(data))
    }

    /// A file's bytes, already in base64.
    #[must_use]
    pub fn raw(base64: impl Into<String>) -> Self {
        Self::of(OutgoingContent::Raw(base64.into()))
    }

    /// Where a file is.
    #[must_use]
    pub fn url(url: impl Into<String>) -> Self {
        Self::of(OutgoingContent::Url(url.into()))
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// Sets the file name.
    #[must_use]
    pub fn with_filename(mut self, filename: impl Into<String>) -> Self {
        self.filename = Some(filename.into());
        self
    }

    const fn of(content: OutgoingContent) -> Self {
        Self { content, media_type: None, filename: None }
    }
}

impl fmt::Debug for OutgoingPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.content {
            OutgoingContent::Text(_) => "OutgoingPart(text)",
            OutgoingContent::Data(_) => "OutgoingPart(data)",
            OutgoingContent::Raw(_) => "OutgoingPart(raw)",
            OutgoingContent::Url(_) => "OutgoingPart(url)",
        })
    }
}

/// Parameters of [`Method::SendMessage`] and [`Method::SendStreamingMessage`].
///
/// ```
/// use a2a_wire::{Method, OutgoingMessage, OutgoingPart, ProtocolVersion, SendMessage};
///
/// let sketch = OutgoingPart::url("https://example.org/sketch.png").with_media_type("image/png");
/// let parts = vec![OutgoingPart::text("Build this."), sketch];
/// let request = SendMessage::new(OutgoingMessage::new("u-1", parts).with_context_id("C1"));
/// let body = request.to_json(ProtocolVersion::V0_3, Method::SendStreamingMessage, "7")?;
/// assert!(body.starts_with(br#"{"jsonrpc":"2.0","id":"7","method":"message/stream""#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SendMessage {
    /// The message.
    pub message: OutgoingMessage,
    /// Media types that the client can show; default `text/plain`. Empty leaves the member out.
    pub accepted_output_modes: Vec<String>,
    /// How many messages of the history an answered task brings; `None` is the server's default.
    pub history_length: Option<u32>,
    /// Unary only: whether the answer comes at once (`true`) or when the task ends or waits.
    pub return_immediately: Option<bool>,
}

impl SendMessage {
    /// Sends `message`, accepting plain text.
    #[must_use]
    pub fn new(message: OutgoingMessage) -> Self {
        Self {
            message,
            accepted_output_modes: vec!["text/plain".to_owned()],
            history_length: None,
            return_immediately: None,
        }
    }

    /// Sets the media types that the client can show.
    #[must_use]
    pub fn with_accepted_output_modes(mut self, modes: Vec<String>) -> Self {
        self.accepted_output_modes = modes;
        self
    }

    /// Sets how many messages of the history an answered task brings.
    #[must_use]
    pub const fn with_history_length(mut self, messages: u32) -> Self {
        self.history_length = Some(messages);
        self
    }

    /// Sets whether a unary answer comes at once.
    #[must_use]
    pub const fn with_return_immediately(mut self, at_once: bool) -> Self {
        self.return_immediately = Some(at_once);
        self
    }

    /// The JSON-RPC request, one line.
    ///
    /// # Errors
    /// None in practice: every member serialises.
    pub fn to_json(
        &self,
        version: ProtocolVersion,
        method: Method,
        id: &str,
    ) -> Result<Vec<u8>, serde_json::Error> {
        self.to_tenant_json(version, method, id, None)
    }

    /// The same for an interface that names a tenant, which only 1.0 knows.
    ///
    /// # Errors
    /// As [`to_json`](Self::to_json).
    pub fn to_tenant_json(
        &self,
        version: ProtocolVersion,
        method: Method,
        id: &str,
        tenant: Option<&str>,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let params = wire::SendParams { request: self, version, tenant: version.tenant(tenant) };
        serde_json::to_vec(&wire::Request { version, method, id, params })
    }
}

/// Parameters of [`Method::GetTask`], [`Method::CancelTask`] and [`Method::SubscribeToTask`].
///
/// ```
/// use a2a_wire::{Method, ProtocolVersion, TaskRequest};
///
/// let body = TaskRequest::new("T1").to_json(ProtocolVersion::V1_0, Method::CancelTask, "2")?;
/// assert_eq!(body, br#"{"jsonrpc":"2.0","id":"2","method":"CancelTask","params":{"id":"T1"}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskRequest<'a> {
    /// Id of the task.
    pub task_id: &'a str,
    /// [`Method::GetTask`] only: how many messages of the history to bring; 0 = none, `None` = the
    /// server's default.
    pub history_length: Option<u32>,
}

impl<'a> TaskRequest<'a> {
    /// A request about `task_id`.
    #[must_use]
    pub const fn new(task_id: &'a str) -> Self {
        Self { task_id, history_length: None }
    }

    /// Sets how many messages of the history to bring.
    #[must_use]
    pub const fn with_history_length(mut self, messages: u32) -> Self {
        self.history_length = Some(messages);
        self
    }

    /// The JSON-RPC request, one line.
    ///
    /// # Errors
    /// None in practice: every member serialises.
    pub fn to_json(
        &self,
        version: ProtocolVersion,
        method: Method,
        id: &str,
    ) -> Result<Vec<u8>, serde_json::Error> {
        self.to_tenant_json(version, method, id, None)
    }

    /// The same for an interface that names a tenant, which only 1.0 knows.
    ///
    /// # Errors
    /// As [`to_json`](Self::to_json).
    pub fn to_tenant_json(
        &self,
        version: ProtocolVersion,
        method: Method,
        id: &str,
        tenant: Option<&str>,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let tenant = version.tenant(tenant);
        let params = wire::TaskParams { id: self.task_id, history_length: self.history_length, tenant };
        serde_json::to_vec(&wire::Request { version, method, id, params })
    }
}

/// Parameters of [`Method::ListTasks`]: the newest tasks of a conversation, without their messages.
///
/// Source: A2A 1.0 `ListTasks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRequest<'a> {
    /// The conversation.
    pub context_id: &'a str,
}

impl<'a> ListRequest<'a> {
    /// Tasks that one answer names at most; what servers accept ends at 100.
    pub const PAGE_SIZE: u32 = 100;

    /// A request about the conversation `context_id`.
    #[must_use]
    pub const fn new(context_id: &'a str) -> Self {
        Self { context_id }
    }

    /// The JSON-RPC request, one line.
    ///
    /// # Errors
    /// None in practice: every member serialises.
    pub fn to_json(&self, version: ProtocolVersion, id: &str) -> Result<Vec<u8>, serde_json::Error> {
        self.to_tenant_json(version, id, None)
    }

    /// The same for an interface that names a tenant, which only 1.0 knows.
    ///
    /// # Errors
    /// As [`to_json`](Self::to_json).
    pub fn to_tenant_json(
        &self,
        version: ProtocolVersion,
        id: &str,
        tenant: Option<&str>,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let params = wire::ListParams {
            context_id: self.context_id,
            page_size: Self::PAGE_SIZE,
            history_length: 0,
            tenant: version.tenant(tenant),
        };
        serde_json::to_vec(&wire::Request { version, method: Method::ListTasks, id, params })
    }
}

mod wire;

#[cfg(test)]
mod tests;
