//! How far a replay has come.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::{Exchange, ExchangeEnd, ReplayConfig, Trace};
use crate::log::LoggedRequest;

/// What a request gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The recorded exchange with this index.
    Exchange(usize),
    /// Nobody listens at this place of the record.
    Nobody,
    /// The record has nothing (left) for it.
    Nothing,
}

/// Something that did not go as in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// An answer waited in vain for requests or marks that came before it in the record.
    GateTimeout {
        /// Number of the exchange that waited.
        exchange: u64,
        /// Numbers and kinds of what did not come.
        missing: Vec<(u64, String)>,
    },
    /// The recorded adapter left this stream, the one under test did not.
    StreamNotLeft {
        /// Number of the exchange.
        exchange: u64,
    },
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) trace: Trace,
    pub(super) config: ReplayConfig,
    progress: Mutex<Progress>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Numbers of the requests and marks that have come.
    seen: HashSet<u64>,
    /// Numbers of the exchanges that are served or were.
    used: HashSet<u64>,
    /// What the record says in place of what the adapter says.
    replaced: HashMap<String, String>,
    unmatched: Vec<String>,
    problems: Vec<Problem>,
}

impl Session {
    pub(super) fn new(trace: Trace, config: ReplayConfig) -> Self {
        let (changed, _) = watch::channel(());
        Self { trace, config, progress: Mutex::default(), changed }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the recorded exchange that fits a request, and learns the adapter's identities.
    ///
    /// A read gets no answer from before which the kernel was told something that it was not told yet, as
    /// long as there is another; and it may be repeated.
    pub(super) fn take(&self, request: &LoggedRequest) -> Found {
        let mut progress = self.progress();
        let down = self.is_down(&progress);
        let (free, used): (Vec<_>, Vec<_>) = self
            .trace
            .exchanges
            .iter()
            .enumerate()
            .partition(|(_, exchange)| !progress.used.contains(&exchange.seq));
        let due = free.iter().copied().filter(|(_, exchange)| self.is_due(exchange, &progress));
        let again = used.into_iter().rev().filter(|(_, exchange)| super::pick::is_read(exchange));
        let found = super::pick::best(due, request)
            .or_else(|| super::pick::best(again, request))
            .or_else(|| super::pick::best(free.iter().copied(), request));
        let found = found.filter(|(_, exchange)| !down || exchange.end == ExchangeEnd::ConnectFailed);
        let Some((at, exchange)) = found else {
            if down {
                return Found::Nobody;
            }
            progress.unmatched.push(request.kind());
            return Found::Nothing;
        };
        progress.used.insert(exchange.seq);
        progress.seen.insert(exchange.seq);
        for (recorded, actual) in super::pick::identities(exchange, request) {
            if recorded != actual {
                progress.replaced.insert(recorded, actual);
            }
        }
        drop(progress);
        self.changed.send_replace(());
        Found::Exchange(at)
    }

    /// Whether the record shows, between the last mark that was reached and the next, that nobody listened.
    fn is_down(&self, progress: &Progress) -> bool {
        let marks = || self.trace.marks.iter().map(|(seq, ..)| *seq);
        let Some(last) = marks().filter(|seq| progress.seen.contains(seq)).max() else { return false };
        let next = marks().filter(|seq| *seq > last).min().unwrap_or(u64::MAX);
        let here = self.trace.exchanges.iter().filter(|exchange| (last..next).contains(&exchange.seq));
        here.into_iter().any(|exchange| exchange.end == ExchangeEnd::ConnectFailed)
    }

    /// Whether everything that the kernel had been told before a read has been told; anything else is
    /// always due.
    fn is_due(&self, exchange: &Exchange, progress: &Progress) -> bool {
        let mut earlier = self.trace.exchanges.iter().take_while(|other| other.seq < exchange.seq);
        let told = |other: &Exchange| progress.used.contains(&other.seq) || !super::pick::tells(other);
        let reached = |(seq, ..): &(u64, f64, String)| *seq > exchange.seq || progress.seen.contains(seq);
        !super::pick::is_read(exchange) || (earlier.all(told) && self.trace.marks.iter().all(reached))
    }

    pub(super) fn mark(&self, name: &str) {
        let mut progress = self.progress();
        let open =
            self.trace.marks.iter().find(|(seq, _, mark)| mark == name && !progress.seen.contains(seq));
        if let Some((seq, _, _)) = open {
            progress.seen.insert(*seq);
        }
        drop(progress);
        self.changed.send_replace(());
    }

    /// Waits until everything has come that the record shows before `ms`, after the request of
    /// `exchange`.
    pub(super) async fn gate(&self, exchange: &Exchange, ms: f64) {
        let mut changed = self.changed.subscribe();
        let all_there = async {
            while !self.missing(exchange, ms).is_empty() {
                if changed.changed().await.is_err() {
                    return;
                }
            }
        };
        if tokio::time::timeout(self.config.gate_timeout, all_there).await.is_err() {
            let missing = self.missing(exchange, ms);
            let mut progress = self.progress();
            progress.seen.extend(missing.iter().map(|(seq, _)| *seq));
            progress.problems.push(Problem::GateTimeout { exchange: exchange.seq, missing });
            drop(progress);
            self.changed.send_replace(());
        }
    }

    fn missing(&self, exchange: &Exchange, ms: f64) -> Vec<(u64, String)> {
        let progress = self.progress();
        let before = |seq: u64, at: f64| seq > exchange.seq && at < ms && !progress.seen.contains(&seq);
        let exchanges = self.trace.exchanges.iter().filter(|other| before(other.seq, other.at_ms));
        let exchanges = exchanges.map(|other| (other.seq, other.kind()));
        let exchanges = exchanges.filter(|(_, kind)| !self.config.optional.contains(kind));
        let marks = self.trace.marks.iter().filter(|(seq, at, _)| before(*seq, *at));
        exchanges.chain(marks.map(|(seq, _, name)| (*seq, name.clone()))).collect()
    }

    pub(super) fn not_left(&self, exchange: &Exchange) {
        self.progress().problems.push(Problem::StreamNotLeft { exchange: exchange.seq });
    }

    /// Puts the adapter's identities in place of the recorded ones.
    pub(super) fn rewrite(&self, exchange: &Exchange, request: &LoggedRequest, text: &str) -> String {
        let (recorded, actual) = (&exchange.request.json["id"], &request.json["id"]);
        let mut text = match (recorded, actual) {
            (Value::Null, _) | (_, Value::Null) => text.to_owned(),
            (recorded, actual) => text.replace(&recorded.to_string(), &actual.to_string()),
        };
        for (recorded, actual) in &self.progress().replaced {
            text = text.replace(recorded, actual);
        }
        text
    }

    pub(super) fn unmatched(&self) -> Vec<String> {
        self.progress().unmatched.clone()
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        self.progress().problems.clone()
    }

    pub(super) fn unused(&self) -> Vec<String> {
        let progress = self.progress();
        let unused = self.trace.exchanges.iter().filter(|exchange| !progress.used.contains(&exchange.seq));
        unused.map(Exchange::kind).filter(|kind| !self.config.optional.contains(kind)).collect()
    }
}
