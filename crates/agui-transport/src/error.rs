//! What can go wrong before the server serves.

use std::io;
use std::net::SocketAddr;

/// A server that cannot be set up as asked.
///
/// ```
/// use std::sync::Arc;
///
/// use agui_transport::{Server, ServerError};
///
/// # async fn listen(agent: impl agui_core::Agent) {
/// let refused = Server::builder(Arc::new(agent)).bind(([0, 0, 0, 0], 8000).into()).await;
/// assert!(matches!(refused, Err(ServerError::PublicWithoutAuth { .. })));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address is reachable from other machines and nobody would have to prove anything.
    #[error("refusing to listen on {addr} without authentication")]
    PublicWithoutAuth {
        /// The address that was asked for.
        addr: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}")]
    Bind {
        /// The address that was asked for.
        addr: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The system does not tell when the process is to stop.
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    /// A listener that was handed over does not tell its address.
    #[error("the listener has no address")]
    Listener(#[source] io::Error),
    /// Two routes take the same method and path, or a path pattern is malformed.
    #[error("the route {path} cannot be added: {reason}")]
    Route {
        /// The path pattern.
        path: Box<str>,
        /// Why.
        reason: RouteProblem,
    },
    /// An allowed origin that no browser would send: not `scheme://host[:port]`.
    #[error("{origin} is not an origin")]
    Origin {
        /// What was configured.
        origin: Box<str>,
    },
    /// An allowed host that is not a bare host name or address.
    #[error("{host} is not a host name")]
    Host {
        /// What was configured.
        host: Box<str>,
    },
}

/// Why a route was not taken.
///
/// Example: see [`ServerError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteProblem {
    /// The pattern is malformed or collides with another pattern.
    #[error("malformed or in conflict with another pattern")]
    Pattern,
    /// The method is taken already on this path.
    #[error("the method is taken already")]
    MethodTaken,
}
