//! Stopping because nobody asks for anything.

use std::time::Duration;

use agui_adapter::Adapter;
use tokio_util::sync::CancellationToken;

/// How often an idle server looks whether it may stop, at most and at least.
const IDLE_POLL: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Cancels `stop` when nothing has run and nobody has been waited for `idle` long.
pub async fn stop_when_idle(idle: Duration, adapter: Adapter, stop: CancellationToken) {
    let pause = (idle / 4).clamp(IDLE_POLL.0, IDLE_POLL.1);
    let mut since = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(pause).await;
        if !adapter.is_idle() {
            since = tokio::time::Instant::now();
        } else if since.elapsed() >= idle {
            tracing::info!("idle for long enough");
            stop.cancel();
            return;
        }
    }
}
