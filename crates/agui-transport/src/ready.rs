//! A server in one line.

use std::net::SocketAddr;
use std::sync::Arc;

use agui_core::Agent;
use tokio_util::sync::CancellationToken;

use crate::{Server, ServerError, Stopped};

/// Serves `agent` on `addr` until the process is told to stop, by Ctrl-C or SIGTERM.
///
/// Runs are posted to `/`, health is at `/health`, and every bound has its default; use
/// [`Server::builder`] for anything else. Told to stop, the server ends what is open as
/// [`Server::serve`] does; told a second time, at once.
///
/// # Errors
/// [`ServerError`] if the address cannot be had, or if others can reach it: that takes
/// [authentication](crate::ServerBuilder::authenticator) or
/// [a decision against it](crate::ServerBuilder::allow_public_without_auth).
///
/// ```no_run
/// # async fn main_of(agent: impl agui_core::Agent) -> Result<(), agui_transport::ServerError> {
/// agui_transport::serve(agent, ([127, 0, 0, 1], 8000)).await?;
/// # Ok(())
/// # }
/// ```
pub async fn serve(agent: impl Agent, addr: impl Into<SocketAddr>) -> Result<Stopped, ServerError> {
    let mut signals = Signals::listen().map_err(ServerError::Signals)?;
    let server = Server::builder(Arc::new(agent)).bind(addr.into()).await?;
    let shutdown = CancellationToken::new();
    let serving = server.serve(shutdown.clone());
    // Dropping what serves closes every connection, so each branch leaves nothing behind.
    tokio::select! {
        stopped = serving => Ok(stopped),
        () = async {
            signals.next().await;
            shutdown.cancel();
            signals.next().await;
        } => Ok(Stopped::Forced),
    }
}

/// The ways in which a process is told to stop.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// The ways in which a process is told to stop.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    const fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "cannot listen for Ctrl-C");
            std::future::pending::<()>().await;
        }
    }
}
