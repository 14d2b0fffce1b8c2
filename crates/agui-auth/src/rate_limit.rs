//! How often one session may call.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agui_iac_code::ErrorCode;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;
use governor::{Quota, RateLimiter};

use crate::{Clock, RateSpec};

/// Sessions that are told apart at a time (16,384, less than 1 MiB).
///
/// Those that find no room share one allowance until others have been quiet for a period. A caller that makes up
/// sessions can fill the room, and then limits itself; memory stays bounded.
const MAX_SESSIONS: usize = 16_384;

/// Least time between two searches for sessions that have been quiet (1 second): each looks at all of them.
const SWEEP_PAUSE: Duration = Duration::from_secs(1);

/// How long to wait before calling again. The answer to it is 429.
///
/// Example: see [`RateLimit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many requests in this session; the next may come in {wait:?}")]
pub struct RetryAfter {
    wait: Duration,
}

impl RetryAfter {
    /// How long until a call would be let through.
    #[must_use]
    pub const fn wait(&self) -> Duration {
        self.wait
    }

    /// The value of `Retry-After`: whole seconds, rounded up, at least 1.
    #[must_use]
    pub fn seconds(&self) -> u32 {
        let whole = self.wait.as_secs() + u64::from(self.wait.subsec_nanos() > 0);
        u32::try_from(whole).unwrap_or(u32::MAX).max(1)
    }

    /// The public code: `RATE_LIMIT_EXCEEDED` (429).
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        ErrorCode::RateLimitExceeded
    }
}

/// An allowance of calls for each session; clones share it.
///
/// A session may call [`count`](RateSpec::count) times at once and then as often as its allowance grows back, evenly
/// over the period.
///
/// ```
/// use agui_auth::RateLimit;
///
/// let limit = RateLimit::per_session("2/m".parse()?);
/// assert!(limit.check("a").is_ok());
/// assert!(limit.check("a").is_ok());
/// assert_eq!(limit.check("a").unwrap_err().seconds(), 30);
/// assert!(limit.check("b").is_ok());
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
///
/// Source: R31.
#[derive(Clone)]
pub struct RateLimit {
    cells: Arc<RateLimiter<u64, Sessions, Ticks, NoOpMiddleware<Duration>>>,
    sessions: Sessions,
    hasher: RandomState,
    clock: Clock,
    rate: RateSpec,
}

impl RateLimit {
    /// A limit that every session has for itself.
    #[must_use]
    pub fn per_session(rate: RateSpec) -> Self {
        Self::with_clock(rate, Clock::steady())
    }

    /// The same, on a clock of the caller's.
    #[must_use]
    pub fn with_clock(rate: RateSpec, clock: Clock) -> Self {
        Self::bounded(rate, clock, MAX_SESSIONS)
    }

    /// Takes one call off the session's allowance. Callers without a session share the session `""`.
    ///
    /// # Errors
    /// [`RetryAfter`] if nothing is left; the call costs nothing then.
    pub fn check(&self, session: &str) -> Result<(), RetryAfter> {
        let key = self.hasher.hash_one(session);
        let now = self.clock.now();
        if self.sessions.wants_sweep(key, now) {
            self.cells.retain_recent();
        }
        self.cells.check_key(&key).map_err(|until| RetryAfter { wait: until.wait_time_from(now) })
    }

    fn bounded(rate: RateSpec, clock: Clock, sessions: usize) -> Self {
        // Division by a number above zero; the shortest interval is the nanosecond that the clock counts in.
        let interval = (rate.period / rate.count.get()).max(Duration::from_nanos(1));
        let quota = Quota::with_period(interval)
            .unwrap_or_else(|| Quota::per_second(rate.count))
            .allow_burst(rate.count);
        let sessions = Sessions::new(sessions);
        let cells = Arc::new(RateLimiter::new(quota, sessions.clone(), Ticks(clock.clone())));
        Self { cells, sessions, hasher: RandomState::new(), clock, rate }
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RateLimit({})", self.rate)
    }
}

/// The clock, as the cells ask for it.
#[derive(Debug, Clone)]
struct Ticks(Clock);

impl governor::clock::Clock for Ticks {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.now()
    }
}

/// What each session has used up, by a hash that callers cannot aim at.
#[derive(Clone)]
struct Sessions {
    table: Arc<Mutex<Table>>,
    /// Sessions that find no room share this key; another session meets it by chance once in 2^64.
    shared: u64,
    cap: usize,
}

#[derive(Default)]
struct Table {
    used: HashMap<u64, Nanos>,
    swept_at: Option<Duration>,
}

