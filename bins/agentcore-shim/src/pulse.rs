//! Whether something runs, and since when: one word, which is read and changed without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Whether the process is busy, since when it is or is not, and how often something has begun.
///
/// From the top: 32 bits of Unix seconds (enough until 2106), 31 bits that count beginnings, one bit that
/// says busy. Because all of it is one word, an observer that found nothing to do can say so without
/// hiding what began meanwhile: see [`Pulse::rest`].
#[derive(Debug)]
pub(crate) struct Pulse(AtomicU64);

/// One look at a [`Pulse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look(u64);

impl Look {
    pub(crate) const fn is_busy(self) -> bool {
        self.0 & 1 == 1
    }

    /// When that began, in Unix seconds.
    pub(crate) const fn since_unix_s(self) -> u64 {
        self.0 >> 32
    }
}

impl Pulse {
    /// Idle since `now`.
    pub(crate) const fn new(now_unix_s: u64) -> Self {
        Self(AtomicU64::new(now_unix_s << 32))
    }

    pub(crate) fn look(&self) -> Look {
        Look(self.0.load(Ordering::Acquire))
    }

    /// Something begins. The time moves only if nothing went on before.
    pub(crate) fn beat(&self, now_unix_s: u64) {
        let begun = |word: u64| {
            let count = (word & 0xffff_ffff).wrapping_add(2) & 0xffff_fffe;
            let since = if word & 1 == 1 { word >> 32 } else { now_unix_s };
            Some(since << 32 | count | 1)
        };
        // The closure never refuses.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, begun);
    }

    /// Nothing goes on any more, unless something has begun since `seen`.
    pub(crate) fn rest(&self, seen: Look, now_unix_s: u64) {
        if seen.is_busy() {
            let idle = now_unix_s << 32 | (seen.0 & 0xffff_fffe);
            // Lost to a beginning: then it is busy, and the next look will tell.
            let _ = self.0.compare_exchange(seen.0, idle, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}

/// Unix seconds now.
pub(crate) fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(pulse: &Pulse) -> (bool, u64) {
        let look = pulse.look();
        (look.is_busy(), look.since_unix_s())
    }

    #[test]
    fn row_1_the_time_moves_when_the_state_changes_and_only_then() {
        let pulse = Pulse::new(100);
        assert_eq!(seen(&pulse), (false, 100));
        pulse.rest(pulse.look(), 105);
        assert_eq!(seen(&pulse), (false, 100), "it was idle before");
        pulse.beat(110);
        assert_eq!(seen(&pulse), (true, 110));
        pulse.beat(120);
        assert_eq!(seen(&pulse), (true, 110), "it was busy before");
        pulse.rest(pulse.look(), 130);
        assert_eq!(seen(&pulse), (false, 130));
    }

    #[test]
    fn what_begins_while_somebody_looks_is_not_hidden() {
        let pulse = Pulse::new(1);
        pulse.beat(2);
        let look = pulse.look();
        pulse.beat(3);
        pulse.rest(look, 4);
        assert_eq!(seen(&pulse), (true, 2));
    }

    #[test]
    fn the_count_runs_over_into_nothing_else() {
        let pulse = Pulse(AtomicU64::new(7 << 32 | 0xffff_fffe));
        pulse.beat(9);
        assert_eq!(seen(&pulse), (true, 9));
        assert_eq!(pulse.look().0 & 0xffff_fffe, 0);
    }
}
