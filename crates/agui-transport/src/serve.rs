//! Accepting connections, and stopping.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::connection;
use crate::gate::{Gate, Seat, Stop};

/// Connections over the cap that are told so at a time; more wait in the system's queue.
const STANDING_CONNECTIONS: usize = 64;

/// Pause after the system could not give a new connection, commonly for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long streams may take for their last word when the shutdown time is over.
const LAST_CALL: Duration = Duration::from_secs(1);

/// How a server stopped.
///
/// Example: see [`Server`](crate::Server).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stopped {
    /// All requests had been answered in time.
    Clean,
    /// The shutdown time ran out and what was still open was cut off.
    Forced,
}

/// Serves until `shutdown` is cancelled, then ends what is open.
pub(crate) async fn run(gate: Arc<Gate>, listener: TcpListener, shutdown: &CancellationToken) -> Stopped {
    // Nothing outlives the server, also if this future is dropped.
    let Stop { asked, last_call, now } = gate.stop.clone();
    let _guards = [asked, last_call, now].map(CancellationToken::drop_guard);
    tokio::select! {
        () = accept(&gate, &listener) => {}
        () = shutdown.cancelled() => {}
    }
    drop(listener);
    tracing::info!(
        connections = gate.activity.connections(),
        streams = gate.activity.streams(),
        "shutting down"
    );
    wind_down(&gate).await
}

/// Ends what is open: what has been begun may take its time, within bounds.
pub(crate) async fn wind_down(gate: &Gate) -> Stopped {
    gate.stop.asked.cancel();
    gate.tasks.close();
    if timeout(gate.timeouts.shutdown, gate.tasks.wait()).await.is_ok() {
        return Stopped::Clean;
    }
    gate.stop.last_call.cancel();
    let last_words = timeout(LAST_CALL, gate.tasks.wait()).await;
    gate.stop.now.cancel();
    if last_words.is_err() {
        // What is left are tasks that drop everything at their next poll, and blocking work.
        let _ = timeout(LAST_CALL, gate.tasks.wait()).await;
    }
    Stopped::Forced
}

/// Takes connections for ever.
async fn accept(gate: &Arc<Gate>, listener: &TcpListener) {
    let regular = Arc::new(Semaphore::new(gate.limits.max_connections.min(Semaphore::MAX_PERMITS)));
    let standing = Arc::new(Semaphore::new(STANDING_CONNECTIONS));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) if is_of_one_connection(&error) => continue,
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (seat, permit) = take_seat(&regular, &standing).await;
        let gate_of_connection = Arc::clone(gate);
        gate.tasks.spawn(connection::serve(gate_of_connection, stream, seat, permit));
    }
}

async fn take_seat(
    regular: &Arc<Semaphore>,
    standing: &Arc<Semaphore>,
) -> (Seat, Option<OwnedSemaphorePermit>) {
    match Arc::clone(regular).try_acquire_owned() {
        Ok(permit) => (Seat::Regular, Some(permit)),
        // The wait is bounded by the life of a standing connection.
        Err(_) => (Seat::Standing, Arc::clone(standing).acquire_owned().await.ok()),
    }
}

/// Whether the error belongs to the connection that was to be accepted, not to the listener.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
    )
}
