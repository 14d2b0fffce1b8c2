use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use a2a_wire::Reply;
use http_exchange::{Body, millis};
use sse_frame::{Decoder, Frame};
use tokio::time::{Instant, Sleep, sleep};

use crate::polling::Polling;
use crate::{Client, ClientError, Datum, RpcFailure};

/// Name of the event that tells an error inside a stream.
const ERROR_EVENT: &str = "error";

/// The updates of a streaming call.
///
/// Pull based: the connection is read only while the stream is polled, so a slow reader slows the peer
/// down. Dropping the stream closes the socket; the task at the peer goes on.
///
/// ```no_run
/// use a2a_client::{Client, ClientConfig};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(ClientConfig::new("http://127.0.0.1:41242/"))?;
/// // Or `subscribe`, or `send_streaming`; `watch` looks at a task from time to time.
/// let mut updates = client.watch("task-1");
/// while let Some(datum) = updates.next().await {
///     println!("{:?}", datum?.item()?);
/// }
/// # Ok(())
/// # }
/// ```
pub struct UpdateStream {
    source: Source,
}

enum Source {
    Live(Box<Live>),
    /// The peer answered a streaming call with one plain reply.
    Single(Datum),
    /// The peer cannot stream: its task is looked at.
    Polling(Box<Polling>),
    Ended,
}

struct Live {
    body: Body,
    decoder: Decoder,
    body_ended: bool,
    silence: Silence,
}

impl UpdateStream {
    pub(crate) fn live(body: Body, idle_timeout: Duration, max_datum_bytes: usize) -> Self {
        let live = Live {
            body,
            decoder: Decoder::new(max_datum_bytes),
            body_ended: false,
            silence: Silence::new(idle_timeout),
        };
        Self { source: Source::Live(Box::new(live)) }
    }

    /// Begins with what the peer answered to a message.
    pub(crate) fn polling(client: Client, first: Option<Datum>) -> Self {
        Self { source: Source::Polling(Box::new(Polling::new(client, first))) }
    }

    pub(crate) fn watching(client: Client, task_id: &str) -> Self {
        Self { source: Source::Polling(Box::new(Polling::of_task(client, task_id))) }
    }

    pub(crate) const fn single(datum: Datum) -> Self {
        Self { source: Source::Single(datum) }
    }

    /// The next update; `None` when the peer has ended the stream.
    ///
    /// Cancel safe. After `None` or an error the socket is closed and every call gives `None`.
    ///
    /// # Errors
    /// [`ClientError::Rpc`] for an error inside the stream, [`ClientError::Idle`],
    /// [`ClientError::Cut`], [`ClientError::TooLarge`], or [`ClientError::Decode`] for an error event that
    /// cannot be read. A datum that cannot be read is no error here; [`Datum::item`] tells.
    pub async fn next(&mut self) -> Option<Result<Datum, ClientError>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`next`](Self::next) for callers that poll: to take all that has arrived as one batch, poll
    /// until `Pending`.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Datum, ClientError>>> {
        let next = match &mut self.source {
            Source::Live(live) => ready!(live.poll_next(cx)),
            Source::Single(_) => return Poll::Ready(self.take_single().map(Ok)),
            Source::Polling(polling) => ready!(polling.poll_next(cx)),
            Source::Ended => None,
        };
        if !matches!(next, Some(Ok(_))) {
            self.source = Source::Ended;
        }
        Poll::Ready(next)
    }

    /// The next update if it has arrived, without waiting: `Pending` if nothing has.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub async fn next_arrived(&mut self) -> Poll<Option<Result<Datum, ClientError>>> {
        poll_fn(|cx| Poll::Ready(self.poll_next(cx))).await
    }

    /// Whether the stream has ended, with or without an error.
    #[must_use]
    pub const fn is_ended(&self) -> bool {
        matches!(self.source, Source::Ended)
    }

    fn take_single(&mut self) -> Option<Datum> {
        match std::mem::replace(&mut self.source, Source::Ended) {
            Source::Single(datum) => Some(datum),
            Source::Live(_) | Source::Polling(_) | Source::Ended => None,
        }
    }
}

