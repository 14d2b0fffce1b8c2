//! The requests that a server received, for assertions.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch;

use crate::error::TestkitError;

/// How long the `wait_*` helpers wait before they give up, in seconds.
pub(crate) const WAIT_S: u64 = 10;

/// One request as the server read it.
#[derive(Clone)]
#[non_exhaustive]
pub struct LoggedRequest {
    /// Number of the connection it came on, from 1.
    pub connection: u64,
    /// HTTP method.
    pub method: String,
    /// Request target: path and query.
    pub target: String,
    /// Header names (lower case) and values, in the order they came.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: Bytes,
    /// The body as JSON; `null` when it is empty or not JSON.
    pub json: Value,
}

impl LoggedRequest {
    pub(crate) fn new(
        connection: u64,
        method: String,
        target: String,
        headers: Vec<(String, String)>,
        body: Bytes,
    ) -> Self {
        let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Self { connection, method, target, headers, body, json }
    }

    /// The path without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// The value of a query parameter, as it came (not decoded).
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name)).map(|(_, v)| v)
    }

    /// The first header of that name (lower case).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC method, for a `POST /` with one.
    #[must_use]
    pub fn rpc_method(&self) -> Option<&str> {
        if self.method != "POST" || self.path() != "/" {
            return None;
        }
        self.json.get("method").and_then(Value::as_str)
    }

    /// What the request is about: its JSON-RPC method, else `METHOD /path`.
    #[must_use]
    pub fn kind(&self) -> String {
        self.rpc_method().map_or_else(|| format!("{} {}", self.method, self.path()), str::to_owned)
    }

    /// `params.message` of the request, `null` if there is none.
    #[must_use]
    pub fn message(&self) -> &Value {
        &self.json["params"]["message"]
    }
}

impl fmt::Debug for LoggedRequest {
    /// Headers and body may hold secrets and are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoggedRequest")
            .field("connection", &self.connection)
            .field("kind", &self.kind())
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// All requests of one server, in the order they were read. Clones share the list.
#[derive(Clone, Debug)]
pub struct RequestLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    entries: Mutex<Vec<LoggedRequest>>,
    changed: watch::Sender<usize>,
    keep: usize,
}

impl RequestLog {
    /// A log that keeps the first `keep` requests; 0 keeps nothing.
    pub(crate) fn new(keep: usize) -> Self {
        let (changed, _) = watch::channel(0);
        Self { shared: Arc::new(Shared { entries: Mutex::default(), changed, keep }) }
    }

    pub(crate) fn push(&self, request: &LoggedRequest) {
        let mut entries = self.shared.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() < self.shared.keep {
            entries.push(request.clone());
            self.shared.changed.send_replace(entries.len());
        }
    }

    /// Every request.
    #[must_use]
    pub fn all(&self) -> Vec<LoggedRequest> {
        self.shared.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The requests of one kind: a JSON-RPC method (`CancelTask`) or `GET /path`.
    #[must_use]
    pub fn of(&self, kind: &str) -> Vec<LoggedRequest> {
        let mut all = self.all();
        all.retain(|request| request.kind() == kind);
        all
    }

    /// How many requests of one kind came; see [`of`](Self::of).
    #[must_use]
    pub fn count(&self, kind: &str) -> usize {
        self.of(kind).len()
    }

    /// The kinds of all requests, in order: the shape of a conversation.
    #[must_use]
    pub fn kinds(&self) -> Vec<String> {
        self.all().iter().map(LoggedRequest::kind).collect()
    }

    /// Waits until at least `count` requests of one kind have come, and gives them.
    ///
    /// # Errors
    /// [`TestkitError::Deadline`] after 10 s.
    pub async fn wait_for(&self, kind: &str, count: usize) -> Result<Vec<LoggedRequest>, TestkitError> {
        let mut changed = self.shared.changed.subscribe();
        let wait = changed.wait_for(|_| self.count(kind) >= count);
        match tokio::time::timeout(Duration::from_secs(WAIT_S), wait).await {
            Ok(Ok(_)) => Ok(self.of(kind)),
            _ => Err(TestkitError::Deadline { what: "a request", waited_s: WAIT_S }),
        }
    }
}
