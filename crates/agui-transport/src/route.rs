//! Routes beside the run and health routes: their description, what they get and what they give.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use agui_auth::Caller;
use agui_core::{Problem, RunStream};
use agui_i18n::Language;
use agui_iac_code::MessageKey;
use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderMap, Method, StatusCode};
use serde::Serialize;

use crate::intake::BodyCap;
use crate::percent;
use crate::upgrade::Upgrade;

/// The work of one request of an extension route.
///
/// Example: see [`Handler`].
pub type HandlerFuture = Pin<Box<dyn Future<Output = RouteReply> + Send>>;

/// The code behind an extension route. A closure `|request| async { reply }` is one.
///
/// The work goes on to its end when the client leaves, so that nothing is left half done; a reply
/// that is a stream is then dropped at once.
///
/// ```
/// use agui_transport::{Handler, HandlerFuture, Route, RouteReply, RouteRequest};
/// use http::StatusCode;
///
/// struct Named(&'static str);
///
/// impl Handler for Named {
///     fn handle(&self, _: RouteRequest) -> HandlerFuture {
///         let name = self.0;
///         Box::pin(async move { RouteReply::json(StatusCode::OK, &name) })
///     }
/// }
///
/// let route = Route::get("/name", Named("agent"));
/// # let _ = route;
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Starts the work of one request.
    fn handle(&self, request: RouteRequest) -> HandlerFuture;
}

impl<F, Fut> Handler for F
where
    F: Fn(RouteRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = RouteReply> + Send + 'static,
{
    fn handle(&self, request: RouteRequest) -> HandlerFuture {
        Box::pin(self(request))
    }
}

/// An extension route: method, path pattern, and what is checked before its handler runs.
///
/// ```
/// use agui_transport::{Route, RouteReply, RouteRequest};
/// use http::StatusCode;
/// use serde_json::json;
///
/// let cancel = Route::post("/executions/{id}/cancel", |request: RouteRequest| async move {
///     RouteReply::json(StatusCode::OK, &json!({"executionId": request.param("id")}))
/// });
/// let nothing = |_: RouteRequest| async { RouteReply::json(StatusCode::OK, &json!({})) };
/// let warm_up = Route::post("/warmup", nothing).without_auth().without_body();
/// # let _ = (cancel, warm_up);
/// ```
pub struct Route {
    pub(crate) method: Method,
    pub(crate) path: Box<str>,
    pub(crate) handler: Box<dyn Handler>,
    pub(crate) body_cap: Option<BodyCap>,
    pub(crate) streams: bool,
    pub(crate) upgrades: bool,
    pub(crate) open: bool,
}

impl Route {
    /// Body cap of a route that takes a body, in bytes, unless the route says otherwise (64 KiB,
    /// the cap of the cancel request, S1.7).
    pub const MAX_BODY_BYTES: usize = 64 * 1024;

    /// A route that takes no body. In `path`, `{name}` stands for one segment.
    #[must_use]
    pub fn get(path: impl Into<Box<str>>, handler: impl Handler) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            handler: Box::new(handler),
            body_cap: None,
            streams: false,
            upgrades: false,
            open: false,
        }
    }

    /// A route that takes a JSON body of at most [`MAX_BODY_BYTES`](Self::MAX_BODY_BYTES); another
    /// content type gets 415. In `path`, `{name}` stands for one segment.
    #[must_use]
    pub fn post(path: impl Into<Box<str>>, handler: impl Handler) -> Self {
        let route = Self { method: Method::POST, ..Self::get(path, handler) };
        route.with_max_body_bytes(Self::MAX_BODY_BYTES, MessageKey::RunBodyTooLarge)
    }

    /// A route on which a connection changes from HTTP to WebSocket. In `path`, `{name}` stands for one
    /// segment.
    ///
    /// A GET that does not ask for the change gets 426 `UPGRADE_REQUIRED` before the handler runs. The
    /// handler answers [`RouteReply::Upgrade`], or with a problem, which is an ordinary answer.
    #[must_use]
    pub fn upgrade(path: impl Into<Box<str>>, handler: impl Handler) -> Self {
        Self { upgrades: true, ..Self::get(path, handler) }
    }

    /// Takes a JSON body of at most `bytes`; whoever sends more is told so with the text `message`.
    #[must_use]
    pub fn with_max_body_bytes(mut self, bytes: usize, message: MessageKey) -> Self {
        self.body_cap = Some(BodyCap { bytes, message });
        self
    }

    /// Takes no body after all: one that comes is neither checked nor given to the handler.
    #[must_use]
    pub fn without_body(mut self) -> Self {
        self.body_cap = None;
        self
    }

    /// Lets everybody call this route, whatever the [authenticator](crate::ServerBuilder::authenticator)
    /// says: for hooks of a platform and for documents that tell how to authenticate.
    #[must_use]
    pub fn without_auth(mut self) -> Self {
        self.open = true;
        self
    }

    /// Tells that the route answers with events, so that a client whose `Accept` admits none gets
    /// 406 before the handler runs.
    #[must_use]
    pub fn with_event_stream(mut self) -> Self {
        self.streams = true;
        self
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("body_cap", &self.body_cap)
            .field("streams", &self.streams)
            .field("upgrades", &self.upgrades)
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

/// What an extension route gets to know about a request that passed all checks.
///
/// `Debug` shows names and sizes only: headers and bodies carry secrets.
///
/// Example: see [`Route`].
#[derive(Clone)]
#[non_exhaustive]
pub struct RouteRequest {
    /// Path parameters in the order of the pattern, percent-decoded.
    pub params: Vec<(Box<str>, Box<str>)>,
    /// The query as it was sent, without the `?`.
    pub query: Option<Box<str>>,
    /// All headers, credentials included.
    pub headers: HeaderMap,
    /// Who calls, as far as the [authenticator](crate::ServerBuilder::authenticator) knows.
    pub caller: Option<Caller>,
    /// The body; empty for a route that takes none.
    pub body: Bytes,
    /// The language for texts, chosen from `Accept-Language` (S1.6).
    pub language: Language,
}

impl RouteRequest {
    /// The path parameter `name`.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(key, _)| &**key == name).map(|(_, value)| &**value)
    }

    /// The first value of the query parameter `name`, decoded; `None` if it is absent or no UTF-8.
    #[must_use]
    pub fn query_param(&self, name: &str) -> Option<Cow<'_, str>> {
        self.query.as_deref()?.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent::decode_query(key)? == name).then(|| percent::decode_query(value))?
        })
    }

    /// `Last-Event-ID`, with which a client that comes back tells what it has seen.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.headers.get("last-event-id")?.to_str().ok()
    }
}

