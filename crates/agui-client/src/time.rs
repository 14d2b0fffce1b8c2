use std::time::Duration;

/// For errors: what is longer than any timer is cut.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
