//! What can go wrong while a test kit server starts or a test client talks.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Failure of the test kit itself, never of the program under test.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestkitError {
    /// The address is taken or not allowed.
    #[error("cannot listen on {addr}")]
    Bind {
        /// The address that was asked for.
        addr: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A fixture cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A line of a trace is not JSON.
    #[error("line {line} of {} is not JSON", path.display())]
    TraceLine {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What the parser said.
        #[source]
        source: serde_json::Error,
    },
    /// A line of a trace lacks a field, or the field has another type.
    #[error("exchange {seq} of the trace has no usable `{field}`")]
    TraceField {
        /// Number of the exchange, 0 if even that is missing.
        seq: u64,
        /// Name of the field.
        field: &'static str,
    },
    /// The trace has no exchange that can be served this way.
    #[error("the trace has no event stream to serve")]
    NoStream,
    /// A model script is not JSON or has a member of another type.
    #[error("the model script is invalid")]
    Script(#[source] serde_json::Error),
    /// A model script uses more of the regular expression language than the matcher knows.
    #[error("the pattern of a model script uses `{0}`, only literals, `.*` and `|` are supported")]
    Pattern(char),
    /// A URL is not `http://host:port`.
    #[error("not an http URL with a port")]
    Url,
    /// The connection failed.
    #[error("the connection failed")]
    Io(#[from] io::Error),
    /// HTTP failed on an open connection.
    #[error("the HTTP exchange failed")]
    Http(#[from] hyper::Error),
    /// A request could not be built.
    #[error("the request cannot be built")]
    Request(#[from] http::Error),
    /// A body is not the JSON that the caller asked for.
    #[error("the body is not JSON")]
    Json(#[from] serde_json::Error),
    /// Something that a test waits for did not happen in time.
    #[error("waited {waited_s} s for {what}")]
    Deadline {
        /// What did not happen.
        what: &'static str,
        /// How long the wait was, in seconds.
        waited_s: u64,
    },
}
