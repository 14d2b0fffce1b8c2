//! The keys of an issuer, and when to ask for them again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

use super::config::KeyTimes;
use super::issuer::{FetchError, Issuer};
use super::key_set::KeySet;
use crate::Clock;

/// How long one attempt may take (5 seconds): two documents of a few KiB.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no key for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyError {
    /// The issuer has no such key.
    Unknown,
    /// Nobody knows which keys the issuer has.
    Unavailable,
}

/// Keys that may have made a signature.
pub(super) struct Found {
    set: Arc<KeySet>,
    id: Option<Box<str>>,
    algorithm: Algorithm,
}

impl Found {
    /// The keys to try.
    pub(super) fn keys(&self) -> impl Iterator<Item = &DecodingKey> {
        self.set.candidates(self.id.as_deref(), self.algorithm)
    }

    /// Who signs with them.
    pub(super) fn issuer(&self) -> &str {
        self.set.issuer()
    }
}

/// The keys that are known; clones share them.
#[derive(Clone)]
pub(super) struct KeyCache(Arc<Shared>);

struct Shared {
    issuer: Issuer,
    clock: Clock,
    times: KeyTimes,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Option<Known>,
    /// When the last attempt began.
    attempted_at: Option<Duration>,
    /// Closes when the attempt that is under way has ended.
    attempt: Option<watch::Receiver<()>>,
    /// When the last attempt began, if it gave no keys.
    failed_at: Option<Duration>,
}

struct Known {
    set: Arc<KeySet>,
    at: Duration,
}

impl KeyCache {
    pub(super) fn new(issuer: Issuer, clock: Clock, times: KeyTimes) -> Self {
        Self(Arc::new(Shared { issuer, clock, times, state: Mutex::default() }))
    }

    /// Looks for the keys of a token, and asks the issuer if they are old or not there. While the issuer does not
    /// answer, nobody waits for it whose key is known from before.
    ///
    /// Can be dropped at any await: the attempt goes on without its callers, so that one who sends a made-up
    /// key id and leaves keeps nobody from the keys.
    pub(super) async fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Result<Found, KeyError> {
        if let Ok(found) = self.0.look_up(id, algorithm, self.0.times.fresh) {
            return Ok(found);
        }
        let attempt = Shared::attempt(&self.0);
        if let Ok(found) = self.0.look_up(id, algorithm, self.0.times.stale)
            && self.0.has_failed_lately()
        {
            return Ok(found);
        }
        if let Some(mut attempt) = attempt {
            // An error says that the other end is gone, which is what is waited for.
            let _ = attempt.changed().await;
        }
        self.0.look_up(id, algorithm, self.0.times.stale)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change leaves the state whole, wherever a panic strikes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks among keys that are younger than `max_age`.
    fn look_up(&self, id: Option<&str>, algorithm: Algorithm, max_age: Duration) -> Result<Found, KeyError> {
        let now = self.clock.now();
        let state = self.lock();
        let known = state.known.as_ref().filter(|known| is_within(known.at, now, max_age));
        let set = Arc::clone(&known.ok_or(KeyError::Unavailable)?.set);
        drop(state);
        let found = Found { set, id: id.map(Into::into), algorithm };
        if found.keys().next().is_some() { Ok(found) } else { Err(KeyError::Unknown) }
    }

    /// Whether the last attempt failed, so short a time ago that a key which the issuer has taken back since then
    /// would be used that long anyway.
    fn has_failed_lately(&self) -> bool {
        let now = self.clock.now();
        self.lock().failed_at.is_some_and(|at| is_within(at, now, self.times.fresh))
    }

    /// Joins the attempt that is under way or begins one; `None` if the last one was a moment ago.
    fn attempt(this: &Arc<Self>) -> Option<watch::Receiver<()>> {
        let runtime = Handle::try_current().ok()?;
        let now = this.clock.now();
        let mut state = this.lock();
        // The other end of an attempt whose runtime has ended is gone too.
        if let Some(attempt) = state.attempt.as_ref().filter(|attempt| attempt.has_changed().is_ok()) {
            return Some(attempt.clone());
        }
        let pause = if state.known.is_some() { this.times.pause } else { this.times.retry };
        if state.attempted_at.is_some_and(|at| is_within(at, now, pause)) {
            return None;
        }
        let (done, attempt) = watch::channel(());
        state.attempted_at = Some(now);
        state.attempt = Some(attempt.clone());
        drop(state);

        let shared = Arc::clone(this);
        // Not tracked: it ends by its deadline, and nothing has to be put right when it is cut short.
        runtime.spawn(async move {
            let outcome =
                timeout(FETCH_TIMEOUT, shared.issuer.fetch()).await.unwrap_or(Err(FetchError::Timeout));
            shared.keep(outcome, now);
            drop(done);
        });
        Some(attempt)
    }

    fn keep(&self, outcome: Result<KeySet, FetchError>, at: Duration) {
        let mut state = self.lock();
        state.attempt = None;
        state.failed_at = outcome.is_err().then_some(at);
        match outcome {
            Ok(set) => {
                tracing::debug!(keys = set.len(), "fetched the keys of the token issuer");
                state.known = Some(Known { set: Arc::new(set), at });
            }
            Err(error) => tracing::warn!(%error, "cannot fetch the keys of the token issuer"),
        }
    }
}

/// Whether less than `limit` has passed; never true for a moment that lies ahead of a clock set back.
fn is_within(at: Duration, now: Duration, limit: Duration) -> bool {
    now.checked_sub(at).is_some_and(|age| age < limit)
}
