//! One request and its answer.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Request, Response, response};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use crate::socket::Socket;
use crate::{Dialer, ExchangeError};

/// Largest read buffer of a connection, 64 KiB: bounds what a busy stream holds, and stays below the size
/// at which allocators ask the system for fresh pages each time.
///
/// Example: see [`Exchange`].
pub const READ_BUFFER_BYTES: usize = 64 * 1024;

type Connection = http1::Connection<TokioIo<Socket>, Full<Bytes>>;

/// One request on a connection of its own, up to the head of the answer.
///
/// ```no_run
/// # async fn read(dialer: http_exchange::Dialer) -> Result<(), http_exchange::ExchangeError> {
/// use std::time::Duration;
///
/// let request = http::Request::new(bytes::Bytes::new().into());
/// let exchange = http_exchange::Exchange::open(&dialer, request, Duration::from_secs(5), None).await?;
/// println!("{}", exchange.head.status);
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
pub struct Exchange {
    /// Status and headers of the answer.
    pub head: response::Parts,
    /// Its body, as it comes.
    pub body: Body,
}

impl Exchange {
    /// Connects within `connect_timeout`, sends `request`, and waits for the head of the answer, at most for
    /// `answer_timeout` if there is one.
    ///
    /// Each address of the host has an equal share of `connect_timeout`. Dropping the future closes the
    /// connection.
    ///
    /// A new connection each time: it costs a round trip on the same machine and spares the race between
    /// the reuse of an idle connection and its closing by the peer.
    ///
    /// # Errors
    /// [`ExchangeError`]; up to and including [`ExchangeError::ClosedEarly`] nothing was sent.
    pub async fn open(
        dialer: &Dialer,
        request: Request<Full<Bytes>>,
        connect_timeout: Duration,
        answer_timeout: Option<Duration>,
    ) -> Result<Self, ExchangeError> {
        let sent = send(dialer.connect(connect_timeout).await?, request);
        match answer_timeout {
            None => sent.await,
            Some(limit) => timeout(limit, sent)
                .await
                .map_err(|_| ExchangeError::AnswerTimeout { after_ms: millis(limit) })?,
        }
    }
}

async fn send(socket: Socket, request: Request<Full<Bytes>>) -> Result<Exchange, ExchangeError> {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(READ_BUFFER_BYTES);
    let (mut sender, mut connection) =
        builder.handshake(TokioIo::new(socket)).await.map_err(|_| ExchangeError::ClosedEarly)?;
    let mut answer = pin!(sender.try_send_request(request));
    let mut connected = true;
    let answer = poll_fn(|cx| {
        if connected && Pin::new(&mut connection).poll(cx).is_ready() {
            connected = false;
        }
        answer.as_mut().poll(cx)
    });
    let answer: Response<Incoming> = answer.await.map_err(|mut failed| match failed.take_message() {
        Some(_) => ExchangeError::ClosedEarly,
        None => failed.into_error().into(),
    })?;
    let (head, incoming) = answer.into_parts();
    Ok(Exchange { head, body: Body { connection: connected.then_some(connection), incoming } })
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("status", &self.head.status).finish_non_exhaustive()
    }
}

/// The body of an answer together with the connection that brings it.
///
/// Nothing else drives the connection: no task, no hand-over between tasks. Who does not read holds the peer
/// back, and dropping the body closes the socket.
///
/// Example: see [`Exchange`].
pub struct Body {
    connection: Option<Connection>,
    incoming: Incoming,
}

impl Body {
    /// The next bytes; `None` at the end of a complete body.
    ///
    /// # Errors
    /// [`ExchangeError::Cut`] or [`ExchangeError::NotHttp`].
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, ExchangeError>> {
        loop {
            // The connection reports its failures through the body.
            if self.connection.as_mut().is_some_and(|connection| Pin::new(connection).poll(cx).is_ready()) {
                self.connection = None;
            }
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Ok(Some(data)));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error.into())),
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Pending if self.connection.is_none() => {
                    return Poll::Ready(Err(ExchangeError::Cut(None)));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// As [`poll_chunk`](Self::poll_chunk). Cancel-safe.
    ///
    /// # Errors
    /// As [`poll_chunk`](Self::poll_chunk).
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ExchangeError> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    /// The whole body, at most `limit_bytes`.
    ///
    /// # Errors
    /// As [`poll_chunk`](Self::poll_chunk), and [`ExchangeError::TooLarge`].
    pub async fn collect(mut self, limit_bytes: usize) -> Result<Bytes, ExchangeError> {
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            if whole.len() + chunk.len() > limit_bytes {
                return Err(ExchangeError::TooLarge { limit_bytes });
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }

    /// The first `limit_bytes` of the body, as far as it arrives.
    pub async fn beginning(mut self, limit_bytes: usize) -> Bytes {
        let mut beginning = BytesMut::new();
        while beginning.len() < limit_bytes
            && let Ok(Some(chunk)) = self.chunk().await
        {
            beginning.extend_from_slice(&chunk);
        }
        beginning.truncate(limit_bytes);
        beginning.freeze()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("connected", &self.connection.is_some()).finish_non_exhaustive()
    }
}

/// Milliseconds for an error; what is longer than any timer is cut.
///
/// ```
/// assert_eq!(http_exchange::millis(std::time::Duration::from_secs(2)), 2_000);
/// ```
#[must_use]
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
