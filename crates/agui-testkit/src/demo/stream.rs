//! The event stream of one response.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Response, header};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, interval_at};

use super::task::Phase;
use crate::net::{Aborted, Body};
use crate::wire;

struct Cursor {
    /// Results that come before those of the phase.
    first: Vec<Arc<str>>,
    phase: Arc<Phase>,
    seen: usize,
    rpc_id: Value,
    changed: watch::Receiver<()>,
    pings: Interval,
}

/// A response that shows `first` and then everything of the phase after its first `seen` results.
pub(super) fn response(
    first: Option<&Value>,
    phase: Arc<Phase>,
    seen: usize,
    rpc_id: &Value,
    ping_interval: Duration,
) -> Response<Body> {
    // An interval of nothing is not allowed.
    let ping_interval = ping_interval.max(Duration::from_millis(1));
    let cursor = Cursor {
        first: first.map(|result| result.to_string().into()).into_iter().collect(),
        changed: phase.watch(),
        phase,
        seen,
        rpc_id: rpc_id.clone(),
        pings: interval_at(Instant::now() + ping_interval, ping_interval),
    };
    let frames = stream::unfold(cursor, |mut cursor| async move {
        let bytes = cursor.next().await?;
        Some((Ok::<_, Aborted>(Frame::data(bytes)), cursor))
    });
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

impl Cursor {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let (news, closed) = self.phase.after(self.seen);
            self.seen += news.len();
            let mut out = String::new();
            for result in self.first.drain(..).chain(news) {
                let reply = format!(r#"{{"result":{result},"id":{},"jsonrpc":"2.0"}}"#, self.rpc_id);
                out.push_str(&wire::record(&reply));
            }
            if !out.is_empty() {
                return Some(out.into());
            }
            if closed {
                return None;
            }
            // Both branches lose nothing when dropped: the watch keeps its mark, the interval its time.
            tokio::select! {
                _ = self.changed.changed() => {}
                _ = self.pings.tick() => return Some(wire::ping().into()),
            }
        }
    }
}
