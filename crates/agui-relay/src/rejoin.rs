//! A run id is one run: whoever sends the request again reads the same run.
//!
//! Between the wrapped agent and its readers stands a [`log`]: a task of its own ([`pump`]) fills it, and each
//! reader ([`reader`]) follows it at a pace of its own. The [`table`] finds it by thread and run, while the run
//! goes on and for a while after its end.

mod config;
mod log;
mod pump;
mod reader;
mod requester;
mod runs;
mod segment;
mod table;

use std::fmt;
use std::sync::Arc;

use agui_core::{Agent, BoxFuture, Problem, RunRequest, RunStream};
use agui_iac_code::ErrorCode;
use agui_store::{Digest, request_digest};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

pub use config::{
    Abandon, FINISHED_FOR, FINISHED_MAX_BYTES, FINISHED_MAX_RUNS, LIVE_MAX_BYTES, LOG_MAX_BYTES,
    LOG_MAX_EVENTS, READ_AHEAD, RejoinConfig,
};
pub use runs::{CancelOutcome, LiveRun, LiveRuns};

use self::log::Follower;
use self::table::{Found, RunKey, Table};
use crate::text;

/// Bodies up to this size are compared by what they say, larger ones byte by byte; 1 MiB.
///
/// Example: see [`Rejoin`].
pub const MEANING_MAX_BYTES: usize = 1024 * 1024;

/// An [`Agent`] that does not run the same request twice.
///
/// Same means: the same thread id, the same run id, a body that says the same, whatever the order of its
/// keys (see [`MEANING_MAX_BYTES`]), and the same [requester](RejoinConfig::requester). Requests that are
/// refused leave no trace, so they can be tried again. Clones share their runs.
///
/// ```
/// use agui_relay::{CancelOutcome, Rejoin, RejoinConfig, Upstream, UpstreamConfig};
///
/// let upstream = Upstream::new(UpstreamConfig::new("http://127.0.0.1:9000/invocations"))?;
/// let agent = Rejoin::new(upstream, RejoinConfig::default());
///
/// let runs = agent.runs();
/// assert_eq!(runs.count(), 0);
/// assert_eq!(runs.cancel(&"thread-1".into(), &"run-1".into()), CancelOutcome::Unknown);
/// # Ok::<(), agui_relay::RelayError>(())
/// ```
#[derive(Clone)]
pub struct Rejoin {
    shared: Arc<Shared>,
}

struct Shared {
    agent: Arc<dyn Agent>,
    config: RejoinConfig,
    table: Arc<Table>,
    /// The tasks that fill logs.
    pumps: TaskTracker,
    /// The tasks that read them.
    readers: TaskTracker,
    stop: CancellationToken,
}

impl Rejoin {
    /// Wraps an agent.
    #[must_use]
    pub fn new(agent: impl Agent, config: RejoinConfig) -> Self {
        let table = Arc::new(Table::new(config.clone()));
        let shared = Shared {
            agent: Arc::new(agent),
            config,
            table,
            pumps: TaskTracker::new(),
            readers: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The runs that go on, to count, list and cancel them.
    #[must_use]
    pub fn runs(&self) -> LiveRuns {
        LiveRuns::new(Arc::clone(&self.shared.table))
    }

    /// Takes no more runs, ends those that go on with `RUN_ERROR` of code `SHUTTING_DOWN`, and waits until the
    /// wrapped agent has been let go of. Shut an agent down first that ends its runs in a better way.
    ///
    /// Readers are not waited for: they get what is left as fast as they read.
    pub async fn shutdown(&self) {
        self.shared.stop.cancel();
        self.shared.pumps.close();
        self.shared.pumps.wait().await;
        self.shared.readers.close();
    }

    async fn start(&self, request: RunRequest) -> Result<RunStream, Problem> {
        let shared = &self.shared;
        let language = text::language_of(&request);
        if shared.stop.is_cancelled() {
            return Err(text::problem(language, ErrorCode::ShuttingDown));
        }
        let key = RunKey::new(&request.input.thread_id, &request.input.run_id);
        let requester = shared.table.requester(&request.headers);
        let mut reader = match shared.table.enter(&key, requester, digest(&request.body)) {
            Found::New(entry) => {
                let reader = entry.log.follow();
                shared.pumps.spawn(pump::run(Arc::clone(shared), entry, request).in_current_span());
                reader
            }
            Found::Known(log) => log.follow(),
            Found::Lost => return Err(text::problem(language, ErrorCode::DuplicateRunId)),
            Found::Other => return Err(text::problem(language, ErrorCode::RunIdConflict)),
        }
        .ok_or_else(|| text::problem(language, ErrorCode::SessionBusy))?;
        reader.admitted().await?;
        Ok(self.show(reader, key, language))
    }

    fn show(&self, reader: Follower, key: RunKey, language: agui_i18n::Language) -> RunStream {
        let (sink, stream) =
            agui_core::run_channel(key.thread_id, key.run_id, self.shared.config.reader_limits);
        self.shared.readers.spawn(reader::show(reader, sink, language));
        stream
    }
}

/// What two bodies have to share to be the same request: their meaning, or if they are large their bytes, because
/// a repeated request is sent again as it is, and reading a large one costs as much memory again.
fn digest(body: &[u8]) -> Digest {
    if body.len() > MEANING_MAX_BYTES { Digest::of(body) } else { request_digest(body) }
}

impl Agent for Rejoin {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(self.start(request))
    }
}

impl fmt::Debug for Rejoin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejoin")
            .field("config", &self.shared.config)
            .field("live", &self.runs().count())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
