//! A server that listens.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use agui_core::Agent;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::activity::Activity;
use crate::gate::Gate;
use crate::serve;
use crate::{ServerBuilder, Stopped};

/// An AG-UI server that listens and is ready to serve.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use agui_transport::{CancellationToken, Server, ServerError, Stopped};
///
/// # async fn main_of(agent: impl agui_core::Agent, shutdown: CancellationToken) -> Result<(), ServerError> {
/// let server = Server::builder(Arc::new(agent)).bind(([127, 0, 0, 1], 0).into()).await?;
/// println!("http://{}/", server.local_addr());
/// let activity = server.activity();
///
/// let stopped = server.serve(shutdown).await; // until the token is cancelled
/// assert_eq!((stopped, activity.streams()), (Stopped::Clean, 0));
/// # Ok(())
/// # }
/// ```
///
/// Source: S1.1, S1.2.
pub struct Server {
    gate: Arc<Gate>,
    listener: TcpListener,
    addr: SocketAddr,
}

impl Server {
    /// A server for `agent` with the defaults of a local one: runs at `/`, health at `/health`, no
    /// authentication, loopback only.
    pub fn builder(agent: Arc<dyn Agent>) -> ServerBuilder {
        ServerBuilder::new(agent)
    }

    pub(crate) fn new(gate: Gate, listener: TcpListener, addr: SocketAddr) -> Self {
        Self { gate: Arc::new(gate), listener, addr }
    }

    /// The address that is listened on.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// What goes on right now; stays valid while the server serves.
    #[must_use]
    pub fn activity(&self) -> Activity {
        self.gate.activity.clone()
    }

    /// Serves until `shutdown` is cancelled, and then until everything that was open has ended or
    /// [`Timeouts::shutdown`](crate::Timeouts::shutdown) is over.
    ///
    /// The agent is not told about the shutdown; give it the same token, so that it ends its runs
    /// with a terminal event. A stream that it leaves open gets a `RUN_ERROR` at the end.
    ///
    /// When this future is dropped, all connections are closed at once.
    pub async fn serve(self, shutdown: CancellationToken) -> Stopped {
        tracing::info!(addr = %self.addr, "listening");
        serve::run(self.gate, self.listener, &shutdown).await
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("addr", &self.addr).finish_non_exhaustive()
    }
}
