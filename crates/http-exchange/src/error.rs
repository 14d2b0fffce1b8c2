use std::io;

/// Why there is no answer, or not all of it. Never holds the address or text of the peer.
///
/// Example: see [`Exchange`](crate::Exchange).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The address is no `http` or `https` URL, or holds credentials.
    #[error("address is not an http URL without credentials")]
    InvalidUrl,
    /// The address asks for TLS, which is the feature `tls`.
    #[error("https is not supported")]
    TlsUnsupported,
    /// TLS cannot be used on this machine.
    #[cfg(feature = "tls")]
    #[error("TLS cannot be set up")]
    TlsSetup(#[source] agui_tls::TlsError),
    /// The address is not on this machine, and the dialer goes nowhere else.
    #[error("address is not on this machine")]
    RemoteRefused,
    /// No TCP connection.
    #[error("could not connect")]
    Connect(#[source] io::Error),
    /// The peer could not prove who it is, or does not speak TLS.
    #[cfg(feature = "tls")]
    #[error("no trusted TLS connection")]
    Tls(#[source] io::Error),
    /// No connection in time.
    #[error("no connection within {after_ms} ms")]
    ConnectTimeout {
        /// How long was waited, in ms.
        after_ms: u64,
    },
    /// The peer closed the connection before the request was written.
    #[error("connection was closed before the request")]
    ClosedEarly,
    /// No head of an answer in time.
    #[error("no answer within {after_ms} ms")]
    AnswerTimeout {
        /// How long was waited, in ms.
        after_ms: u64,
    },
    /// The connection ended before the answer did.
    #[error("connection was cut")]
    Cut(#[source] Option<hyper::Error>),
    /// The peer's answer is no HTTP/1.
    #[error("answer is not HTTP/1")]
    NotHttp(#[source] hyper::Error),
    /// The body is larger than its cap.
    #[error("answer is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The cap, in bytes.
        limit_bytes: usize,
    },
}

impl From<hyper::Error> for ExchangeError {
    fn from(error: hyper::Error) -> Self {
        if error.is_parse() { Self::NotHttp(error) } else { Self::Cut(Some(error)) }
    }
}
