//! What the server can do to a connection.

use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::{ids, script};
use crate::wire::{State, final_text, iac, text_delta, timed_status};

/// How the end of a streamed body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// `Transfer-Encoding: chunked`, one chunk a step: a close without the last chunk is a cut.
    Chunked,
    /// Neither length nor chunks: a close looks like a proper end.
    UntilClose,
}

/// Line ends of the records that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Eol {
    /// `\r\n`, as the kernel sends them.
    Crlf,
    /// `\n`.
    Lf,
    /// `\r`.
    Cr,
}

impl Eol {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Crlf => "\r\n",
            Self::Lf => "\n",
            Self::Cr => "\r",
        }
    }
}

/// One step of an exchange.
///
/// When the steps are used up, an open body is ended properly and the connection stays open;
/// a connection without any response is closed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Step {
    /// The head of a response whose body follows in later steps.
    Head {
        /// HTTP status.
        status: u16,
        /// Headers beside those of the framing.
        headers: Vec<(String, String)>,
        /// How the body ends.
        framing: Framing,
    },
    /// A whole response with `Content-Length`.
    Complete {
        /// HTTP status.
        status: u16,
        /// Headers beside the length.
        headers: Vec<(String, String)>,
        /// The body; markers are replaced when it is UTF-8.
        body: Bytes,
    },
    /// A whole JSON response: the `result` of the request.
    Reply(Value),
    /// A whole JSON response: an `error` instead of a result.
    Error {
        /// JSON-RPC code.
        code: i32,
        /// JSON-RPC message.
        message: String,
        /// JSON-RPC data.
        data: Value,
    },
    /// A record with the `result` of the request.
    Result(Value),
    /// A record with `event: error` and a JSON-RPC error.
    ErrorEvent {
        /// JSON-RPC code.
        code: i32,
        /// JSON-RPC message.
        message: String,
    },
    /// A record with this data; every line gets a `data:` of its own.
    Datum(String),
    /// The first bytes of the record that [`Step::Result`] would send.
    Half {
        /// The result.
        result: Value,
        /// How many bytes of the record are sent.
        bytes: usize,
    },
    /// A comment record of the kernel's kind.
    Ping,
    /// Bytes of the body as they are; markers are replaced when they are UTF-8.
    Body(Bytes),
    /// Bytes of the connection as they are, outside any framing.
    Socket(Bytes),
    /// Changes the line ends of the records that follow.
    Eol(Eol),
    /// Waits.
    Sleep(Duration),
    /// Waits until the test releases that name.
    Await(String),
    /// Waits until that many requests of a kind have come, on any connection (at most 10 s).
    AwaitRequests {
        /// The kind, see [`LoggedRequest::kind`](crate::LoggedRequest::kind).
        kind: String,
        /// How many.
        count: usize,
    },
    /// Waits until the client leaves.
    Stall,
    /// Ends the body as HTTP says and waits for the next request.
    End,
    /// Closes the connection in an orderly way, whatever was sent before.
    Fin,
    /// Resets the connection.
    Rst,
}

impl Step {
    /// Head of an event stream with the headers of the kernel, chunked.
    #[must_use]
    pub fn sse() -> Self {
        Self::sse_framed(Framing::Chunked)
    }

    /// Head of an event stream with the headers of the kernel.
    #[must_use]
    pub fn sse_framed(framing: Framing) -> Self {
        let headers = [
            ("content-type", "text/event-stream; charset=utf-8"),
            ("cache-control", "no-store"),
            ("x-accel-buffering", "no"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self::Head { status: 200, headers: headers.into(), framing }
    }

    /// A whole response of any type.
    #[must_use]
    pub fn complete(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self::Complete { status, headers, body: body.into() }
    }

    /// A whole JSON response.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::complete(status, "application/json", body.to_string())
    }

    /// Adds a header to a [`Step::Head`] or [`Step::Complete`]; other steps stay as they are.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let Self::Head { headers, .. } | Self::Complete { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Compresses the body of a [`Step::Complete`] and says so; other steps stay as they are.
    #[must_use]
    pub fn gzipped(self) -> Self {
        match self {
            Self::Complete { status, headers, body } => {
                Self::Complete { status, headers, body: gzip(&body) }.with_header("content-encoding", "gzip")
            }
            other => other,
        }
    }

    /// A JSON-RPC error without data.
    #[must_use]
    pub fn error(code: i32, message: &str) -> Self {
        Self::Error { code, message: message.to_owned(), data: Value::Null }
    }

    /// A text delta of a normal turn.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Result(text_delta(&ids(), text))
    }

    /// A text delta of that many characters.
    #[must_use]
    pub fn huge(characters: usize) -> Self {
        Self::text(&"x".repeat(characters))
    }

    /// The end of a normal turn: the whole text again, and `INPUT_REQUIRED` without a question.
    #[must_use]
    pub fn turn_end(text: &str) -> Vec<Self> {
        let ids = ids();
        let end = timed_status(&ids, State::InputRequired, iac(&ids, json!({})));
        vec![Self::Result(final_text(&ids, text)), Self::Result(end)]
    }

    /// An event stream that starts as a normal turn does and goes on with `steps`.
    #[must_use]
    pub fn turn(steps: impl IntoIterator<Item = Self>) -> Vec<Self> {
        script::turn(steps)
    }

    /// A whole, well-behaved normal turn with one text.
    #[must_use]
    pub fn good_turn(text: &str) -> Vec<Self> {
        let mut steps = Self::turn([Self::text(text)]);
        steps.extend(Self::turn_end(text));
        steps
    }
}

fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail; should it, the body stays as it is.
    match encoder.write_all(bytes).and_then(|()| encoder.finish()) {
        Ok(packed) => packed.into(),
        Err(_) => Bytes::copy_from_slice(bytes),
    }
}
