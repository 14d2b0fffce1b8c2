//! The in-process side of a run: what an agent implements and how its events reach a reader.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
pub use futures_core::future::BoxFuture;

use crate::RunAgentInput;

mod channel;
mod queue;
mod sink;

pub use channel::{RunSink, RunStream, run_channel};
pub use queue::{OVERRUN_FACTOR, RunLimits};
#[cfg(feature = "state")]
pub use sink::SharedState;
pub use sink::{
    CANCELLED, Emitter, EndedToolCall, EventSink, OpenActivity, OpenReasoning, OpenStep, OpenSubagent,
    OpenText, OpenToolCall, Sources,
};

/// Something that answers run requests with events.
///
/// ```
/// use agui_core::{Agent, BoxFuture, EventSink, Problem, RunLimits, RunRequest, RunStream};
///
/// struct Echo;
///
/// impl Agent for Echo {
///     fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
///         Box::pin(async move {
///             let Some(said) = request.input.last_user_message() else {
///                 return Err(Problem::new(400, "INVALID_INPUT", "Say something."));
///             };
///             let (sink, stream) = EventSink::start(&request.input, RunLimits::default());
///             // What takes longer is sent from a task of its own, so that the stream is there at once.
///             sink.text_message().delta(said.content.to_text());
///             sink.finish();
///             Ok(stream)
///         })
///     }
/// }
/// ```
pub trait Agent: Send + Sync + 'static {
    /// Takes a request.
    ///
    /// The future ends when the run is accepted: it gives the stream before the run has done its work.
    /// Dropping the stream says that nobody reads any more; whether the work goes on is up to the agent.
    ///
    /// # Errors
    /// A [`Problem`] if the run is not started; nothing has been sent yet.
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>>;
}

impl<A: Agent + ?Sized> Agent for Arc<A> {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        A::run(self, request)
    }
}

/// One run request.
///
/// `Debug` shows ids, sizes and header names only: bodies and headers carry secrets.
///
/// Example: see [`Agent`].
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct RunRequest {
    /// The decoded body.
    pub input: RunAgentInput,
    /// The body as it came, for extensions that read it more strictly.
    pub body: Bytes,
    /// The `Accept-Language` header.
    pub accept_language: Option<Box<str>>,
    /// Other headers that the transport passes on, names in lower case.
    pub headers: Vec<(Box<str>, Box<str>)>,
}

impl RunRequest {
    /// Makes a request without headers.
    #[must_use]
    pub const fn new(input: RunAgentInput, body: Bytes) -> Self {
        Self { input, body, accept_language: None, headers: Vec::new() }
    }

    /// Sets the `Accept-Language` header.
    #[must_use]
    pub fn with_accept_language(mut self, value: impl Into<Box<str>>) -> Self {
        self.accept_language = Some(value.into());
        self
    }

    /// Adds a header. Its name is kept in lower case.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<Box<str>>, value: impl Into<Box<str>>) -> Self {
        let mut name = name.into();
        name.make_ascii_lowercase();
        self.headers.push((name, value.into()));
        self
    }

    /// The first header of this name, whatever its case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }
}

impl fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("RunRequest")
            .field("input", &self.input)
            .field("body_bytes", &self.body.len())
            .field("accept_language", &self.accept_language)
            .field("headers", &names)
            .finish()
    }
}

/// Why a request is refused before its run starts; becomes an HTTP error.
///
/// ```
/// use agui_core::Problem;
///
/// let busy = Problem::new(409, "THREAD_BUSY", "Another run is going on.").with_retry_after_s(2);
/// assert_eq!(busy.to_string(), "409 THREAD_BUSY: Another run is going on.");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// HTTP status.
    pub status: u16,
    /// Stable machine-readable code.
    pub code: Cow<'static, str>,
    /// What went wrong, for a person, in the person's language.
    pub message: String,
    /// After how many seconds a retry makes sense.
    pub retry_after_s: Option<u32>,
}

impl Problem {
    /// Makes a problem without a hint for a retry.
    #[must_use]
    pub fn new(status: u16, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into(), retry_after_s: None }
    }

    /// Sets after how many seconds a retry makes sense.
    #[must_use]
    pub const fn with_retry_after_s(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.code, self.message)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests;
