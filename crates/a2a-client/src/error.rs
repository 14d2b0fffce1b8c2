use std::io;

use a2a_wire::DecodeError;
use http_exchange::ExchangeError;
use sse_frame::SseError;

use crate::RpcFailure;

/// Why a call or a stream failed.
///
/// Never holds text of the peer beyond status, code and a reason token of a safe alphabet, and never the
/// address or the token.
///
/// ```
/// use a2a_client::{Client, ClientConfig, ClientError, Delivery};
///
/// let error = Client::new(ClientConfig::new("ftp://127.0.0.1/")).unwrap_err();
/// assert!(matches!(error, ClientError::InvalidUrl));
/// assert_eq!(error.delivery(), Delivery::NotSent);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address is no `http` or `https` URL, or holds credentials.
    #[error("address is not a plain http URL")]
    InvalidUrl,
    /// The address asks for TLS, which is the feature `tls`.
    #[error("https is not supported")]
    TlsUnsupported,
    /// The address is not on this machine; see [`ClientConfig::allow_remote`](crate::ClientConfig::allow_remote).
    #[error("address is not on this machine")]
    RemoteRefused,
    /// The token or a header cannot be sent, or the header belongs to the client.
    #[error("header cannot be sent")]
    InvalidHeader,
    /// The request could not be written as JSON.
    #[error("request could not be encoded")]
    Encode(#[source] serde_json::Error),
    /// No TCP connection.
    #[error("could not connect")]
    Connect(#[source] io::Error),
    /// TLS cannot be used on this machine.
    #[cfg(feature = "tls")]
    #[error("TLS cannot be set up")]
    TlsSetup(#[source] agui_tls::TlsError),
    /// The peer could not prove who it is, or does not speak TLS.
    #[cfg(feature = "tls")]
    #[error("no trusted TLS connection")]
    Tls(#[source] io::Error),
    /// No TCP connection in time.
    #[error("no connection within {after_ms} ms")]
    ConnectTimeout {
        /// How long was waited, in ms.
        after_ms: u64,
    },
    /// The peer closed the connection before the request was written.
    #[error("connection was closed before the request")]
    ClosedEarly,
    /// The connection ended before the answer did.
    #[error("connection was cut")]
    Cut(#[source] Option<hyper::Error>),
    /// The peer's answer is no HTTP/1.
    #[error("answer is not HTTP/1")]
    NotHttp(#[source] hyper::Error),
    /// No answer in time.
    #[error("no answer within {after_ms} ms")]
    Timeout {
        /// How long was waited, in ms.
        after_ms: u64,
    },
    /// A stream was silent for too long.
    #[error("stream was silent for {silent_ms} ms")]
    Idle {
        /// How long was waited, in ms.
        silent_ms: u64,
    },
    /// HTTP 401: the token is missing or wrong.
    #[error("not authorized (HTTP 401)")]
    Unauthorized,
    /// HTTP 403: the token is known and not enough.
    #[error("forbidden (HTTP 403)")]
    Forbidden,
    /// HTTP 429: too many requests.
    #[error("too many requests (HTTP 429)")]
    RateLimited {
        /// The answer's `Retry-After`, in seconds; `None` if absent or a date.
        retry_after_s: Option<u32>,
    },
    /// A redirect; it is not followed, because the token would go with it.
    #[error("redirected (HTTP {status})")]
    Redirect {
        /// HTTP status.
        status: u16,
    },
    /// Any other HTTP status that is no success.
    #[error("{0}")]
    Http(HttpFailure),
    /// A success without the content that was asked for: an HTML page, or nothing at all.
    #[error("unexpected content (HTTP {status})")]
    UnexpectedContent {
        /// HTTP status.
        status: u16,
    },
    /// The answer is compressed although that was not offered.
    #[error("answer is compressed")]
    Compressed,
    /// A JSON-RPC error.
    #[error("{0}")]
    Rpc(RpcFailure),
    /// The address has no agent card.
    #[error("no agent card was found at the address")]
    NoCard,
    /// The agent card names no interface that this client can talk to.
    #[error("the agent card offers {offers}, and only JSON-RPC of A2A 1.0 or 0.3 is supported")]
    NoInterface {
        /// What it offers instead, in words of this crate.
        offers: &'static str,
    },
    /// The agent card names an interface at another address, where the token must not be sent.
    #[error("the agent card sends its clients to another host, where the token is not sent")]
    ForeignInterface,
    /// The agent card names an interface on another host or port than that of the address; see
    /// [`discover`](crate::discover).
    #[error("the agent card sends its clients to another host or port than the one that was given")]
    InterfaceElsewhere,
    /// The answer could not be read as A2A.
    #[error("answer could not be decoded")]
    Decode(#[from] DecodeError),
    /// A datum or body is larger than its cap.
    #[error("answer is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The cap, in bytes.
        limit_bytes: usize,
    },
}

/// Could the peer have acted on a request that failed?
///
/// Example: see [`ClientError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delivery {
    /// No: it was never sent.
    NotSent,
    /// No: the peer refused it before doing anything.
    Refused,
    /// Perhaps.
    Unknown,
}

impl ClientError {
    /// Whether the peer could have acted on the request, which decides if sending it again is safe.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        match self {
            Self::InvalidUrl
            | Self::TlsUnsupported
            | Self::RemoteRefused
            | Self::InvalidHeader
            | Self::NoCard
            | Self::NoInterface { .. }
            | Self::ForeignInterface
            | Self::InterfaceElsewhere
            | Self::Encode(_)
            | Self::Connect(_)
            | Self::ConnectTimeout { .. }
            | Self::ClosedEarly => Delivery::NotSent,
            #[cfg(feature = "tls")]
            Self::TlsSetup(_) | Self::Tls(_) => Delivery::NotSent,
            Self::Unauthorized | Self::Forbidden | Self::RateLimited { .. } | Self::Redirect { .. } => {
                Delivery::Refused
            }
            Self::Http(failure) => failure.delivery(),
            Self::Rpc(failure) => failure.delivery(),
            Self::Cut(_)
            | Self::NotHttp(_)
            | Self::Timeout { .. }
            | Self::Idle { .. }
            | Self::UnexpectedContent { .. }
            | Self::Compressed
            | Self::Decode(_)
            | Self::TooLarge { .. } => Delivery::Unknown,
        }
    }

    /// The JSON-RPC failure, if that is what it is.
    #[must_use]
    pub const fn rpc(&self) -> Option<&RpcFailure> {
        match self {
            Self::Rpc(failure) => Some(failure),
            _ => None,
        }
    }
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
            ExchangeError::RemoteRefused => Self::RemoteRefused,
            ExchangeError::Connect(error) => Self::Connect(error),
            ExchangeError::ConnectTimeout { after_ms } => Self::ConnectTimeout { after_ms },
            ExchangeError::ClosedEarly => Self::ClosedEarly,
            ExchangeError::AnswerTimeout { after_ms } => Self::Timeout { after_ms },
            ExchangeError::Cut(error) => Self::Cut(error),
            ExchangeError::NotHttp(error) => Self::NotHttp(error),
            ExchangeError::TooLarge { limit_bytes } => Self::TooLarge { limit_bytes },
            _ => Self::Cut(None),
        }
    }
}

