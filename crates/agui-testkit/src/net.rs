//! The HTTP server under the demo kernel, the replayer and the model server.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::TestkitError;
use crate::log::{LoggedRequest, RequestLog, WAIT_S};

/// Largest request body that is read, in bytes (default 64 MiB, five times what an adapter may send).
const MAX_BODY_BYTES: usize = 64 << 20;

pub(crate) type Body = UnsyncBoxBody<Bytes, Aborted>;

/// The body or the whole response is cut off: the socket closes without an orderly end.
#[derive(Debug, thiserror::Error)]
#[error("the connection is cut on purpose")]
pub(crate) struct Aborted;

/// What a server does with a request that was read to its end.
pub(crate) trait Handler: Send + Sync + 'static {
    fn handle(self: Arc<Self>, request: LoggedRequest)
    -> BoxFuture<'static, Result<Response<Body>, Aborted>>;
}

/// Counts of one server's connections. Clones share the counts.
#[derive(Clone, Debug)]
pub struct Connections {
    shared: Arc<Counts>,
}

#[derive(Debug)]
struct Counts {
    accepted: AtomicU64,
    open: watch::Sender<usize>,
}

impl Connections {
    pub(crate) fn new() -> Self {
        let (open, _) = watch::channel(0);
        Self { shared: Arc::new(Counts { accepted: AtomicU64::new(0), open }) }
    }

    /// Counts one more connection until the guard is dropped.
    pub(crate) fn enter(&self) -> Connected {
        let number = self.shared.accepted.fetch_add(1, Ordering::Relaxed) + 1;
        self.shared.open.send_modify(|open| *open += 1);
        Connected { number, shared: Arc::clone(&self.shared) }
    }

    /// How many connections were ever accepted.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// How many connections are open now.
    #[must_use]
    pub fn open(&self) -> usize {
        *self.shared.open.borrow()
    }

    /// Waits until exactly `count` connections are open.
    ///
    /// # Errors
    /// [`TestkitError::Deadline`] after 10 s.
    pub async fn wait_open(&self, count: usize) -> Result<(), TestkitError> {
        let mut open = self.shared.open.subscribe();
        let wait = open.wait_for(|open| *open == count);
        match tokio::time::timeout(Duration::from_secs(WAIT_S), wait).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(TestkitError::Deadline { what: "the number of open connections", waited_s: WAIT_S }),
        }
    }
}

/// Keeps one connection counted as open.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) number: u64,
    shared: Arc<Counts>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.shared.open.send_modify(|open| *open -= 1);
    }
}

/// A listening server: its address, its tasks and the counts that tests ask for.
///
/// Dropping it cancels every task and so closes every socket.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) addr: SocketAddr,
    pub(crate) log: RequestLog,
    pub(crate) connections: Connections,
    pub(crate) tracker: TaskTracker,
    pub(crate) token: CancellationToken,
}

impl Running {
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Stops listening, cuts every connection and waits until all tasks have ended.
    pub(crate) async fn stop(&self) {
        self.token.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

/// Loopback, any free port.
pub(crate) const ANY_PORT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// Listens on `addr` and gives every connection to `serve` in a task of its own.
pub(crate) async fn listen<F, Fut>(addr: SocketAddr, keep: usize, serve: F) -> Result<Running, TestkitError>
where
    F: Fn(TcpStream, Connected, RequestLog) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind(addr).await.map_err(|source| TestkitError::Bind { addr, source })?;
    let addr = listener.local_addr()?;
    let running = Running {
        addr,
        log: RequestLog::new(keep),
        connections: Connections::new(),
        tracker: TaskTracker::new(),
        token: CancellationToken::new(),
    };
    let (log, connections) = (running.log.clone(), running.connections.clone());
    let (tracker, token) = (running.tracker.clone(), running.token.clone());
    let accept = async move {
        loop {
            let Ok((socket, _)) = listener.accept().await else {
                // Out of file descriptors, most likely: let others close theirs.
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            let _ = socket.set_nodelay(true);
            let task = serve(socket, connections.enter(), log.clone());
            tracker.spawn(token.clone().run_until_cancelled_owned(task));
        }
    };
    let token = running.token.clone();
    running.tracker.spawn(async move { token.run_until_cancelled(accept).await });
    Ok(running)
}

/// An HTTP/1.1 server for `handler` on `addr`.
pub(crate) async fn serve_http<H: Handler>(
    addr: SocketAddr,
    keep: usize,
    handler: Arc<H>,
) -> Result<Running, TestkitError> {
    listen(addr, keep, move |socket, connected, log| {
        let handler = Arc::clone(&handler);
        async move {
            let number = connected.number;
            let service =
                service_fn(move |request| answer(number, Arc::clone(&handler), log.clone(), request));
            let connection = hyper::server::conn::http1::Builder::new();
            // An error here is a peer that went away or a cut on purpose.
            let _ = connection.serve_connection(TokioIo::new(socket), service).await;
            drop(connected);
        }
    })
    .await
}

async fn answer<H: Handler>(
    connection: u64,
    handler: Arc<H>,
    log: RequestLog,
    request: Request<Incoming>,
) -> Result<Response<Body>, Aborted> {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_BODY_BYTES).collect().await else {
        return Ok(json_text(StatusCode::PAYLOAD_TOO_LARGE, r#"{"error":"body too large"}"#));
    };
    let target = head.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str).to_owned();
    let headers = head.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let method = head.method.as_str().to_owned();
    let request = LoggedRequest::new(connection, method, target, headers.collect(), body.to_bytes());
    log.push(&request);
    handler.handle(request).await
}

/// A complete body.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A complete JSON response.
pub(crate) fn json_text(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
