use std::time::Duration;

use agui_core::RunLimits;

/// Events that are kept of one run that goes on.
///
/// Example: see [`RejoinConfig`].
pub const LOG_MAX_EVENTS: usize = 262_144;
/// Bytes of JSON that are kept of one run that goes on, 16 MiB: some 200,000 small deltas, more than a model
/// says in an hour.
///
/// Example: see [`RejoinConfig`].
pub const LOG_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of JSON that are kept of all runs that go on, 256 MiB. Beyond it a run keeps what its readers need.
///
/// Example: see [`RejoinConfig`].
pub const LIVE_MAX_BYTES: usize = 256 * 1024 * 1024;
/// How far a run may be ahead of its fastest reader before it has to wait: 1,024 events or 1 MiB of JSON. A
/// slower reader may fall behind as far as the log reaches.
///
/// Example: see [`RejoinConfig`].
pub const READ_AHEAD: RunLimits = RunLimits::new(1_024, 1_048_576);
/// How long a finished run answers again: 15 min. A client that repeats a request five times, each time after
/// a minute, is done long before.
///
/// Example: see [`RejoinConfig`].
pub const FINISHED_FOR: Duration = Duration::from_secs(900);
/// Finished runs that are remembered at a time, if only to refuse them; the oldest makes room.
///
/// Example: see [`RejoinConfig`].
pub const FINISHED_MAX_RUNS: usize = 4_096;
/// Bytes of JSON that are kept of all finished runs, 16 MiB; the oldest lose theirs first.
///
/// Example: see [`RejoinConfig`].
pub const FINISHED_MAX_BYTES: usize = 16 * 1024 * 1024;

/// What becomes of a run that nobody reads any more.
///
/// Example: see [`RejoinConfig`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Abandon {
    /// It is cancelled at once.
    #[default]
    AtOnce,
    /// It is cancelled unless somebody reads it again within this time.
    After(Duration),
    /// It goes on to its end.
    Never,
}

/// Limits of a [`Rejoin`](super::Rejoin).
///
/// ```
/// use std::time::Duration;
///
/// use agui_relay::{Abandon, FINISHED_FOR, LOG_MAX_BYTES, RejoinConfig};
///
/// let config = RejoinConfig::default()
///     .with_abandon(Abandon::After(Duration::from_secs(30)))
///     .with_log(10_000, LOG_MAX_BYTES);
/// assert_eq!(config.finished_for, FINISHED_FOR);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejoinConfig {
    /// What becomes of a run that nobody reads any more.
    pub abandon: Abandon,
    /// Names of headers, in lower case, that say whose a request is: one with other values than the first is
    /// another request, and gets `RUN_ID_CONFLICT` instead of the run. They count in
    /// [`LiveRuns::asked_for_by`](super::LiveRuns::asked_for_by), too. Default: none, all callers are one.
    pub requester: Vec<Box<str>>,
    /// Events that are kept of one run; default [`LOG_MAX_EVENTS`].
    pub log_max_events: usize,
    /// Bytes of JSON that are kept of one run; default [`LOG_MAX_BYTES`].
    pub log_max_bytes: usize,
    /// Bytes of JSON that are kept of all live runs; default [`LIVE_MAX_BYTES`].
    pub live_max_bytes: usize,
    /// How far a run may be ahead of its fastest reader; default [`READ_AHEAD`].
    pub read_ahead: RunLimits,
    /// What may wait for one reader beside what the log holds for it.
    pub reader_limits: RunLimits,
    /// How long a finished run is remembered; default [`FINISHED_FOR`].
    pub finished_for: Duration,
    /// How many finished runs are remembered; default [`FINISHED_MAX_RUNS`].
    pub finished_max_runs: usize,
    /// Bytes of JSON that are kept of all finished runs; default [`FINISHED_MAX_BYTES`].
    pub finished_max_bytes: usize,
}

impl Default for RejoinConfig {
    fn default() -> Self {
        Self {
            abandon: Abandon::default(),
            requester: Vec::new(),
            log_max_events: LOG_MAX_EVENTS,
            log_max_bytes: LOG_MAX_BYTES,
            live_max_bytes: LIVE_MAX_BYTES,
            read_ahead: READ_AHEAD,
            reader_limits: RunLimits::default(),
            finished_for: FINISHED_FOR,
            finished_max_runs: FINISHED_MAX_RUNS,
            finished_max_bytes: FINISHED_MAX_BYTES,
        }
    }
}

impl RejoinConfig {
    /// Sets `abandon`.
    #[must_use]
    pub const fn with_abandon(mut self, abandon: Abandon) -> Self {
        self.abandon = abandon;
        self
    }

    /// Sets `requester`.
    #[must_use]
    pub fn with_requester(mut self, names: &[&str]) -> Self {
        self.requester = names.iter().map(|name| name.to_ascii_lowercase().into()).collect();
        self
    }

    /// Sets how much is kept of one run, in events and in bytes of JSON.
    #[must_use]
    pub const fn with_log(mut self, max_events: usize, max_bytes: usize) -> Self {
        (self.log_max_events, self.log_max_bytes) = (max_events, max_bytes);
        self
    }

    /// Sets `live_max_bytes`.
    #[must_use]
    pub const fn with_live_max_bytes(mut self, bytes: usize) -> Self {
        self.live_max_bytes = bytes;
        self
    }

    /// Sets `read_ahead`.
    #[must_use]
    pub const fn with_read_ahead(mut self, limits: RunLimits) -> Self {
        self.read_ahead = limits;
        self
    }

    /// Sets `reader_limits`.
    #[must_use]
    pub const fn with_reader_limits(mut self, limits: RunLimits) -> Self {
        self.reader_limits = limits;
        self
    }

    /// Sets how long and how many finished runs are remembered, and the bytes of JSON that are kept of them.
    #[must_use]
    pub const fn with_finished(mut self, time: Duration, max_runs: usize, max_bytes: usize) -> Self {
        (self.finished_for, self.finished_max_runs, self.finished_max_bytes) = (time, max_runs, max_bytes);
        self
    }
}
