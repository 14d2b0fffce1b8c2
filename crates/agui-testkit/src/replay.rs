//! Serves a recorded conversation between an adapter and the kernel, in causal order.
//!
//! What the kernel sent after it had received a request is sent only after the adapter under test
//! has made that request, so a replay is as fast as the adapter and keeps the order of the record.
//! The identities that the adapter chooses itself (JSON-RPC ids, context and message ids, the
//! workspace, the port) are put into the answers in place of the recorded ones.

use std::sync::Arc;
use std::time::Duration;

use crate::error::TestkitError;
use crate::log::RequestLog;
use crate::net::{ANY_PORT, Connections, Running, serve_http};

mod bulk;
mod pick;
mod play;
mod session;
mod state;
mod template;
mod trace;

pub use bulk::{BulkConfig, BulkServer, WriteMode};
pub use session::Problem;
use session::Session;
pub use template::BulkStream;
pub use trace::{Exchange, ExchangeEnd, Trace, fixtures_dir};

/// How a trace is replayed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReplayConfig {
    /// How long an answer waits for the requests that came before it in the record (default 5 s).
    pub gate_timeout: Duration,
    /// How long a stream that the recorded adapter left waits for this adapter to leave (default 30 s).
    pub leave_timeout: Duration,
    /// Kinds of requests that the adapter need not make: no answer waits for them.
    pub optional: Vec<String>,
    /// How a pipeline state is told whose events the stream before it had told too.
    pub late_state: LateState,
}

/// What a recorded pipeline state tells that was asked for events which the stream before it had told too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LateState {
    /// All of it, for an adapter that reads it as late as the recorded one.
    #[default]
    AsRecorded,
    /// What had happened when that stream began, for an adapter that reads it then.
    AsOfStreamStart,
}

impl Default for ReplayConfig {
    fn default() -> Self {
        let (gate_timeout, leave_timeout) = (Duration::from_secs(5), Duration::from_secs(30));
        Self { gate_timeout, leave_timeout, optional: Vec::new(), late_state: LateState::default() }
    }
}

impl ReplayConfig {
    /// Sets how long an answer waits for earlier requests.
    #[must_use]
    pub const fn with_gate_timeout(mut self, time: Duration) -> Self {
        self.gate_timeout = time;
        self
    }

    /// Sets how long a stream waits for the adapter to leave.
    #[must_use]
    pub const fn with_leave_timeout(mut self, time: Duration) -> Self {
        self.leave_timeout = time;
        self
    }

    /// Sets what late pipeline states tell.
    #[must_use]
    pub const fn with_late_state(mut self, late_state: LateState) -> Self {
        self.late_state = late_state;
        self
    }

    /// Lets the adapter do without requests of a kind (`GetTask`, `GET /iac-code/pipeline/state`).
    #[must_use]
    pub fn with_optional(mut self, kind: &str) -> Self {
        self.optional.push(kind.to_owned());
        self
    }
}

/// The server of one trace; every recorded exchange is served once, but for reads that are repeated.
#[derive(Debug)]
pub struct ReplayServer {
    running: Running,
    session: Arc<Session>,
}

impl ReplayServer {
    /// Starts on a free loopback port.
    ///
    /// # Errors
    /// [`TestkitError::Bind`].
    pub async fn start(trace: Trace, config: ReplayConfig) -> Result<Self, TestkitError> {
        let session = Arc::new(Session::new(trace, config));
        let running = serve_http(ANY_PORT, usize::MAX, Arc::clone(&session)).await?;
        Ok(Self { running, session })
    }

    /// `http://127.0.0.1:port`.
    #[must_use]
    pub fn url(&self) -> String {
        self.running.url()
    }

    /// Every request of the adapter.
    #[must_use]
    pub fn requests(&self) -> &RequestLog {
        &self.running.log
    }

    /// Connections accepted and open.
    #[must_use]
    pub fn connections(&self) -> &Connections {
        &self.running.connections
    }

    /// Tells the replay that the test has reached a mark of the record (`client-gone`): what the
    /// kernel sent after that mark may be sent now.
    pub fn mark(&self, name: &str) {
        self.session.mark(name);
    }

    /// The kinds of the requests that the record does not have (any more).
    #[must_use]
    pub fn unmatched(&self) -> Vec<String> {
        self.session.unmatched()
    }

    /// What went out of order: answers that waited in vain, streams that were not left.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.session.problems()
    }

    /// The recorded exchanges that nobody has asked for, but for optional ones.
    #[must_use]
    pub fn unused(&self) -> Vec<String> {
        self.session.unused()
    }

    /// Stops listening and closes every socket.
    pub async fn stop(self) {
        self.running.stop().await;
    }
}
