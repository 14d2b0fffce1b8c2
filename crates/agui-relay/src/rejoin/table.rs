//! The runs that go on and those that ended a short while ago, by thread and run.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agui_core::{Problem, RunId, ThreadId};
use agui_store::Digest;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::config::RejoinConfig;
use super::log::{Bounds, Log};
use super::requester::Requester;

/// A run id is unique within its thread.
#[derive(Debug, Clone)]
pub(super) struct RunKey {
    pub(super) thread_id: ThreadId,
    pub(super) run_id: RunId,
}

impl RunKey {
    pub(super) fn new(thread_id: &ThreadId, run_id: &RunId) -> Self {
        Self { thread_id: thread_id.clone(), run_id: run_id.clone() }
    }

    /// What stands for it in the table: ids may be as long as a body, and many runs are remembered.
    fn place(&self) -> Place {
        let (thread, run) = (self.thread_id.as_str().as_bytes(), self.run_id.as_str().as_bytes());
        Digest::of(&[&thread.len().to_be_bytes(), thread, run].concat())
    }
}

type Place = Digest;

#[derive(Debug)]
pub(super) struct Table {
    kept: Mutex<Kept>,
    config: RejoinConfig,
    live_bytes: Arc<AtomicUsize>,
    /// How many runs go on.
    live: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Kept {
    runs: HashMap<Place, Run>,
    /// The runs that ended and when, oldest first.
    finished: VecDeque<(Instant, Place)>,
    /// Those of them whose events are kept, with the bytes.
    whole: VecDeque<(Place, usize)>,
    whole_bytes: usize,
}

#[derive(Debug)]
struct Run {
    requester: Requester,
    digest: Digest,
    state: State,
}

#[derive(Debug)]
enum State {
    Live(Live),
    /// With its events if they are all kept.
    Finished(Option<Arc<Log>>),
}

#[derive(Debug, Clone)]
pub(super) struct Live {
    pub(super) key: RunKey,
    pub(super) log: Arc<Log>,
    pub(super) started: Instant,
    pub(super) cancel: CancellationToken,
}

/// What is known of a run that is asked for.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing: it is the caller's to start.
    New(Entry),
    /// The same request came before; its log.
    Known(Arc<Log>),
    /// The same request came before and has ended; its events are not kept.
    Lost,
    /// Another request, or somebody else's, came before with this run id.
    Other,
}

/// Whether there is a run to cancel.
#[derive(Debug)]
pub(super) enum Lookup {
    Live(Live),
    Finished,
    Unknown,
}

/// The place of a live run in the table. Dropped, it takes the run out.
#[derive(Debug)]
pub(super) struct Entry {
    table: Arc<Table>,
    place: Place,
    pub(super) log: Arc<Log>,
    pub(super) cancel: CancellationToken,
    /// The table says what became of the run; another one may have its place already.
    is_settled: bool,
}

impl Table {
    pub(super) fn new(config: RejoinConfig) -> Self {
        Self { kept: Mutex::default(), config, live_bytes: Arc::default(), live: watch::Sender::new(0) }
    }

    /// Whose a request with these headers is.
    pub(super) fn requester(&self, headers: &[(Box<str>, Box<str>)]) -> Requester {
        Requester::of(&self.config.requester, headers)
    }

    /// Looks a run up, and takes its place if it is new: of several callers at once one starts it.
    pub(super) fn enter(self: &Arc<Self>, key: &RunKey, requester: Requester, digest: Digest) -> Found {
        // Before the lock: ids may be long.
        let place = key.place();
        let mut kept = self.lock();
        kept.expire(&self.config);
        match kept.runs.get(&place) {
            Some(run) if run.requester != requester || run.digest != digest => return Found::Other,
            Some(Run { state: State::Live(Live { log, .. }) | State::Finished(Some(log)), .. }) => {
                return Found::Known(Arc::clone(log));
            }
            Some(Run { state: State::Finished(None), .. }) => return Found::Lost,
            None => {}
        }
        let log = Log::new(Bounds::from(&self.config), Arc::clone(&self.live_bytes));
        let live = Live {
            key: key.clone(),
            log: Arc::clone(&log),
            started: Instant::now(),
            cancel: CancellationToken::new(),
        };
        let cancel = live.cancel.clone();
        kept.runs.insert(place, Run { requester, digest, state: State::Live(live) });
        self.live.send_modify(|live| *live += 1);
        drop(kept);
        Found::New(Entry { table: Arc::clone(self), place, log, cancel, is_settled: false })
    }