impl fmt::Debug for RouteRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.keys().map(http::HeaderName::as_str).collect();
        f.debug_struct("RouteRequest")
            .field("params", &self.params)
            .field("headers", &headers)
            .field("caller", &self.caller)
            .field("body_bytes", &self.body.len())
            .field("language", &self.language)
            .finish_non_exhaustive()
    }
}

/// What an extension route answers.
///
/// ```
/// use agui_transport::{Route, RouteReply, RouteRequest, SseRecord};
///
/// let count = Route::get("/count", |request: RouteRequest| async move {
///     let seen = request.last_event_id().and_then(|id| id.parse().ok()).unwrap_or(0);
///     let records = (seen + 1..=3).map(|n: u32| SseRecord::new(n.to_string()).with_id(n.to_string()));
///     RouteReply::records(futures_util::stream::iter(records))
/// })
/// .with_event_stream();
/// # let _ = count;
/// ```
#[non_exhaustive]
pub enum RouteReply {
    /// A JSON document.
    Json {
        /// The status.
        status: StatusCode,
        /// JSON text.
        body: Bytes,
    },
    /// A refusal, sent as the JSON error envelope.
    Problem(Problem),
    /// A run, sent as the run route would send it.
    Run(RunStream),
    /// Records that were serialised elsewhere, with heartbeats between them. Unlike a run they get
    /// no last word when the server has to stop: whether one fits is known only to their maker.
    Records(Pin<Box<dyn Stream<Item = SseRecord> + Send>>),
    /// The end of HTTP on this connection, for a route made by [`Route::upgrade`]. From any other route
    /// it is a fault of the server.
    Upgrade(Upgrade),
}

impl RouteReply {
    /// A JSON document made from `value`; 500 `INTERNAL_ERROR` if it cannot be serialised.
    #[must_use]
    pub fn json(status: StatusCode, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => Self::Json { status, body: body.into() },
            Err(_) => Self::Problem(crate::words::internal_problem(Language::En)),
        }
    }

    /// A stream of records.
    #[must_use]
    pub fn records(records: impl Stream<Item = SseRecord> + Send + 'static) -> Self {
        Self::Records(Box::pin(records))
    }
}

impl fmt::Debug for RouteReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json { status, body } => {
                f.debug_struct("Json").field("status", status).field("body_bytes", &body.len()).finish()
            }
            Self::Problem(problem) => f.debug_tuple("Problem").field(problem).finish(),
            Self::Run(_) => f.write_str("Run(..)"),
            Self::Records(_) => f.write_str("Records(..)"),
            Self::Upgrade(upgrade) => f.debug_tuple("Upgrade").field(upgrade).finish(),
        }
    }
}

/// One server-sent event that is serialised already.
///
/// Example: see [`RouteReply`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseRecord {
    /// The `id` line; an id with a line break or NUL is left out.
    pub id: Option<Box<str>>,
    /// JSON text.
    pub data: Bytes,
}

impl SseRecord {
    /// A record without an id.
    #[must_use]
    pub fn new(data: impl Into<Bytes>) -> Self {
        Self { id: None, data: data.into() }
    }

    /// Sets the id that a client sends back as `Last-Event-ID`.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Box<str>>) -> Self {
        self.id = Some(id.into());
        self
    }
}
