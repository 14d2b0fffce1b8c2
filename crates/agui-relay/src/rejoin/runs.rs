use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use agui_core::{RunId, ThreadId};
use tokio::sync::watch;

use super::requester::Requester;
use super::table::{Lookup, RunKey, Table};

/// The runs of a [`Rejoin`](super::Rejoin) that go on. Clones see the same runs.
///
/// Example: see [`Rejoin`](crate::Rejoin).
#[derive(Debug, Clone)]
pub struct LiveRuns {
    table: Arc<Table>,
    /// Whose runs they are; `None` for everybody's.
    by: Option<Requester>,
}

/// A run that goes on.
///
/// Example: see [`Rejoin`](crate::Rejoin).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveRun {
    /// Its thread.
    pub thread_id: ThreadId,
    /// Its id.
    pub run_id: RunId,
    /// How long ago it was asked for.
    pub age: Duration,
    /// How many read it.
    pub readers: usize,
    /// Events so far.
    pub events: usize,
}

/// What became of the wish to cancel a run.
///
/// Example: see [`Rejoin`](crate::Rejoin).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelOutcome {
    /// It is being stopped; its readers see its end within milliseconds.
    Cancelled,
    /// It had ended already.
    AlreadyEnded,
    /// There is no such run, or it ended too long ago.
    Unknown,
}

impl LiveRuns {
    pub(super) const fn new(table: Arc<Table>) -> Self {
        Self { table, by: None }
    }

    /// Those of whoever sends these headers, names in lower case: other runs can be neither found, listed nor
    /// cancelled by it. [`count`](Self::count) and [`watch`](Self::watch) are about all runs still.
    ///
    /// Whose a run is, is said by [`RejoinConfig::requester`](super::RejoinConfig::requester).
    ///
    /// ```
    /// use agui_relay::{CancelOutcome, Rejoin, RejoinConfig};
    ///
    /// fn cancel(agent: &Rejoin, request: &agui_core::RunRequest) -> CancelOutcome {
    ///     let own = agent.runs().asked_for_by(&request.headers);
    ///     own.cancel(&request.input.thread_id, &"run-1".into())
    /// }
    /// ```
    #[must_use]
    pub fn asked_for_by(&self, headers: &[(Box<str>, Box<str>)]) -> Self {
        Self { table: Arc::clone(&self.table), by: Some(self.table.requester(headers)) }
    }

    /// How many runs go on. A run that waits for an answer does not.
    #[must_use]
    pub fn count(&self) -> usize {
        *self.table.live_count().borrow()
    }

    /// The count as it changes.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<usize> {
        self.table.live_count().subscribe()
    }

    /// The runs, the oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<LiveRun> {
        let live = self.table.live(self.by).into_iter().map(|live| {
            let (readers, events) = live.log.counts();
            let RunKey { thread_id, run_id } = live.key;
            LiveRun { thread_id, run_id, age: live.started.elapsed(), readers, events }
        });
        let mut runs: Vec<LiveRun> = live.collect();
        runs.sort_by_key(|run| Reverse(run.age));
        runs
    }

    /// Whether a run goes on, or ended a short while ago.
    #[must_use]
    pub fn knows(&self, thread_id: &ThreadId, run_id: &RunId) -> bool {
        !matches!(self.table.find(&RunKey::new(thread_id, run_id), self.by), Lookup::Unknown)
    }

    /// Stops a run: the agent is let go of, and the run ends as cancelled for everybody who reads it.
    #[must_use = "there may be nothing to cancel"]
    pub fn cancel(&self, thread_id: &ThreadId, run_id: &RunId) -> CancelOutcome {
        match self.table.find(&RunKey::new(thread_id, run_id), self.by) {
            Lookup::Live(live) => {
                live.cancel.cancel();
                CancelOutcome::Cancelled
            }
            Lookup::Finished => CancelOutcome::AlreadyEnded,
            Lookup::Unknown => CancelOutcome::Unknown,
        }
    }
}