    /// Looks a run up; `by` lets only what this requester has asked for be found.
    pub(super) fn find(&self, key: &RunKey, by: Option<Requester>) -> Lookup {
        let place = key.place();
        let kept = self.lock();
        let run = kept.runs.get(&place).filter(|run| run.is_of(by));
        match run.map(|run| &run.state) {
            Some(State::Live(live)) => Lookup::Live(live.clone()),
            Some(State::Finished(_)) => Lookup::Finished,
            None => Lookup::Unknown,
        }
    }

    /// Every run that goes on, or those that this requester has asked for.
    pub(super) fn live(&self, by: Option<Requester>) -> Vec<Live> {
        let kept = self.lock();
        let live = kept.runs.values().filter(|run| run.is_of(by)).filter_map(|run| match &run.state {
            State::Live(live) => Some(live.clone()),
            State::Finished(_) => None,
        });
        live.collect()
    }

    pub(super) const fn live_count(&self) -> &watch::Sender<usize> {
        &self.live
    }

    /// Finished runs that are remembered, and the bytes of those whose events are kept.
    #[cfg(test)]
    pub(super) fn finished(&self) -> (usize, usize) {
        let kept = self.lock();
        (kept.finished.len(), kept.whole_bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    /// Whether one requester has asked for it; true of every run if none is named.
    fn is_of(&self, requester: Option<Requester>) -> bool {
        requester.is_none_or(|requester| self.requester == requester)
    }
}

impl Kept {
    fn finish(&mut self, place: Place, log: &Arc<Log>, bytes: Option<usize>, config: &RejoinConfig) {
        let Some(run) = self.runs.get_mut(&place) else { return };
        run.state = State::Finished(bytes.map(|_| Arc::clone(log)));
        self.finished.push_back((Instant::now(), place));
        if let Some(bytes) = bytes {
            self.whole.push_back((place, bytes));
            self.whole_bytes += bytes;
        }
        self.expire(config);
    }

    /// Forgets what ended too long ago, and what is too much.
    fn expire(&mut self, config: &RejoinConfig) {
        while self.whole_bytes > config.finished_max_bytes
            && let Some((place, bytes)) = self.whole.pop_front()
        {
            self.whole_bytes -= bytes;
            if let Some(run) = self.runs.get_mut(&place) {
                run.state = State::Finished(None);
            }
        }
        while self.finished.len() > config.finished_max_runs
            || self.finished.front().is_some_and(|(ended, _)| ended.elapsed() >= config.finished_for)
        {
            let Some((_, place)) = self.finished.pop_front() else { return };
            self.runs.remove(&place);
            // The runs with events are in the same order, so it is the first one or none.
            if self.whole.front().is_some_and(|(whole, _)| *whole == place)
                && let Some((_, bytes)) = self.whole.pop_front()
            {
                self.whole_bytes -= bytes;
            }
        }
    }
}

impl Entry {
    /// The agent has not taken the run: whoever waits is told, and the next request starts anew.
    pub(super) fn refuse(mut self, problem: Problem) {
        self.is_settled = true;
        self.table.lock().runs.remove(&self.place);
        self.log.refuse(problem);
    }

    /// The run has ended: it answers again for a while.
    pub(super) fn finish(mut self) {
        self.is_settled = true;
        let bytes = self.log.end();
        self.table.lock().finish(self.place, &self.log, bytes, &self.table.config);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.is_settled {
            self.table.lock().runs.remove(&self.place);
        }
        self.log.end();
        self.table.live.send_modify(|live| *live -= 1);
    }
}
