//! From a run into its log, and from the log to the client that started the run.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use agui_core::{OVERRUN_FACTOR, RunLimits, RunSink, RunStream, run_channel};
use agui_i18n::Language;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::log::{Follower, LOG_MAX_BYTES, LOG_MAX_EVENTS, Step};
use super::logs::{LogGuard, RunKey};
use crate::active::{Active, StopReason};
use crate::adapter::Shared;
use crate::config::OnDisconnect;
use crate::notice::run_error;

/// What may wait for the client that started a run, beyond what the log holds for it.
const CLIENT_LIMITS: RunLimits = RunLimits::new(2_048, 1_048_576);

// At a shutdown everything that is left in the log is sent at once.
const _: () = assert!(LOG_MAX_EVENTS + CLIENT_LIMITS.max_events < CLIENT_LIMITS.max_events * OVERRUN_FACTOR);
const _: () = assert!(LOG_MAX_BYTES + CLIENT_LIMITS.max_bytes < CLIENT_LIMITS.max_bytes * OVERRUN_FACTOR);

/// What the client gets to read of `run`, so that the run goes on without it as far as the policy says.
///
/// `active` is what is stopped when nobody reads for too long; without it the run goes on to its end.
pub(crate) fn relay(
    shared: &Arc<Shared>,
    key: RunKey,
    active: Option<Arc<Active>>,
    language: Language,
    run: RunStream,
) -> RunStream {
    let patience = match shared.config.on_disconnect {
        OnDisconnect::Cancel => return run,
        OnDisconnect::Grace(time) => Some(time),
        OnDisconnect::Detach => None,
    };
    let (sink, stream) = run_channel(key.thread_id.clone(), key.run_id.clone(), CLIENT_LIMITS);
    let guard = shared.logs.begin(key);
    if let Some(client) = guard.log.follow(0) {
        shared.tasks.spawn(show(client, sink, language, shared.shutdown.clone()));
    }
    let abandoned = Abandoned { patience, active, places: Arc::clone(&shared.unattended) };
    shared.tasks.spawn(record(run, guard, abandoned, shared.shutdown.clone()));
    stream
}

/// What happens when nobody reads.
struct Abandoned {
    /// How long nobody may read; `None` for any time.
    patience: Option<Duration>,
    active: Option<Arc<Active>>,
    /// Runs that may go on without a reader, beside those that do.
    places: Arc<Semaphore>,
}

/// Records a run to its end, whether somebody reads or not, and keeps the record for a while.
async fn record(mut run: RunStream, guard: LogGuard, abandoned: Abandoned, shutdown: CancellationToken) {
    {
        let mut lapse = std::pin::pin!(lapse(&guard, &abandoned));
        let mut batch = Vec::new();
        let mut lapsed = false;
        loop {
            let more = tokio::select! {
                // Both are cancel-safe. A run that never pauses must not hide that nobody reads it.
                biased;
                // Reading goes on after it: how the run ends belongs into the log.
                () = &mut lapse, if !lapsed => {
                    lapsed = true;
                    continue;
                }
                more = poll_fn(|cx| run.poll_batch(cx, &mut batch)) => more,
            };
            guard.log.append(&mut batch);
            if !more {
                break;
            }
            // The kernel waits while no reader keeps up. At a shutdown nobody is waited for.
            shutdown.run_until_cancelled(guard.log.room()).await;
        }
    }
    drop((run, abandoned));
    guard.linger(&shutdown).await;
}

/// Stops the run once it has to stop for want of a reader. Until then it has one of the places of those that nobody
/// reads, whenever nobody reads it.
async fn lapse(guard: &LogGuard, abandoned: &Abandoned) {
    let Some(active) = &abandoned.active else { return std::future::pending().await };
    loop {
        guard.log.deserted_for(Duration::ZERO).await;
        let Ok(_place) = abandoned.places.try_acquire() else {
            let execution = &active.execution_id;
            tracing::warn!(%execution, "too many runs go on without a reader: this one is cancelled");
            break;
        };
        let over = async {
            match abandoned.patience {
                Some(patience) => guard.log.deserted_for(patience).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // Both are cancel-safe.
            () = over => break,
            () = guard.log.attended() => {}
        }
    }
    active.request_stop(StopReason::Disconnect);
}

/// Shows a run to the client that started it until one of them ends.
async fn show(mut client: Follower, mut sink: RunSink, language: Language, shutdown: CancellationToken) {
    loop {
        let step = tokio::select! {
            // Both are cancel-safe.
            biased;
            () = sink.closed() => return,
            step = client.next() => step,
        };
        match step {
            Some(Step::Event(_, event)) => {
                sink.send(Arc::unwrap_or_clone(event));
            }
            Some(Step::Gap { .. }) => {
                sink.send(run_error(language, &super::gap()));
                return;
            }
            None => return,
        }
        // At a shutdown nobody is waited for: what is left is not more than the log.
        shutdown.run_until_cancelled(sink.ready()).await;
    }
}
