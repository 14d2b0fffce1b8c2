//! The task of one run: from the agent into the log.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;

use agui_core::{CANCELLED, Event, Outcome, RunError, RunFinished, RunRequest, RunStream};
use agui_i18n::Language;
use agui_iac_code::ErrorCode;
use tracing::info;

use super::Shared;
use super::config::Abandon;
use super::log::Log;
use super::table::{Entry, RunKey};
use crate::text;

/// Why a run is ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Somebody asked for it.
    Cancelled,
    /// Nobody has read it for too long.
    Deserted,
    ShuttingDown,
}

/// Has the agent do the run, and fills the log whether somebody reads or not.
pub(super) async fn run(shared: Arc<Shared>, entry: Entry, request: RunRequest) {
    let language = text::language_of(&request);
    let key = RunKey::new(&request.input.thread_id, &request.input.run_id);
    let is_legacy_peer = request.input.protocol_version.is_none();
    let log = Arc::clone(&entry.log);
    let mut stop = Box::pin(stopped(&shared, &entry));
    let admitted = tokio::select! {
        // An agent that is left while it decides hears of it by the drop.
        biased;
        reason = &mut stop => Err(reason),
        run = shared.agent.run(request) => Ok(run),
    };
    let stopped = match admitted {
        Ok(Ok(run)) => {
            log.admit();
            record(run, &log, stop.as_mut()).await
        }
        Ok(Err(problem)) => {
            drop(stop);
            return entry.refuse(problem);
        }
        Err(Stop::ShuttingDown) => {
            drop(stop);
            return entry.refuse(text::problem(language, ErrorCode::ShuttingDown));
        }
        Err(reason) => {
            log.admit();
            Some(reason)
        }
    };
    drop(stop);
    if let Some(reason) = stopped {
        let (thread_id, run_id) = (text::shown(key.thread_id.as_str()), text::shown(key.run_id.as_str()));
        info!(thread_id, run_id, ?reason, "run stopped");
        log.append(&mut vec![last_event(reason, key, is_legacy_peer, language)]);
    }
    entry.finish();
}

/// Resolves when the run has to end.
async fn stopped(shared: &Shared, entry: &Entry) -> Stop {
    let deserted = async {
        match shared.config.abandon {
            Abandon::AtOnce => entry.log.deserted_for(std::time::Duration::ZERO).await,
            Abandon::After(time) => entry.log.deserted_for(time).await,
            Abandon::Never => pending().await,
        }
    };
    tokio::select! {
        // All are cancel-safe, and none is asked again.
        biased;
        () = entry.cancel.cancelled() => Stop::Cancelled,
        () = shared.stop.cancelled() => Stop::ShuttingDown,
        () = deserted => Stop::Deserted,
    }
}

/// Fills the log up to the terminal event, or tells why it has none.
async fn record(
    mut run: RunStream,
    log: &Log,
    mut stop: Pin<&mut impl Future<Output = Stop>>,
) -> Option<Stop> {
    let mut batch = Vec::new();
    loop {
        let more = tokio::select! {
            // Both are cancel-safe. A run that never pauses must not hide that it has to end.
            biased;
            reason = &mut stop => return Some(reason),
            more = poll_fn(|cx| run.poll_batch(cx, &mut batch)) => more,
        };
        let has_ended = batch.last().is_some_and(is_terminal);
        log.append(&mut batch);
        if !more || has_ended {
            return None;
        }
        tokio::select! {
            biased;
            reason = &mut stop => return Some(reason),
            // The agent waits while no reader keeps up.
            () = log.room() => {}
        }
    }
}

const fn is_terminal(event: &Event) -> bool {
    matches!(event, Event::RunFinished(_) | Event::RunError(_))
}

/// How a run ends that was stopped. What is open is closed by the sink of each reader.
fn last_event(reason: Stop, key: RunKey, is_legacy_peer: bool, language: Language) -> Event {
    match reason {
        Stop::ShuttingDown => text::run_error(language, ErrorCode::ShuttingDown).into(),
        // A client of 0.x does not know the outcome.
        Stop::Cancelled | Stop::Deserted if is_legacy_peer => {
            let told = text::run_error(language, ErrorCode::Cancelled);
            RunError::new(told.message).with_code(CANCELLED).into()
        }
        Stop::Cancelled | Stop::Deserted => {
            RunFinished::new(key.thread_id, key.run_id).with_outcome(Outcome::Cancelled).into()
        }
    }
}
