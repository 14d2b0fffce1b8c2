//! The time, which tests set.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Tells the time as a [`Duration`] since a fixed point.
///
/// Tokens and signatures need the Unix epoch ([`system`](Self::system)); rates need a clock that nobody sets back
/// ([`steady`](Self::steady)).
///
/// ```
/// use std::time::Duration;
///
/// use agui_auth::Clock;
///
/// let stopped = Clock::from_fn(|| Duration::from_secs(1_000));
/// assert_eq!(stopped.now(), Duration::from_secs(1_000));
/// assert!(Clock::system().now() > Clock::steady().now());
/// ```
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// Time since the Unix epoch; zero on a machine whose clock stands before it.
    #[must_use]
    pub fn system() -> Self {
        Self::from_fn(|| SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
    }

    /// Time since this call; never goes back.
    #[must_use]
    pub fn steady() -> Self {
        let start = Instant::now();
        Self::from_fn(move || start.elapsed())
    }

    /// A clock that tells what `now` gives.
    pub fn from_fn(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// What the clock shows.
    #[must_use]
    pub fn now(&self) -> Duration {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock(..)")
    }
}

#[cfg(test)]
pub(crate) mod fake {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Hands of a clock that a test turns, in milliseconds.
    #[derive(Clone, Default)]
    pub(crate) struct Hands(Arc<AtomicU64>);

    impl Hands {
        pub(crate) fn clock(&self) -> Clock {
            let hands = Arc::clone(&self.0);
            Clock::from_fn(move || Duration::from_millis(hands.load(Ordering::SeqCst)))
        }

        pub(crate) fn advance_ms(&self, by: u64) {
            self.0.fetch_add(by, Ordering::SeqCst);
        }
    }
}
