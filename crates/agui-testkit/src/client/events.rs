//! An event stream as a client sees it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use crate::sse::{SseItem, SseReader};

/// One event.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Received {
    /// The data as JSON; a JSON string of the text when the data is not JSON.
    pub json: Value,
    /// The record as it came, with its line ends.
    pub raw: String,
    /// The `event` line, if there was one.
    pub event: Option<String>,
    /// The `id` line, if there was one.
    pub id: Option<String>,
    /// Time since the request was started.
    pub at: Duration,
}

impl Received {
    /// The member `type` of an AG-UI event, empty if there is none.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.json.get("type").and_then(Value::as_str).unwrap_or_default()
    }
}

/// One comment line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comment {
    /// Its text.
    pub text: String,
    /// How many events had come before it.
    pub after: usize,
    /// Time since the request was started.
    pub at: Duration,
}

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamEnd {
    /// The body ended as HTTP says.
    Complete,
    /// The body was cut short; the text after the last complete record.
    Cut(Option<String>),
    /// The body ended as HTTP says, in the middle of a record.
    HalfRecord(String),
    /// The client stopped reading first.
    LeftByClient,
}

/// Everything that one stream brought.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recording {
    /// HTTP status.
    pub status: u16,
    /// Header names (lower case) and values.
    pub headers: Vec<(String, String)>,
    /// The events in order.
    pub events: Vec<Received>,
    /// The comments in order.
    pub comments: Vec<Comment>,
    /// How the stream ended.
    pub end: StreamEnd,
}

impl Recording {
    /// The events without the rest.
    #[must_use]
    pub fn json(&self) -> Vec<Value> {
        self.events.iter().map(|event| event.json.clone()).collect()
    }

    /// The `type` of every AG-UI event, in order.
    #[must_use]
    pub fn kinds(&self) -> Vec<&str> {
        self.events.iter().map(Received::kind).collect()
    }

    /// The first AG-UI event of one type.
    #[must_use]
    pub fn find(&self, kind: &str) -> Option<&Value> {
        self.events.iter().find(|event| event.kind() == kind).map(|event| &event.json)
    }

    /// The `delta`s of all AG-UI events of one type, joined.
    #[must_use]
    pub fn text(&self, kind: &str) -> String {
        let of_kind = self.events.iter().filter(|event| event.kind() == kind);
        of_kind.filter_map(|event| event.json["delta"].as_str()).collect()
    }
}

/// A live stream. Dropping it closes the connection at once.
#[derive(Debug)]
pub struct EventStream {
    recording: Recording,
    started: Instant,
    body: Incoming,
    reader: SseReader,
    waiting: VecDeque<SseItem>,
    ended: bool,
    _connection: AbortOnDropHandle<()>,
}

impl EventStream {
    pub(super) fn new(
        status: u16,
        headers: Vec<(String, String)>,
        started: Instant,
        body: Incoming,
        connection: AbortOnDropHandle<()>,
    ) -> Self {
        let (events, comments, end) = (Vec::new(), Vec::new(), StreamEnd::LeftByClient);
        Self {
            recording: Recording { status, headers, events, comments, end },
            started,
            body,
            reader: SseReader::default(),
            waiting: VecDeque::new(),
            ended: false,
            _connection: connection,
        }
    }

    /// What came up to now.
    #[must_use]
    pub fn so_far(&self) -> &Recording {
        &self.recording
    }

    /// The next event; `None` when the stream has ended ([`Recording::end`] says how).
    pub async fn next(&mut self) -> Option<Received> {
        loop {
            while let Some(item) = self.waiting.pop_front() {
                if let Some(event) = self.take(item) {
                    return Some(event);
                }
            }
            if self.ended {
                return None;
            }
            self.read().await;
        }
    }

    /// Reads to the end.
    pub async fn collect(mut self) -> Recording {
        while self.next().await.is_some() {}
        self.recording
    }

    /// Reads up to and with the first event for which `last` holds, then closes the connection.
    pub async fn collect_until(mut self, mut last: impl FnMut(&Received) -> bool) -> Recording {
        while let Some(event) = self.next().await {
            if last(&event) {
                break;
            }
        }
        self.recording
    }

    /// Reads up to and with the first event for which `last` holds; `None` if the stream ends before.
    pub async fn read_until(&mut self, mut last: impl FnMut(&Received) -> bool) -> Option<Received> {
        while let Some(event) = self.next().await {
            if last(&event) {
                return Some(event);
            }
        }
        None
    }

    /// Closes the connection and gives what came.
    #[must_use]
    pub fn abort(self) -> Recording {
        self.recording
    }

    async fn read(&mut self) {
        match self.body.frame().await {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    self.waiting.extend(self.reader.push(&data));
                }
            }
            Some(Err(_)) => {
                self.ended = true;
                self.recording.end = StreamEnd::Cut(self.reader.rest());
            }
            None => {
                self.ended = true;
                self.recording.end = self.reader.rest().map_or(StreamEnd::Complete, StreamEnd::HalfRecord);
            }
        }
    }

    fn take(&mut self, item: SseItem) -> Option<Received> {
        let at = self.started.elapsed();
        match item {
            SseItem::Record { event, id, data, raw } => {
                let json = serde_json::from_str(&data).unwrap_or(Value::String(data));
                let event = Received { json, raw, event, id, at };
                self.recording.events.push(event.clone());
                Some(event)
            }
            SseItem::Comment(text) => {
                let after = self.recording.events.len();
                self.recording.comments.push(Comment { text, after, at });
                None
            }
        }
    }
}
