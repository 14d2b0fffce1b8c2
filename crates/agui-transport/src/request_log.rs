//! One line a request, written when its answer has ended.

use std::borrow::Cow;
use std::sync::Arc;

use agui_core::{RunId, ThreadId};
use http::{Method, StatusCode};
use tokio::time::Instant;

use crate::echo::Ids;

/// Characters of an id that a line holds (1,024): a client may send one as long as a body.
const LOGGED_CHARACTERS: usize = 1_024;

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The answer was given in full, as far as the server is concerned.
    Complete,
    /// The client left while events could still come, or accepted nothing for too long.
    ClientGone,
    /// The server ended the stream because it had to stop.
    Shutdown,
    /// What was to be done on an upgraded connection panicked.
    Broken,
}

impl Ended {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::ClientGone => "client_gone",
            Self::Shutdown => "shutdown",
            Self::Broken => "broken",
        }
    }
}

/// Collects what is known of a request and writes it when dropped. Ids yes, content never.
#[derive(Debug)]
pub(crate) struct RequestLog {
    method: Method,
    route: Option<Arc<str>>,
    status: Option<StatusCode>,
    code: Option<Cow<'static, str>>,
    run: Option<(ThreadId, RunId)>,
    ids: Ids,
    started: Instant,
    events: usize,
    bytes: usize,
    ended: Ended,
    quiet: bool,
}

impl RequestLog {
    pub(crate) fn new(method: Method, ids: Ids) -> Self {
        Self {
            method,
            route: None,
            status: None,
            code: None,
            run: None,
            ids,
            started: Instant::now(),
            events: 0,
            bytes: 0,
            ended: Ended::ClientGone,
            quiet: false,
        }
    }

    /// Probes come every few seconds; a line for each would bury the rest.
    pub(crate) const fn hush(&mut self) {
        self.quiet = true;
    }

    pub(crate) fn routed(&mut self, pattern: &Arc<str>) {
        self.route = Some(Arc::clone(pattern));
    }

    pub(crate) fn names(&mut self, thread_id: &ThreadId, run_id: &RunId) {
        self.run = Some((thread_id.clone(), run_id.clone()));
    }

    /// The answer is there in full.
    pub(crate) const fn answered(&mut self, status: StatusCode) {
        self.status = Some(status);
        self.ended = Ended::Complete;
    }

    /// The answer has begun; how it ends is told later.
    pub(crate) const fn streams(&mut self) {
        self.status = Some(StatusCode::OK);
    }

    /// The connection goes on with another protocol; how that ends is told later.
    pub(crate) const fn switched(&mut self) {
        self.status = Some(StatusCode::SWITCHING_PROTOCOLS);
    }

    pub(crate) fn refused(&mut self, code: Cow<'static, str>) {
        self.code = Some(code);
    }

    pub(crate) const fn sent(&mut self, events: usize, bytes: usize) {
        self.events += events;
        self.bytes += bytes;
    }

    pub(crate) const fn ended(&mut self, how: Ended) {
        self.ended = how;
    }
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        if self.quiet {
            return;
        }
        tracing::info!(
            method = self.method.as_str(),
            route = self.route.as_deref(),
            status = self.status.map(|status| status.as_u16()),
            code = self.code.as_deref(),
            thread_id = self.run.as_ref().map(|(thread_id, _)| shown(thread_id.as_str())),
            run_id = self.run.as_ref().map(|(_, run_id)| shown(run_id.as_str())),
            requestId = self.ids.request(),
            sessionId = self.ids.session(),
            events = self.events,
            bytes = self.bytes,
            ended = self.ended.as_str(),
            duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "request finished"
        );
    }
}

/// As much of an id as is written down.
fn shown(id: &str) -> &str {
    id.char_indices().nth(LOGGED_CHARACTERS).map_or(id, |(end, _)| &id[..end])
}
