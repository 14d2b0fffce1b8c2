//! How many frames may leave when.

use std::time::Duration;

/// A token bucket: a few frames may leave at once, the others at an even pace.
///
/// What the bucket holds and what flows in during a second make the rate together, so that no second
/// has more frames than the rate, wherever it begins. Time is told as the age of the socket.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Frames that may leave at once after a silence.
    burst: u32,
    /// Time in which one frame flows in.
    interval: Duration,
    /// When the bucket would be full if nothing more left.
    full_at: Duration,
}

impl Pace {
    /// A full bucket for at most `rate` frames in any second; `rate` is at least 2.
    pub(crate) fn new(rate: u32) -> Self {
        // A quarter for bursts: a short answer leaves at once, and a long one flows at three quarters.
        let burst = (rate / 4).max(1);
        let steady = rate.saturating_sub(burst).max(1);
        // Rounded up, so that rounding never adds a frame.
        let interval = Duration::from_nanos(1_000_000_000_u64.div_ceil(u64::from(steady)));
        Self { burst, interval, full_at: Duration::ZERO }
    }

    /// How many frames may leave at `now`.
    pub(crate) fn available(&self, now: Duration) -> u32 {
        let missing = self.full_at.saturating_sub(now);
        let used = missing.as_nanos().div_ceil(self.interval.as_nanos());
        self.burst.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX))
    }

    /// One frame leaves at `now`; one has to be available.
    pub(crate) fn take(&mut self, now: Duration) {
        self.full_at = self.full_at.max(now) + self.interval;
    }

    /// When the next frame may leave; in the past if one may leave now.
    pub(crate) fn next(&self) -> Duration {
        self.full_at.saturating_sub(self.interval * (self.burst - 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_bucket_gives_a_quarter_at_once_and_then_an_even_flow() {
        let mut pace = Pace::new(200);
        assert_eq!(pace.available(Duration::ZERO), 50);
        for _ in 0..50 {
            pace.take(Duration::ZERO);
        }
        assert_eq!(pace.available(Duration::ZERO), 0);
        let next = pace.next();
        assert_eq!(next, Duration::from_nanos(6_666_667));
        assert_eq!(pace.available(next - Duration::from_nanos(1)), 0);
        assert_eq!(pace.available(next), 1);
        assert_eq!(pace.available(Duration::from_secs(9)), 50);
    }

    proptest! {
        #[test]
        fn no_second_has_more_frames_than_the_rate(
            rate in 2_u32..400,
            pauses in prop::collection::vec(0_u64..60_000_000, 1..600),
        ) {
            let mut pace = Pace::new(rate);
            let mut now = Duration::ZERO;
            let mut sent: Vec<Duration> = Vec::new();
            for pause in pauses {
                // A pause that is no multiple of ten is replaced by waiting for the bucket exactly.
                now = if pause % 10 == 0 { now + Duration::from_nanos(pause) } else { now.max(pace.next()) };
                while pace.available(now) > 0 {
                    prop_assert!(pace.next() <= now);
                    pace.take(now);
                    sent.push(now);
                }
                prop_assert!(pace.next() > now);
            }
            for (index, first) in sent.iter().enumerate() {
                let within = sent[index..].iter().take_while(|at| **at - *first < Duration::from_secs(1)).count();
                prop_assert!(within <= rate as usize, "{} frames from {:?} on", within, first);
            }
        }
    }
}
