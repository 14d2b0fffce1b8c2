use std::io;

use agui_core::{DecodeError, InterruptId, RunId, ToolCallId, Violation};
use agui_proto::ProtoError;
use http_exchange::ExchangeError;
use sse_frame::SseError;

/// Why a request was not made, or why its run cannot be trusted.
///
/// A failure that the agent itself reports is none of these: it is [`RunEnd::Failed`](crate::RunEnd::Failed).
/// No text of a stream is repeated here, except the message of a refusal and the type of an answer.
///
/// ```
/// use agui_client::{AgentConfig, ClientError, HttpAgent};
///
/// let refused = HttpAgent::new(AgentConfig::new("ftp://127.0.0.1/"));
/// assert!(matches!(refused, Err(ClientError::InvalidUrl)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address is no `http` or `https` URL, or holds credentials.
    #[error("address is not an http URL without credentials")]
    InvalidUrl,
    /// The address is `https`, and this client was built without the feature `tls`.
    #[error("https is not supported")]
    TlsUnsupported,
    /// TLS cannot be set up on this machine.
    #[cfg(feature = "tls")]
    #[error("TLS cannot be set up")]
    TlsSetup(#[source] agui_tls::TlsError),
    /// A header that was configured cannot be sent.
    #[error("header {name:?} cannot be sent")]
    InvalidHeader {
        /// Name of the header.
        name: Box<str>,
    },
    /// The request cannot be written as JSON.
    #[error("request cannot be written")]
    Request(#[source] serde_json::Error),
    /// Interrupts of the last run have no answer; nothing was sent.
    #[error("{} open interrupt(s) without an answer", interrupts.len())]
    Unanswered {
        /// The interrupts.
        interrupts: Vec<InterruptId>,
    },
    /// Calls of the application's tools have no result; nothing was sent.
    #[error("{} call(s) of the application's tools without a result", tool_calls.len())]
    UnansweredCalls {
        /// The calls.
        tool_calls: Vec<ToolCallId>,
    },
    /// An interrupt can only be cancelled any more; nothing was sent.
    #[error("interrupt {interrupt_id} has expired, cancel it to go on")]
    Expired {
        /// The interrupt.
        interrupt_id: InterruptId,
    },
    /// An answer to an interrupt that is not open.
    #[error("interrupt {interrupt_id} is not open")]
    UnknownInterrupt {
        /// The interrupt.
        interrupt_id: InterruptId,
    },
    /// A result of a tool call that does not wait for one.
    #[error("tool call {tool_call_id} does not wait for a result")]
    UnknownToolCall {
        /// The call.
        tool_call_id: ToolCallId,
    },
    /// The agent cannot be reached.
    #[error("agent cannot be reached")]
    Connect(#[source] io::Error),
    /// The agent is not who its address says, or speaks no TLS.
    #[cfg(feature = "tls")]
    #[error("agent cannot be trusted")]
    Tls(#[source] io::Error),
    /// The agent did not accept the connection in time.
    #[error("agent accepted no connection within {after_ms} ms")]
    ConnectTimeout {
        /// The time that was given, in milliseconds.
        after_ms: u64,
    },
    /// The agent closed the connection before the request was sent; it may be sent again.
    #[error("agent closed the connection before the request was sent")]
    ClosedEarly,
    /// The agent answered with another status than success; no run was started.
    #[error("agent refused the run with status {status}{}", described(code.as_deref(), message.as_deref()))]
    Refused {
        /// HTTP status.
        status: u16,
        /// Code of the error document, if there is one; a number is its digits.
        code: Option<Box<str>>,
        /// What the error document says, if it says something; of a short plain text, the text.
        message: Option<Box<str>>,
        /// The `Retry-After` header, in seconds.
        retry_after_s: Option<u32>,
    },
    /// The answer is a success but no event stream.
    #[error("answer is {content_type:?}, not an event stream")]
    NotEventStream {
        /// What it says it is; at most 100 characters.
        content_type: Box<str>,
    },
    /// The peer does not speak HTTP.
    #[error("answer is not HTTP")]
    NotHttp(#[source] hyper::Error),
    /// The connection broke before the run ended.
    #[error("connection broke before the run ended")]
    Cut(#[source] Option<hyper::Error>),
    /// Nothing came for too long.
    #[error("agent was silent for {silent_ms} ms")]
    Idle {
        /// The time that was given, in milliseconds.
        silent_ms: u64,
    },
    /// The event stream is not framed as it has to be, or a record is too large.
    #[error("event stream cannot be read")]
    Sse(#[from] SseError),
    /// The binary event stream is not framed as it has to be, or a frame is too large or no event.
    #[error("binary event stream cannot be read")]
    Proto(#[from] ProtoError),
    /// A record is no event, or a known event is malformed.
    #[error("event cannot be read")]
    Decode(#[from] DecodeError),
    /// The stream breaks a rule of the protocol.
    #[error("event stream breaks the protocol")]
    Violation(#[source] Violation),
    /// The stream ended, in good order as far as HTTP goes, without a terminal event.
    #[error("event stream ended before the run did")]
    Unterminated {
        /// The open run, if one was started.
        run_id: Option<RunId>,
    },
}

impl From<ExchangeError> for ClientError {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::InvalidUrl => Self::InvalidUrl,
            ExchangeError::TlsUnsupported => Self::TlsUnsupported,
            #[cfg(feature = "tls")]
            ExchangeError::TlsSetup(error) => Self::TlsSetup(error),
            #[cfg(feature = "tls")]
            ExchangeError::Tls(error) => Self::Tls(error),
            ExchangeError::Connect(error) => Self::Connect(error),
            ExchangeError::ClosedEarly => Self::ClosedEarly,
            ExchangeError::ConnectTimeout { after_ms } => Self::ConnectTimeout { after_ms },
            ExchangeError::AnswerTimeout { after_ms } => Self::Idle { silent_ms: after_ms },
            ExchangeError::NotHttp(error) => Self::NotHttp(error),
            ExchangeError::Cut(error) => Self::Cut(error),
            // The rest is asked of no agent: other machines may be, and bodies have no cap.
            _ => Self::Cut(None),
        }
    }
}

impl From<Violation> for ClientError {
    fn from(violation: Violation) -> Self {
        match violation {
            Violation::Unterminated { run_id } => Self::Unterminated { run_id },
            violation => Self::Violation(violation),
        }
    }
}

fn described(code: Option<&str>, message: Option<&str>) -> String {
    let parts: Vec<&str> = code.into_iter().chain(message).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(": ")) }
}
