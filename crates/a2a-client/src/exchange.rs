use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Request, Response, response};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use crate::ClientError;
use crate::endpoint::Endpoint;
use crate::socket::Socket;

/// Largest read buffer of a connection, 64 KiB: bounds what a busy stream holds, and stays below the size
/// at which allocators ask the system for fresh pages each time.
const READ_BUFFER_BYTES: usize = 64 * 1024;

type Connection = http1::Connection<TokioIo<Socket>, Full<Bytes>>;

/// One request on a connection of its own, up to the head of the answer.
pub(crate) struct Exchange {
    pub(crate) head: response::Parts,
    pub(crate) body: BodyReader,
}

impl Exchange {
    /// Connects and sends `request`.
    ///
    /// A new connection each time: it costs a round trip on the same machine and spares the race between
    /// the reuse of an idle connection and its closing by the peer.
    pub(crate) async fn open(
        endpoint: &Endpoint,
        request: Request<Full<Bytes>>,
        connect_timeout: Duration,
    ) -> Result<Self, ClientError> {
        let stream = timeout(connect_timeout, endpoint.connect())
            .await
            .map_err(|_| ClientError::ConnectTimeout { after_ms: millis(connect_timeout) })??;
        let mut builder = http1::Builder::new();
        builder.max_buf_size(READ_BUFFER_BYTES);
        let (mut sender, mut connection) =
            builder.handshake(TokioIo::new(stream)).await.map_err(|_| ClientError::ClosedEarly)?;

        let mut answer = pin!(sender.try_send_request(request));
        let mut connected = true;
        let answer = poll_fn(|cx| {
            if connected && Pin::new(&mut connection).poll(cx).is_ready() {
                connected = false;
            }
            answer.as_mut().poll(cx)
        });
        let answer: Response<Incoming> = answer.await.map_err(|mut failed| match failed.take_message() {
            Some(_) => ClientError::ClosedEarly,
            None => from_hyper(failed.into_error()),
        })?;
        let (head, incoming) = answer.into_parts();
        let connection = connected.then_some(connection);
        Ok(Self { head, body: BodyReader { connection, incoming } })
    }
}

/// The body of an answer together with the connection that brings it.
///
/// Nothing else drives the connection: no task, no channel hand-over between tasks. Dropping the reader
/// closes the socket.
pub(crate) struct BodyReader {
    connection: Option<Connection>,
    incoming: Incoming,
}

impl BodyReader {
    /// The next bytes; `None` at the end of a complete body.
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, ClientError>> {
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
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(from_hyper(error))),
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Pending if self.connection.is_none() => {
                    return Poll::Ready(Err(ClientError::Cut(None)));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// The whole body, at most `limit_bytes`.
    pub(crate) async fn collect(mut self, limit_bytes: usize) -> Result<Bytes, ClientError> {
        let mut whole = BytesMut::new();
        while let Some(chunk) = poll_fn(|cx| self.poll_chunk(cx)).await? {
            if whole.len() + chunk.len() > limit_bytes {
                return Err(ClientError::TooLarge { limit_bytes });
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }
}

fn from_hyper(error: hyper::Error) -> ClientError {
    if error.is_parse() { ClientError::NotHttp(error) } else { ClientError::Cut(Some(error)) }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