impl From<SseError> for ClientError {
    fn from(error: SseError) -> Self {
        match error {
            SseError::TooLarge { limit_bytes } => Self::TooLarge { limit_bytes },
            _ => Self::Cut(None),
        }
    }
}

/// An HTTP status that has no variant of its own.
///
/// Example: see [`ClientError`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpFailure {
    /// HTTP status.
    pub status: u16,
    /// The answer's `Retry-After`, in seconds; `None` if absent or a date.
    pub retry_after_s: Option<u32>,
    /// Code of the error in a JSON body, for example `SESSION_BACKUP_NOT_READY`.
    pub data_code: Option<Box<str>>,
    /// Whether the body says that trying again helps.
    pub retryable: bool,
}

impl HttpFailure {
    fn delivery(&self) -> Delivery {
        match self.status {
            // A proxy or the server itself may have failed after the work was done; 408 and 425 say
            // nothing about that either.
            408 | 425 | 500.. => Delivery::Unknown,
            _ => Delivery::Refused,
        }
    }
}

impl std::fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HTTP {}", self.status)?;
        match &self.data_code {
            Some(code) => write!(f, " ({code})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(status: u16) -> ClientError {
        ClientError::Http(HttpFailure { status, retry_after_s: None, data_code: None, retryable: false })
    }

    #[test]
    fn delivery_is_unknown_unless_the_request_surely_had_no_effect() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let cases = [
            (ClientError::TlsUnsupported, Delivery::NotSent),
            (ClientError::Connect(refused), Delivery::NotSent),
            (ClientError::ConnectTimeout { after_ms: 1 }, Delivery::NotSent),
            (ClientError::ClosedEarly, Delivery::NotSent),
            (ClientError::Unauthorized, Delivery::Refused),
            (ClientError::RateLimited { retry_after_s: Some(2) }, Delivery::Refused),
            (ClientError::Redirect { status: 302 }, Delivery::Refused),
            (http(404), Delivery::Refused),
            (http(409), Delivery::Refused),
            (http(408), Delivery::Unknown),
            (http(502), Delivery::Unknown),
            (ClientError::Cut(None), Delivery::Unknown),
            (ClientError::Timeout { after_ms: 1 }, Delivery::Unknown),
            (ClientError::Idle { silent_ms: 1 }, Delivery::Unknown),
            (ClientError::UnexpectedContent { status: 204 }, Delivery::Unknown),
            (ClientError::Decode(DecodeError::NotAReply), Delivery::Unknown),
            (ClientError::TooLarge { limit_bytes: 1 }, Delivery::Unknown),
        ];
        for (error, delivery) in cases {
            assert_eq!(error.delivery(), delivery, "{error}");
        }
    }

    #[test]
    fn http_failure_shows_status_and_code() {
        let failure = HttpFailure {
            status: 409,
            retry_after_s: None,
            data_code: Some("SESSION_BACKUP_NOT_READY".into()),
            retryable: true,
        };
        assert_eq!(ClientError::Http(failure).to_string(), "HTTP 409 (SESSION_BACKUP_NOT_READY)");
        assert_eq!(http(502).to_string(), "HTTP 502");
    }
}
