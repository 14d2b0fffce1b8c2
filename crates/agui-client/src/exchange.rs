//! One request on a connection of its own.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Request, response};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use crate::ClientError;
use crate::endpoint::Endpoint;
use crate::socket::Socket;

type Connection = http1::Connection<TokioIo<Socket>, Full<Bytes>>;

/// The head of an answer, and the connection that brings its body.
pub(crate) struct Exchange {
    pub(crate) head: response::Parts,
    pub(crate) body: BodyReader,
}

impl Exchange {
    /// Connects, sends `request` and waits for the head.
    ///
    /// A connection is never used twice: a run must not be sent again, so it must not meet the closing of
    /// an idle connection.
    pub(crate) async fn open(
        endpoint: &Endpoint,
        request: Request<Full<Bytes>>,
        connect_timeout: Duration,
        idle_timeout: Duration,
    ) -> Result<Self, ClientError> {
        let socket = timeout(connect_timeout, endpoint.connect())
            .await
            .map_err(|_| ClientError::ConnectTimeout { after_ms: millis(connect_timeout) })??;
        let (mut sender, mut connection) =
            http1::Builder::new().handshake(TokioIo::new(socket)).await.map_err(from_hyper)?;
        let mut answer = pin!(sender.send_request(request));
        let mut is_connected = true;
        let answer = poll_fn(|cx| {
            if is_connected && Pin::new(&mut connection).poll(cx).is_ready() {
                is_connected = false;
            }
            answer.as_mut().poll(cx)
        });
        let answer = timeout(idle_timeout, answer)
            .await
            .map_err(|_| ClientError::Idle { silent_ms: millis(idle_timeout) })?;
        let (head, incoming) = answer.map_err(from_hyper)?.into_parts();
        Ok(Self { head, body: BodyReader { connection: is_connected.then_some(connection), incoming } })
    }
}

/// The body of an answer together with its connection, driven by whoever reads it.
///
/// There is no task behind it: who does not read holds the agent back, and dropping it closes the socket.
pub(crate) struct BodyReader {
    connection: Option<Connection>,
    incoming: Incoming,
}

impl BodyReader {
    /// The next bytes; `None` at the end of a complete body.
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, ClientError>> {
        loop {
            // The connection tells its failures through the body.
            if self.connection.as_mut().is_some_and(|connection| Pin::new(connection).poll(cx).is_ready()) {
                self.connection = None;
            }
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Ok(Some(data)));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(from_hyper(error))),
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Pending if self.connection.is_none() => {
                    return Poll::Ready(Err(ClientError::Cut(None)));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// The first `limit_bytes` of the body, as far as it arrives.
    pub(crate) async fn beginning(mut self, limit_bytes: usize) -> Bytes {
        let mut beginning = BytesMut::new();
        while beginning.len() < limit_bytes
            && let Ok(Some(chunk)) = poll_fn(|cx| self.poll_chunk(cx)).await
        {
            beginning.extend_from_slice(&chunk);
        }
        beginning.truncate(limit_bytes);
        beginning.freeze()
    }
}

fn from_hyper(error: hyper::Error) -> ClientError {
    if error.is_parse() { ClientError::NotHttp(error) } else { ClientError::Cut(Some(error)) }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
