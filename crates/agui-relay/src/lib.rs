#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod rejoin;
mod text;
mod upstream;

pub use rejoin::{
    Abandon, CancelOutcome, FINISHED_FOR, FINISHED_MAX_BYTES, FINISHED_MAX_RUNS, LIVE_MAX_BYTES,
    LOG_MAX_BYTES, LOG_MAX_EVENTS, LiveRun, LiveRuns, MEANING_MAX_BYTES, READ_AHEAD, Rejoin, RejoinConfig,
};
pub use upstream::{ErrorText, FORWARDED_HEADERS, MAX_CODE_BYTES, RelayError, Upstream, UpstreamConfig};
