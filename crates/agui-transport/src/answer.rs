//! Answers: JSON documents, the error envelope, event streams.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use agui_i18n::Language;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::body::{Body, Frame, SizeHint};
use serde::Serialize;

use crate::error_form::ErrorEvent;
use crate::event_body::EventBody;
use crate::media::Encoding;
use crate::refusal::Refusal;
use crate::request_log::RequestLog;

const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

const BINARY_EVENTS: HeaderValue = HeaderValue::from_static(agui_proto::CONTENT_TYPE);

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A JSON document.
pub(crate) fn json(status: StatusCode, body: Bytes, mut log: RequestLog) -> Response<AnswerBody> {
    log.answered(status);
    let mut response = Response::new(AnswerBody::Whole(Some(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The JSON error envelope of S1.8.
pub(crate) fn refuse(refusal: &Refusal, language: Language, mut log: RequestLog) -> Response<AnswerBody> {
    #[derive(Serialize)]
    struct Envelope<'a> {
        error: Failure<'a>,
    }

    #[derive(Serialize)]
    struct Failure<'a> {
        code: &'a str,
        message: &'a str,
    }

    let (code, message) = (refusal.code(), refusal.message(language));
    let envelope = Envelope { error: Failure { code: &code, message: &message } };
    let body = serde_json::to_vec(&envelope).map_or(Bytes::from_static(b"{}"), Bytes::from);
    log.refused(code);
    let mut response = json(refusal.status(), body, log);
    response.headers_mut().extend(refusal.headers());
    response
}

/// A refusal as an event stream of one event.
pub(crate) fn error_event(
    event: ErrorEvent,
    headers: HeaderMap,
    mut log: RequestLog,
) -> Response<AnswerBody> {
    log.refused(event.code);
    let mut response = json(event.status, event.body, log);
    response.headers_mut().insert(CONTENT_TYPE, EVENT_STREAM);
    response.headers_mut().extend(headers);
    response
}

/// The answer to a preflight.
pub(crate) fn preflight(headers: HeaderMap, mut log: RequestLog) -> Response<AnswerBody> {
    log.answered(StatusCode::NO_CONTENT);
    let mut response = Response::new(AnswerBody::Whole(None));
    *response.status_mut() = StatusCode::NO_CONTENT;
    *response.headers_mut() = headers;
    response
}

/// The last answer of HTTP on a connection.
pub(crate) fn switch(headers: HeaderMap) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::Whole(None));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    *response.headers_mut() = headers;
    response
}

/// An event stream. `no-transform` and the buffering hint keep proxies from holding events back.
///
/// Source: S4.3.
pub(crate) fn events(body: EventBody) -> Response<AnswerBody> {
    let content_type = match body.encoding() {
        Encoding::Text => EVENT_STREAM,
        Encoding::Binary => BINARY_EVENTS,
    };
    let mut response = Response::new(AnswerBody::Events(Box::new(body)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// The body of every answer.
pub(crate) enum AnswerBody {
    Whole(Option<Bytes>),
    Events(Box<EventBody>),
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match self.get_mut() {
            Self::Whole(body) => Poll::Ready(body.take()),
            Self::Events(body) => body.poll_chunk(cx),
        };
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_none(),
            Self::Events(body) => body.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
            Self::Events(_) => SizeHint::default(),
        }
    }
}
