//! Connections that stop speaking HTTP and go on as something else, WebSocket above all.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::{CONNECTION, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Version};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::gate::Stop;
use crate::refusal::Refusal;
use crate::request_log::{Ended, RequestLog};

/// The one protocol that is changed to.
pub(crate) const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");

/// The one version of it that exists (RFC 6455 section 4.4).
pub(crate) const WEBSOCKET_VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("sec-websocket-version"), HeaderValue::from_static("13"));

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
type Start = Box<dyn FnOnce(Upgraded, UpgradeStop) -> Task + Send>;

/// The answer `101 Switching Protocols` and what happens on the connection after it.
///
/// ```
/// use agui_transport::{Route, RouteReply, RouteRequest, Upgrade};
/// use tokio::io::AsyncWriteExt as _;
///
/// let route = Route::upgrade("/ws", |_: RouteRequest| async {
///     RouteReply::Upgrade(Upgrade::new(http::HeaderMap::new(), |mut io, stop| async move {
///         tokio::select! {
///             _ = io.write_all(b"good day") => {}
///             () = stop.asked.cancelled() => {}
///         }
///         let _ = io.shutdown().await;
///     }))
/// });
/// # let _ = route;
/// ```
#[must_use]
pub struct Upgrade {
    headers: HeaderMap,
    start: Start,
}

impl Upgrade {
    /// Answers with `headers`, to which `Upgrade: websocket` and `Connection: Upgrade` are added, and
    /// hands the connection to `start` once that answer has been sent.
    ///
    /// The server keeps track of the work that `start` gives: it counts as an open stream, a shutdown
    /// waits for it, and when the shutdown time is over it is dropped. While it lasts, a client that
    /// accepts nothing for [`Timeouts::write`](crate::Timeouts::write) gets its connection closed; a
    /// connection on which nothing happens stays open as long as the work likes.
    pub fn new<F, Fut>(headers: HeaderMap, start: F) -> Self
    where
        F: FnOnce(Upgraded, UpgradeStop) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        Self { headers, start: Box::new(|io, stop| Box::pin(start(io, stop))) }
    }

    /// The headers of the answer and the work after it.
    pub(crate) fn into_parts(self) -> (HeaderMap, Start) {
        let mut headers = self.headers;
        headers.insert(UPGRADE, WEBSOCKET);
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        (headers, self.start)
    }
}

impl fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Upgrade").field("headers", &names).finish_non_exhaustive()
    }
}

/// The connection after the change of protocols; bytes that came with the request are read first.
///
/// End it with `shutdown`: it closes the writing side, so that what was written arrives even if the
/// client is still sending. A connection that is only dropped may be reset.
///
/// Example: see [`Upgrade`].
pub struct Upgraded(TokioIo<hyper::upgrade::Upgraded>);

impl AsyncRead for Upgraded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Upgraded {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

impl fmt::Debug for Upgraded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Upgraded(..)")
    }
}

/// How an upgraded connection hears of a shutdown; each token is cancelled after the one before it.
///
/// Example: see [`Upgrade`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UpgradeStop {
    /// Nothing new is to be begun; what runs may go on to its end.
    pub asked: CancellationToken,
    /// The shutdown time is over: say the last word now, there is a second for it.
    pub last_call: CancellationToken,
    /// The work is being dropped; only of use to what it has started elsewhere.
    pub now: CancellationToken,
}

impl UpgradeStop {
    pub(crate) fn new(stop: &Stop) -> Self {
        let Stop { asked, last_call, now } = stop.child();
        Self { asked, last_call, now }
    }
}

/// Lets pass a request whose client asks for WebSocket on a connection that can change to it.
///
/// Source: RFC 6455 section 4.2.1; RFC 9110 section 7.8.
pub(crate) fn check_asked(head: &Parts) -> Result<(), Refusal> {
    let asked = head.version == Version::HTTP_11
        && lists(&head.headers, &CONNECTION, "upgrade")
        && lists(&head.headers, &UPGRADE, "websocket");
    let possible = head.extensions.get::<OnUpgrade>().is_some();
    if asked && possible { Ok(()) } else { Err(Refusal::UpgradeRequired) }
}

fn lists(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let mut listed = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    listed.any(|element| element.trim().eq_ignore_ascii_case(token))
}

/// Waits for the connection to be handed over and does the work on it.
pub(crate) async fn carry_on(handed_over: OnUpgrade, start: Start, stop: UpgradeStop, mut log: RequestLog) {
    let now = stop.now.clone();
    let upgraded = match now.run_until_cancelled(handed_over).await {
        Some(Ok(upgraded)) => Upgraded(TokioIo::new(upgraded)),
        // The connection broke before the answer had been sent.
        Some(Err(error)) => return tracing::debug!(%error, "a connection was not handed over"),
        None => return log.ended(Ended::Shutdown),
    };
    // Unless something else becomes of it.
    log.ended(Ended::Broken);
    let ended = match now.run_until_cancelled(start(upgraded, stop)).await {
        Some(()) => Ended::Complete,
        None => Ended::Shutdown,
    };
    log.ended(ended);
}
