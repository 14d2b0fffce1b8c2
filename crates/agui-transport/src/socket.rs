//! The socket under a connection: gives up on a reader that takes nothing, and closes so that the
//! last answer arrives.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};

use crate::activity::Counted;

/// How long a closing connection goes on reading what its client still sends (5 s).
const LINGER_TIMEOUT: Duration = Duration::from_secs(5);

/// How many bytes it reads meanwhile (64 MiB): enough for any client that did not look at the
/// answer before it had sent everything, not enough for one that never stops.
const LINGER_BYTES: usize = 64 * 1024 * 1024;

/// Bytes read at a time while closing; they are thrown away.
const LINGER_READ_BYTES: usize = 16 * 1024;

/// Makes the system close a connection whose peer acknowledges nothing for `timeout`.
///
/// Source: tcp(7), `TCP_USER_TIMEOUT`.
#[cfg(target_os = "linux")]
pub(crate) fn limit_unacknowledged(stream: &TcpStream, timeout: Duration) {
    let millis = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
    if let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(stream, millis) {
        tracing::debug!(%error, "a client that vanishes will be noticed late");
    }
}

/// Other systems have their own bounds.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn limit_unacknowledged(_: &TcpStream, _: Duration) {}

/// What a connection, its requests and its socket tell each other.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    body_unread: AtomicBool,
    last_call: AtomicBool,
    spoken: AtomicBool,
    _held: Option<Held>,
}

/// What a connection occupies as long as anybody has its wire. That can be longer than HTTP lasts on
/// it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) _counted: Counted,
    pub(crate) _permit: Option<OwnedSemaphorePermit>,
}

impl Wire {
    pub(crate) fn new(held: Held) -> Self {
        Self { _held: Some(held), ..Self::default() }
    }

    /// A stream that is still open has to end now.
    pub(crate) fn call_last(&self) {
        self.last_call.store(true, Ordering::Release);
    }

    pub(crate) fn is_last_call(&self) -> bool {
        self.last_call.load(Ordering::Acquire)
    }

    /// The connection begins to wait for a request.
    pub(crate) fn expect_silence(&self) {
        self.spoken.store(false, Ordering::Relaxed);
    }

    /// Whether bytes have come since.
    pub(crate) fn has_spoken(&self) -> bool {
        self.spoken.load(Ordering::Relaxed)
    }

    /// The client may be sending a body that nobody reads.
    pub(crate) fn leave_body_unread(&self) {
        self.body_unread.store(true, Ordering::Release);
    }
}

/// A TCP stream with those two habits.
///
/// Closing a socket while its peer still sends makes the system answer with a reset, and a reset
/// makes the peer forget what it has received but not read: the very error that was sent. So the
/// writing side is closed first and the reading side is emptied, within bounds.
///
/// Source: RFC 9112 section 9.6.
pub(crate) struct Socket {
    stream: TcpStream,
    wire: Arc<Wire>,
    write_timeout: Duration,
    stall: Option<Pin<Box<Sleep>>>,
    closing: Closing,
}

enum Closing {
    Open,
    Lingering { deadline: Pin<Box<Sleep>>, left: usize },
    Done,
}

impl Socket {
    pub(crate) const fn new(stream: TcpStream, wire: Arc<Wire>, write_timeout: Duration) -> Self {
        Self { stream, wire, write_timeout, stall: None, closing: Closing::Open }
    }

    /// Passes on the outcome of a write; one that stays without progress becomes an error.
    fn watch<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stall = None;
            return outcome;
        }
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(self.write_timeout)));
        ready!(stall.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Reads and drops; ready when there is nothing more to wait for.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Closing::Lingering { deadline, left } = &mut self.closing else { return Poll::Ready(()) };
        let mut space = [MaybeUninit::<u8>::uninit(); LINGER_READ_BYTES];
        while *left > 0 && deadline.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::uninit(&mut space);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            let size = buffer.filled().len();
            if read.is_err() || size == 0 {
                break;
            }
            *left = left.saturating_sub(size);
        }
        Poll::Ready(())
    }

    /// Whether bytes have arrived that nobody has read.
    fn has_unread(&mut self, cx: &mut Context<'_>) -> bool {
        let mut space = [MaybeUninit::<u8>::uninit(); 1];
        let mut buffer = ReadBuf::uninit(&mut space);
        let read = Pin::new(&mut self.stream).poll_read(cx, &mut buffer);
        matches!(read, Poll::Ready(Ok(()))) && !buffer.filled().is_empty()
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            this.wire.spoken.store(true, Ordering::Relaxed);
        }
        outcome
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.watch(cx, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.watch(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if matches!(this.closing, Closing::Open) {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.closing = if this.wire.body_unread.load(Ordering::Acquire) || this.has_unread(cx) {
                Closing::Lingering { deadline: Box::pin(sleep(LINGER_TIMEOUT)), left: LINGER_BYTES }
            } else {
                Closing::Done
            };
        }
        ready!(this.poll_linger(cx));
        this.closing = Closing::Done;
        Poll::Ready(Ok(()))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::net::sockopt::tcp_user_timeout;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn the_system_knows_how_long_silence_may_last() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        for (timeout, millis) in [(Duration::from_secs(60), 60_000), (Duration::from_millis(1), 1)] {
            limit_unacknowledged(&stream, timeout);
            assert_eq!(tcp_user_timeout(&stream).unwrap(), millis);
        }
    }
}
