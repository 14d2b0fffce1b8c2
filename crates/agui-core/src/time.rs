//! Time as a value: this crate never reads a clock.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use agui_core::UnixMillis;
///
/// // Outside of an example: `UnixMillis::from(SystemTime::now())`.
/// let time = UNIX_EPOCH + Duration::from_secs(2);
/// assert_eq!(UnixMillis::from(time).as_u64(), 2_000);
/// ```
///
/// Source: AG-UI 1.0, "Events", base properties.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[non_exhaustive]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// Wraps a count of milliseconds.
    #[must_use]
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// The count of milliseconds.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl From<SystemTime> for UnixMillis {
    /// A time of the caller's clock; what lies before 1970 is 0.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
