//! The one place that reads the wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agui_core::UnixMillis;

/// The time now; 0 on a machine whose clock is before 1970.
pub(crate) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis::new(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// `at` plus `time`.
pub(crate) fn after(at: UnixMillis, time: Duration) -> UnixMillis {
    UnixMillis::new(at.as_u64().saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
}

/// The time from now until `at`; zero if it is over.
pub(crate) fn until(at: UnixMillis) -> Duration {
    Duration::from_millis(at.as_u64().saturating_sub(now().as_u64()))
}

/// RFC 3339 in UTC with milliseconds, as `expiresAt` wants it.
pub(crate) fn rfc3339(at: UnixMillis) -> Option<String> {
    let millis = i64::try_from(at.as_u64()).ok()?;
    let timestamp = jiff::Timestamp::from_millisecond(millis).ok()?;
    Some(format!("{timestamp:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339() {
        assert_eq!(rfc3339(UnixMillis::new(0)).unwrap(), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(UnixMillis::new(1_796_051_422_372)).unwrap(), "2026-11-30T15:10:22.372Z");
        assert_eq!(rfc3339(UnixMillis::new(u64::MAX)), None);
    }
}