impl Sessions {
    fn new(cap: usize) -> Self {
        Self { table: Arc::default(), shared: RandomState::new().hash_one(cap), cap }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // Every change leaves the table whole, wherever a panic strikes.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is no room for this session, and it is time to look for some.
    fn wants_sweep(&self, key: u64, now: Duration) -> bool {
        let mut table = self.lock();
        let recent = table.swept_at.is_some_and(|at| now.saturating_sub(at) < SWEEP_PAUSE);
        if recent || table.has_room(self.cap, key) {
            return false;
        }
        table.swept_at = Some(now);
        true
    }
}

impl Table {
    fn has_room(&self, cap: usize, key: u64) -> bool {
        self.used.len() < cap || self.used.contains_key(&key)
    }
}

impl StateStore for Sessions {
    type Key = u64;

    fn measure_and_replace<T, F, E>(&self, key: &u64, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut table = self.lock();
        let key = if table.has_room(self.cap, *key) { *key } else { self.shared };
        let (outcome, now_used) = decide(table.used.get(&key).copied())?;
        table.used.insert(key, now_used);
        Ok(outcome)
    }
}

impl ShrinkableKeyedStateStore<u64> for Sessions {
    fn retain_recent(&self, drop_below: Nanos) {
        self.lock().used.retain(|_, used| *used > drop_below);
    }

    fn len(&self) -> usize {
        self.lock().used.len()
    }

    fn is_empty(&self) -> bool {
        self.lock().used.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::fake::Hands;

    fn limit(rate: &str, sessions: usize) -> (RateLimit, Hands) {
        let hands = Hands::default();
        (RateLimit::bounded(rate.parse().unwrap(), hands.clock(), sessions), hands)
    }

    fn passed(limit: &RateLimit, session: &str, calls: u32) -> u32 {
        (0..calls).map(|_| u32::from(limit.check(session).is_ok())).sum()
    }

    #[test]
    fn r31_a_session_may_use_its_allowance_at_once_and_then_as_it_grows_back() {
        let (limit, hands) = limit("10/s", 8);
        assert_eq!(passed(&limit, "a", 25), 10);

        hands.advance_ms(99);
        assert_eq!(limit.check("a").unwrap_err().wait(), Duration::from_millis(1));
        hands.advance_ms(1);
        assert_eq!(passed(&limit, "a", 25), 1);
        hands.advance_ms(60_000);
        assert_eq!(passed(&limit, "a", 25), 10);
    }

    #[test]
    fn r31_the_answer_says_when_to_come_again() {
        let (limit, _) = limit("2/m", 8);
        assert_eq!(passed(&limit, "a", 2), 2);
        let denied = limit.check("a").unwrap_err();
        assert_eq!(denied.seconds(), 30);
        assert_eq!((denied.code().as_str(), denied.code().spec().status), ("RATE_LIMIT_EXCEEDED", 429));
        assert_eq!(RetryAfter { wait: Duration::from_millis(1) }.seconds(), 1);
        assert_eq!(RetryAfter { wait: Duration::from_millis(1001) }.seconds(), 2);
    }

    #[test]
    fn a_refused_call_costs_nothing() {
        let (limit, hands) = limit("1/s", 8);
        assert_eq!(passed(&limit, "a", 1000), 1);
        hands.advance_ms(1000);
        assert_eq!(passed(&limit, "a", 1), 1);
    }

    #[test]
    fn sessions_and_clones_do_not_disturb_each_other() {
        let (limit, _) = limit("3/s", 8);
        assert_eq!(passed(&limit, "a", 9), 3);
        assert_eq!(passed(&limit, "b", 9), 3);
        assert_eq!(passed(&limit.clone(), "a", 9), 0);
    }

    #[test]
    fn made_up_sessions_find_a_bound_and_do_not_touch_those_that_are_known() {
        let (limit, hands) = limit("2/s", 4);
        assert_eq!(passed(&limit, "known", 1), 1);
        let made_up: u32 = (0..1000).map(|n| passed(&limit, &format!("made up {n}"), 1)).sum();
        // Three have places of their own, the rest shares one allowance.
        assert_eq!(made_up, 3 + 2);
        assert_eq!(limit.cells.len(), 5);
        assert_eq!(passed(&limit, "known", 9), 1);

        hands.advance_ms(2000);
        assert_eq!(passed(&limit, "new", 9), 2);
        assert_eq!(limit.cells.len(), 1);
    }

    #[test]
    fn debug_output_names_the_rate_and_no_session() {
        let (limit, _) = limit("100/m", 8);
        assert_eq!(passed(&limit, "secret session", 1), 1);
        assert_eq!(format!("{limit:?}"), "RateLimit(100/m)");
    }
}
