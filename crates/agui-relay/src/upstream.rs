//! An agent whose runs are done by another AG-UI server.

mod config;
mod forward;
mod lenient;
mod pump;
mod reader;
mod refusal;

use std::fmt;
use std::sync::Arc;

use agui_client::{AgentConfig, ClientError, HttpAgent, Records};
use agui_core::{
    Agent, BoxFuture, Problem, RunError, RunId, RunRequest, RunSink, RunStream, ThreadId, run_channel,
};
use agui_i18n::Language;
use agui_iac_code::ErrorCode;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument as _, debug};

pub use config::{ErrorText, UpstreamConfig};
pub use forward::FORWARDED_HEADERS;
pub use reader::MAX_CODE_BYTES;

use self::forward::Forward;
use self::pump::Pump;
use crate::text;

/// Why an upstream cannot be used as it was configured.
///
/// ```
/// use agui_relay::{RelayError, Upstream, UpstreamConfig};
///
/// let refused = Upstream::new(UpstreamConfig::new("http://127.0.0.1:9000/").with_forward("content-length"));
/// assert!(matches!(refused, Err(RelayError::InvalidForward { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The address or a header cannot be used.
    #[error("the agent behind the relay cannot be called")]
    Upstream(#[source] ClientError),
    /// A name in [`UpstreamConfig::forward`] is no name of a header, or of one that belongs to the connection.
    #[error("header {name:?} cannot be forwarded")]
    InvalidForward {
        /// The name.
        name: Box<str>,
    },
}

/// An [`Agent`] whose runs are done by any AG-UI HTTP server.
///
/// The body of a request goes there as it came. What comes back is read tolerantly and repaired, so that
/// callers get a valid stream whatever the server sends: balanced spans, the ids of the request, one terminal
/// event and nothing after it. Clones share their runs.
///
/// ```no_run
/// use agui_core::{Agent, Problem, RunRequest, RunStream};
/// use agui_relay::{Upstream, UpstreamConfig};
///
/// # async fn run(request: RunRequest) -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Upstream::new(UpstreamConfig::new("http://127.0.0.1:9000/invocations"))?;
/// let events: Result<RunStream, Problem> = agent.run(request).await;
/// # drop(events);
/// agent.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Upstream {
    shared: Arc<Shared>,
}

struct Shared {
    client: HttpAgent,
    forward: Forward,
    config: UpstreamConfig,
    runs: TaskTracker,
    stop: CancellationToken,
}

impl Upstream {
    /// Checks the configuration; connects to nothing yet.
    ///
    /// # Errors
    /// [`RelayError`], for an address or a header that cannot be used.
    pub fn new(config: UpstreamConfig) -> Result<Self, RelayError> {
        let mut agent = AgentConfig::new(&config.url)
            .with_connect_timeout(config.connect_timeout)
            .with_idle_timeout(config.idle_timeout)
            .with_max_event_bytes(config.max_event_bytes);
        agent.headers.clone_from(&config.headers);
        let client = HttpAgent::new(agent).map_err(RelayError::Upstream)?;
        let forward = Forward::new(&config.forward)?;
        let (runs, stop) = (TaskTracker::new(), CancellationToken::new());
        Ok(Self { shared: Arc::new(Shared { client, forward, config, runs, stop }) })
    }

    /// Takes no more runs, ends those that go on with `RUN_ERROR` of code `SHUTTING_DOWN`, and waits until
    /// their connections are closed, which takes milliseconds.
    pub async fn shutdown(&self) {
        self.shared.stop.cancel();
        self.shared.runs.close();
        self.shared.runs.wait().await;
    }

    async fn start(&self, request: RunRequest) -> Result<RunStream, Problem> {
        let shared = &self.shared;
        let language = text::language_of(&request);
        if shared.stop.is_cancelled() {
            return Err(text::problem(language, ErrorCode::ShuttingDown));
        }
        let headers = shared.forward.headers(&request);
        let (thread_id, run_id) = (request.input.thread_id.clone(), request.input.run_id.clone());
        // What was decoded may be as large as the body, and only the body is sent.
        let RunRequest { input, body, .. } = request;
        drop(input);
        let client = shared.client.clone();
        let mut posted: Posted = Box::pin(async move { client.post(body, headers).await });
        let early = shared.stop.run_until_cancelled(timeout(shared.config.head_patience, &mut posted)).await;
        let posted: Posted = match early {
            Some(Ok(Ok(records))) => Box::pin(std::future::ready(Ok(records))),
            Some(Ok(Err(error))) => {
                return Err(refusal::problem(&error, language, &thread_id, &run_id, &shared.forward));
            }
            Some(Err(_)) => posted,
            None => return Err(text::problem(language, ErrorCode::ShuttingDown)),
        };
        let (sink, stream) = run_channel(thread_id.clone(), run_id.clone(), shared.config.limits);
        let run = Arc::clone(shared).follow(posted, sink, thread_id, run_id, language);
        shared.runs.spawn(run.in_current_span());
        Ok(stream)
    }
}

/// A request under way, up to the head of its answer.
type Posted = BoxFuture<'static, Result<Records, ClientError>>;

impl Shared {
    /// Waits for the answer, as long as somebody reads the run, and relays it.
    async fn follow(
        self: Arc<Self>,
        posted: Posted,
        mut sink: RunSink,
        thread_id: ThreadId,
        run_id: RunId,
        language: Language,
    ) {
        let posted = tokio::select! {
            // Dropping the request closes its connection, which is how the upstream hears of it.
            biased;
            posted = posted => posted,
            () = sink.closed() => {
                let (thread_id, run_id) = (text::shown(thread_id.as_str()), text::shown(run_id.as_str()));
                return debug!(thread_id, run_id, "nobody waits for the run any more");
            }
            () = self.stop.cancelled() => {
                sink.send(text::run_error(language, ErrorCode::ShuttingDown));
                return;
            }
        };
        match posted {
            Ok(records) => {
                let pump = Pump::new(records, sink, thread_id, run_id, language, self.config.error_text);
                pump.run(self.stop.clone()).await;
            }
            Err(error) => {
                let problem = refusal::problem(&error, language, &thread_id, &run_id, &self.forward);
                sink.send(RunError::new(problem.message).with_code(problem.code));
            }
        }
    }
}

impl Agent for Upstream {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(self.start(request))
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("config", &self.shared.config)
            .field("runs", &self.shared.runs.len())
            .finish_non_exhaustive()
    }
}
