//! A run in flight, as others see it: who it is, and a switch to stop it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agui_store::{ExecutionId, InvocationId};
use tokio::sync::watch;
use tokio::time::timeout;

/// Why a run has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// Somebody with the right ids asked for it (S10).
    Cancel,
    /// The last reader of its events has gone (S12.2).
    Disconnect,
    /// The server goes down.
    Shutdown,
}

/// What became of a request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopOutcome {
    /// The kernel's task was cancelled, or there was none yet and there will be none.
    Cancelled,
    /// The run had ended by itself.
    AlreadyTerminal,
    /// The kernel could not be told.
    KernelUnavailable,
    /// The agent was told and does not cancel.
    Refused,
}

/// A run in flight.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) execution_id: ExecutionId,
    pub(crate) invocation_id: InvocationId,
    pipeline: AtomicBool,
    stop: watch::Sender<Option<StopReason>>,
    outcome: watch::Sender<Option<StopOutcome>>,
}

impl Active {
    pub(crate) fn new(execution_id: ExecutionId, invocation_id: InvocationId) -> Self {
        Self {
            execution_id,
            invocation_id,
            pipeline: AtomicBool::new(false),
            stop: watch::Sender::new(None),
            outcome: watch::Sender::new(None),
        }
    }

    /// Whether a pipeline works for this run, as far as the kernel has told.
    pub(crate) fn is_pipeline(&self) -> bool {
        self.pipeline.load(Ordering::Relaxed)
    }

    pub(crate) fn mark_pipeline(&self) {
        self.pipeline.store(true, Ordering::Relaxed);
    }

    /// Asks the run to stop; the first reason stays.
    pub(crate) fn request_stop(&self, reason: StopReason) {
        self.stop.send_if_modified(|stop| {
            let first = stop.is_none();
            if first {
                *stop = Some(reason);
            }
            first
        });
    }

    /// Asks the run to stop and waits for what came of it. Any number of callers get the same answer.
    ///
    /// `None`: no answer within `within`.
    pub(crate) async fn stop(&self, reason: StopReason, within: Duration) -> Option<StopOutcome> {
        let mut outcome = self.outcome.subscribe();
        self.request_stop(reason);
        let answer = timeout(within, outcome.wait_for(Option::is_some)).await.ok()?;
        answer.ok().and_then(|outcome| *outcome)
    }

    /// Resolves when somebody asked the run to stop. Cancel-safe.
    pub(crate) async fn stopping(&self) -> StopReason {
        let mut stop = self.stop.subscribe();
        match stop.wait_for(Option::is_some).await.map(|reason| *reason) {
            Ok(Some(reason)) => reason,
            // The sender lives in `self`: it cannot be gone.
            _ => std::future::pending().await,
        }
    }

    pub(crate) fn stop_requested(&self) -> Option<StopReason> {
        *self.stop.borrow()
    }

    /// Tells those who asked what came of it; the first answer stays.
    pub(crate) fn settle(&self, outcome: StopOutcome) {
        self.outcome.send_if_modified(|settled| {
            let first = settled.is_none();
            if first {
                *settled = Some(outcome);
            }
            first
        });
    }

    /// The run is over: whoever still waits learns that there was nothing left to stop.
    pub(crate) fn ended(&self) {
        self.settle(StopOutcome::AlreadyTerminal);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn active() -> Arc<Active> {
        Arc::new(Active::new("e".into(), "i".into()))
    }

    #[tokio::test]
    async fn two_requests_get_one_answer_and_the_first_reason_stays() {
        let run = active();
        let ask = |reason| {
            let run = Arc::clone(&run);
            tokio::spawn(async move { run.stop(reason, Duration::from_secs(5)).await })
        };
        let first = ask(StopReason::Cancel);
        assert_eq!(run.stopping().await, StopReason::Cancel);
        let second = ask(StopReason::Disconnect);
        tokio::task::yield_now().await;
        assert_eq!(run.stop_requested(), Some(StopReason::Cancel));

        run.settle(StopOutcome::Cancelled);
        run.ended();
        assert_eq!(first.await.unwrap(), Some(StopOutcome::Cancelled));
        assert_eq!(second.await.unwrap(), Some(StopOutcome::Cancelled));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_never_answers_does_not_hold_its_caller() {
        assert_eq!(active().stop(StopReason::Cancel, Duration::from_secs(1)).await, None);
    }

    #[tokio::test]
    async fn a_run_that_ended_says_so() {
        let run = active();
        run.ended();
        let outcome = run.stop(StopReason::Cancel, Duration::from_secs(5)).await;
        assert_eq!(outcome, Some(StopOutcome::AlreadyTerminal));
    }
}