impl fmt::Debug for UpdateStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpdateStream").field("ended", &self.is_ended()).finish_non_exhaustive()
    }
}

impl Live {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Datum, ClientError>>> {
        loop {
            if let Some(next) = self.next_decoded() {
                return Poll::Ready(Some(next));
            }
            if self.body_ended {
                return Poll::Ready(None);
            }
            match self.body.poll_chunk(cx) {
                Poll::Ready(Ok(Some(chunk))) => {
                    self.silence.end();
                    self.decoder.push(chunk);
                }
                Poll::Ready(Ok(None)) => self.body_ended = true,
                Poll::Ready(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                Poll::Pending => {
                    let silent_ms = millis(ready!(self.silence.poll_too_long(cx)));
                    return Poll::Ready(Some(Err(ClientError::Idle { silent_ms })));
                }
            }
        }
    }

    /// The next update among the bytes that were read.
    fn next_decoded(&mut self) -> Option<Result<Datum, ClientError>> {
        loop {
            let frame = if self.body_ended { self.decoder.finish() } else { self.decoder.next_frame() };
            match frame {
                Ok(Some(frame)) => {
                    if let Some(next) = read_frame(frame) {
                        return Some(next);
                    }
                }
                Ok(None) => return None,
                Err(error) => return Some(Err(error.into())),
            }
        }
    }
}

/// How long the peer has been silent.
struct Silence {
    longest: Duration,
    since: Instant,
    /// Something came after `since`. Looking at the clock is left to the next moment of silence: a busy
    /// stream has thousands of chunks between two of them.
    heard: bool,
    /// Fires at the deadline of some earlier moment and is moved then: moving it for every chunk would
    /// cost more than reading the chunk.
    alarm: Pin<Box<Sleep>>,
}

impl Silence {
    fn new(longest: Duration) -> Self {
        Self { longest, since: Instant::now(), heard: false, alarm: Box::pin(sleep(longest)) }
    }

    /// The peer has sent something; silence begins when it is waited for again.
    const fn end(&mut self) {
        self.heard = true;
    }

    /// Ready, with the bound, when the peer has been silent for too long.
    fn poll_too_long(&mut self, cx: &mut Context<'_>) -> Poll<Duration> {
        if std::mem::take(&mut self.heard) {
            self.since = Instant::now();
        }
        loop {
            ready!(self.alarm.as_mut().poll(cx));
            let deadline = self.since + self.longest;
            if Instant::now() >= deadline {
                return Poll::Ready(self.longest);
            }
            self.alarm.as_mut().reset(deadline);
        }
    }
}

/// What a record says; `None` for one without content.
fn read_frame(frame: Frame) -> Option<Result<Datum, ClientError>> {
    if frame.data.is_empty() {
        return None;
    }
    let datum = Datum::reply(frame.data);
    let is_error = frame.event.as_deref() == Some(ERROR_EVENT);
    if is_error || !datum.begins_with_result() {
        match datum.envelope() {
            Ok(Reply::Error(error)) => {
                return Some(Err(ClientError::Rpc(RpcFailure::inside_stream(&error))));
            }
            Err(error) if is_error => return Some(Err(error.into())),
            _ => {}
        }
    }
    Some(Ok(datum))
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    async fn is_too_long(silence: &mut Silence) -> bool {
        poll_fn(|cx| Poll::Ready(silence.poll_too_long(cx).is_ready())).await
    }

    #[tokio::test(start_paused = true)]
    async fn silence_counts_from_the_last_byte() {
        let mut silence = Silence::new(Duration::from_secs(60));
        let mut seen = Vec::new();
        for (seconds, heard) in [(59, true), (59, true), (59, false), (1, true), (59, false), (1, false)] {
            advance(Duration::from_secs(seconds)).await;
            seen.push(is_too_long(&mut silence).await);
            if heard {
                silence.end();
                // Whoever has heard something waits for more.
                assert!(!is_too_long(&mut silence).await);
            }
        }
        assert_eq!(seen, [false, false, false, true, false, true]);
    }
}
