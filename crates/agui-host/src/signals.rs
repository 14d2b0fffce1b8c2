//! Stopping because somebody asks for it.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels `stop` at the first `SIGTERM` or `SIGINT`, and ends the process at the second one: whoever asks
/// twice does not want to wait.
///
/// Both are caught from the first poll on, which matters for the first process of a container: what it
/// does not catch never reaches it.
pub async fn stop_on_signal(stop: CancellationToken) {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals cannot be caught");
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    stop.cancel();
    tracing::info!("stopping");
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    std::process::exit(1);
}
