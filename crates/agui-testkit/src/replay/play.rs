//! Answers a request with the exchange that was recorded for it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use serde_json::{Value, json};

use super::session::{Found, Session};
use super::{Exchange, ExchangeEnd, state};
use crate::log::LoggedRequest;
use crate::net::{Aborted, Body, Handler, full, json_text};
use crate::wire;

/// Headers that belong to the recorded connection.
const HOP: [&str; 5] = ["transfer-encoding", "content-length", "connection", "date", "server"];

impl Handler for Session {
    fn handle(
        self: Arc<Self>,
        request: LoggedRequest,
    ) -> BoxFuture<'static, Result<Response<Body>, Aborted>> {
        async move { self.answer(request).await }.boxed()
    }
}

impl Session {
    async fn answer(self: Arc<Self>, request: LoggedRequest) -> Result<Response<Body>, Aborted> {
        let at = match self.take(&request) {
            Found::Exchange(at) => at,
            Found::Nobody => return Err(Aborted),
            Found::Nothing => return Ok(not_in_trace(&request)),
        };
        let exchange = &self.trace.exchanges[at];
        let Some(status) = exchange.status.and_then(|status| StatusCode::from_u16(status).ok()) else {
            self.gate(exchange, exchange.end_ms).await;
            return Err(Aborted);
        };
        let body = if exchange.is_stream() {
            self.gate(exchange, exchange.head_ms).await;
            stream(Cursor { session: Arc::clone(&self), exchange: at, next: Some(0), request })
        } else {
            let (ms, bytes) = exchange.pieces.first().cloned().unwrap_or((exchange.at_ms, Bytes::new()));
            self.gate(exchange, ms).await;
            let bytes = state::earlier(&self.trace, exchange, self.config.late_state).unwrap_or(bytes);
            full(self.rewritten(exchange, &request, &bytes))
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        for (name, value) in exchange.headers.iter().filter(|(name, _)| !HOP.contains(&name.as_str())) {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
                response.headers_mut().insert(name, value);
            }
        }
        Ok(response)
    }

    fn rewritten(&self, exchange: &Exchange, request: &LoggedRequest, bytes: &Bytes) -> Bytes {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.rewrite(exchange, request, text).into(),
            Err(_) => bytes.clone(),
        }
    }

    /// What happens after the last piece.
    async fn end(&self, exchange: &Exchange) -> Result<(), Aborted> {
        if exchange.ends_by_itself() {
            return Ok(());
        }
        match exchange.end {
            ExchangeEnd::Complete => {
                self.gate(exchange, exchange.end_ms).await;
                Ok(())
            }
            ExchangeEnd::ClientClosed => {
                // When the adapter leaves, the whole response is dropped and this wait with it.
                tokio::time::sleep(self.config.leave_timeout).await;
                self.not_left(exchange);
                Err(Aborted)
            }
            ExchangeEnd::UpstreamClosed | ExchangeEnd::ConnectFailed => {
                self.gate(exchange, exchange.end_ms).await;
                Err(Aborted)
            }
        }
    }
}

/// How far one stream has come.
struct Cursor {
    session: Arc<Session>,
    /// Index of the exchange.
    exchange: usize,
    /// Index of the next piece; `None` after a cut.
    next: Option<usize>,
    request: LoggedRequest,
}

fn stream(cursor: Cursor) -> Body {
    let frames = stream::unfold(cursor, |mut cursor| async move {
        let item = cursor.next().await?;
        Some((item.map(Frame::data), cursor))
    });
    StreamBody::new(frames).boxed_unsync()
}

impl Cursor {
    async fn next(&mut self) -> Option<Result<Bytes, Aborted>> {
        let session = &self.session;
        let exchange = &session.trace.exchanges[self.exchange];
        let at = self.next.take()?;
        let Some((ms, piece)) = exchange.pieces.get(at) else {
            return session.end(exchange).await.err().map(Err);
        };
        session.gate(exchange, *ms).await;
        self.next = Some(at + 1);
        Some(Ok(session.rewritten(exchange, &self.request, piece)))
    }
}

fn not_in_trace(request: &LoggedRequest) -> Response<Body> {
    if request.rpc_method().is_some() {
        let text = wire::error_reply(&request.json["id"], -32001, "not in trace", &Value::Null);
        return json_text(StatusCode::OK, text);
    }
    json_text(StatusCode::NOT_FOUND, json!({"error": "not in trace"}).to_string())
}
