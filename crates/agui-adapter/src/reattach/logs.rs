//! The logs of the runs that go on and of those that ended a short while ago.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agui_core::{RunId, ThreadId};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::log::{Bounds, EventLog};

/// How long a finished run can be read: 5 min, time for a page to be loaded again or a train to leave a
/// tunnel.
///
/// Example: see [`AttachRequest`](crate::AttachRequest).
pub const FINISHED_FOR: Duration = Duration::from_secs(300);
/// Finished runs that can be read at a time; the oldest makes room …
///
/// Example: see [`AttachRequest`](crate::AttachRequest).
pub const FINISHED_MAX_RUNS: usize = 256;
/// … also when their events together have more than 64 MiB of JSON.
///
/// Example: see [`AttachRequest`](crate::AttachRequest).
pub const FINISHED_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A run id is unique within its thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RunKey {
    pub(super) thread_id: ThreadId,
    pub(super) run_id: RunId,
}

impl RunKey {
    pub(crate) fn new(thread_id: &ThreadId, run_id: &RunId) -> Self {
        Self { thread_id: thread_id.clone(), run_id: run_id.clone() }
    }
}

/// Finds logs by run.
#[derive(Debug, Default)]
pub(crate) struct EventLogs {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    logs: HashMap<RunKey, Arc<EventLog>>,
    /// Those of them that ended, oldest first.
    finished: VecDeque<Finished>,
}

#[derive(Debug)]
struct Finished {
    key: RunKey,
    log: Arc<EventLog>,
    bytes: u64,
    /// Cancelled when the log has to make room.
    evicted: CancellationToken,
}

impl EventLogs {
    /// Begins a log. An earlier one of the same run, which can only be of a refused try, is forgotten.
    pub(super) fn begin(self: &Arc<Self>, key: RunKey) -> LogGuard {
        let log = EventLog::new(Bounds::default());
        self.lock().logs.insert(key.clone(), Arc::clone(&log));
        LogGuard { logs: Arc::clone(self), key, log }
    }

    /// The log of a run.
    pub(super) fn find(&self, key: &RunKey) -> Option<Arc<EventLog>> {
        self.lock().logs.get(key).cloned()
    }

    /// Runs that can be read now, and how many of them have ended.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (usize, usize) {
        let kept = self.lock();
        (kept.logs.len(), kept.finished.len())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a log findable; dropped, it ends the log and forgets it.
#[derive(Debug)]
pub(super) struct LogGuard {
    logs: Arc<EventLogs>,
    key: RunKey,
    pub(super) log: Arc<EventLog>,
}

impl LogGuard {
    /// The run has ended: its log can be read for a while.
    pub(super) async fn linger(self, stop: &CancellationToken) {
        self.log.end();
        let evicted = CancellationToken::new();
        let finished = Finished {
            key: self.key.clone(),
            log: Arc::clone(&self.log),
            bytes: self.log.bytes(),
            evicted: evicted.clone(),
        };
        self.logs.lock().finish(finished);
        // Whichever comes first; the guard is dropped then.
        let _ = timeout(FINISHED_FOR, stop.run_until_cancelled(evicted.cancelled())).await;
    }
}

impl Kept {
    /// Adds a run that ended, and lets go of what is too much, the oldest first.
    fn finish(&mut self, finished: Finished) {
        self.finished.push_back(finished);
        let mut bytes: u64 = self.finished.iter().map(|finished| finished.bytes).sum();
        while self.finished.len() > FINISHED_MAX_RUNS || bytes > FINISHED_MAX_BYTES {
            let Some(oldest) = self.finished.pop_front() else { return };
            bytes -= oldest.bytes;
            self.forget(&oldest.key, &oldest.log);
            oldest.evicted.cancel();
        }
    }

    /// Another log may have taken the place meanwhile.
    fn forget(&mut self, key: &RunKey, log: &Arc<EventLog>) {
        if self.logs.get(key).is_some_and(|current| Arc::ptr_eq(current, log)) {
            self.logs.remove(key);
        }
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.log.end();
        let mut kept = self.logs.lock();
        kept.forget(&self.key, &self.log);
        kept.finished.retain(|finished| !Arc::ptr_eq(&finished.log, &self.log));
    }
}
