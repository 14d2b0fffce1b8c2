//! The body of an event stream: a cursor over a run, encoded as server-sent events or as binary frames.
//!
//! Whatever waits when the connection asks is encoded into one chunk, so that a burst of events
//! costs one wake-up and one write, and a lone event leaves at once. The run behind the body is held
//! back while the connection cannot take more. When the body is dropped, the run sees that its
//! reader has gone.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agui_core::{Event, RunError, RunStream};
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice};
use bytes::Bytes;
use futures_core::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::activity::Counted;
use crate::media::Encoding;
use crate::request_log::{Ended, RequestLog};
use crate::route::SseRecord;
use crate::socket::Wire;
use crate::words;

/// Size at which a chunk is handed over although more events wait, in bytes (64 KiB): large enough
/// that the cost of a write is spread over hundreds of deltas, small enough to bound what one reader
/// holds.
const CHUNK_BYTES: usize = 64 * 1024;

/// Room for a chunk before its size is known, in bytes: a few deltas.
const FIRST_CHUNK_BYTES: usize = 1024;

/// Room for events that a silent stream keeps, in events: enough for the pace of a model, so that a
/// burst is not paid for until the end of the run.
const KEPT_EVENTS: usize = 16;

/// Where the events come from.
pub(crate) enum Source {
    /// An agent's run.
    Run(RunSource),
    /// Records that are serialised already.
    Records(Pin<Box<dyn Stream<Item = SseRecord> + Send>>),
}

impl Source {
    pub(crate) const fn run(stream: RunStream) -> Self {
        Self::Run(RunSource { stream, batch: Vec::new(), next: 0, numbers: None })
    }

    /// The same, with an `id` line for each event: its number in the run, from 1.
    pub(crate) const fn numbered_run(stream: RunStream) -> Self {
        Self::Run(RunSource { stream, batch: Vec::new(), next: 0, numbers: Some(0) })
    }
}

/// A run and the events taken from it that did not fit in the last chunk.
pub(crate) struct RunSource {
    stream: RunStream,
    batch: Vec<Event>,
    next: usize,
    /// The number of the last event, if events have numbers.
    numbers: Option<u64>,
}

/// One event stream on its way to a client.
pub(crate) struct EventBody {
    source: Source,
    over: bool,
    heartbeat: Heartbeat,
    wire: Arc<Wire>,
    language: Language,
    encoding: Encoding,
    chunk_bytes: usize,
    log: RequestLog,
    _counted: Counted,
}

impl EventBody {
    /// A body over `source`. When `wire` makes the last call and the source is silent, the body ends
    /// with a `RUN_ERROR` of its own, worded in `language`.
    pub(crate) fn new(
        source: Source,
        heartbeat: Duration,
        wire: Arc<Wire>,
        language: Language,
        counted: Counted,
        mut log: RequestLog,
    ) -> Self {
        log.streams();
        Self {
            source,
            over: false,
            heartbeat: Heartbeat::new(heartbeat),
            wire,
            language,
            encoding: Encoding::Text,
            chunk_bytes: FIRST_CHUNK_BYTES,
            log,
            _counted: counted,
        }
    }

    /// Writes the events of a run in this way. Frames have no comments and no ids: in binary there are no
    /// heartbeats and no numbers. Records that are serialised already stay text.
    pub(crate) fn encoded_as(mut self, encoding: Encoding) -> Self {
        if let Source::Run(run) = &mut self.source {
            self.encoding = encoding;
            if encoding == Encoding::Binary {
                run.numbers = None;
            }
        }
        self
    }

    pub(crate) const fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.over
    }

    /// The next chunk; `None` after the last.
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.over {
            return Poll::Ready(None);
        }
        let mut chunk = Chunk::new(self.encoding, self.chunk_bytes);
        let filled = match &mut self.source {
            Source::Run(run) => run.poll_fill(cx, &mut chunk),
            Source::Records(records) => poll_fill_records(records, cx, &mut chunk),
        };
        if filled == Poll::Ready(Filled::Ended) {
            self.end(Ended::Complete);
        } else if filled.is_pending() && chunk.is_empty() {
            ready!(self.poll_silence(cx, &mut chunk));
        }
        Poll::Ready(self.hand_over(chunk))
    }

    /// Ready with something to say when the silence has lasted too long.
    fn poll_silence(&mut self, cx: &mut Context<'_>, chunk: &mut Chunk) -> Poll<()> {
        if self.wire.is_last_call() {
            if let Source::Run(_) = self.source {
                chunk.push_event(&shutdown_error(self.language));
            }
            self.end(Ended::Shutdown);
            return Poll::Ready(());
        }
        if self.encoding == Encoding::Binary {
            return Poll::Pending;
        }
        ready!(self.heartbeat.poll(cx));
        chunk.push_comment("heartbeat");
        Poll::Ready(())
    }

    fn end(&mut self, how: Ended) {
        self.over = true;
        self.log.ended(how);
    }

    fn hand_over(&mut self, chunk: Chunk) -> Option<Bytes> {
        if chunk.is_empty() {
            return None;
        }
        self.heartbeat.restart();
        self.log.sent(chunk.events, chunk.bytes.len());
        self.chunk_bytes = chunk.bytes.len().clamp(FIRST_CHUNK_BYTES, CHUNK_BYTES);
        Some(chunk.bytes.into())
    }
}

/// Why a source stopped filling a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filled {
    /// The chunk is full.
    Full,
    /// Nothing comes any more.
    Ended,
}

impl RunSource {
    /// Encodes what waits. Pending means that nothing more waits; the chunk may hold events then.
    fn poll_fill(&mut self, cx: &mut Context<'_>, chunk: &mut Chunk) -> Poll<Filled> {
        let mut live = true;
        loop {
            while let Some(event) = self.batch.get(self.next) {
                if chunk.is_full() {
                    return Poll::Ready(Filled::Full);
                }
                self.numbers = self.numbers.map(|last| last + 1);
                if let Some(number) = self.numbers {
                    chunk.push_id(&number.to_string());
                }
                chunk.push_event(event);
                self.next += 1;
                if matches!(event, Event::RunFinished(_) | Event::RunError(_)) {
                    return Poll::Ready(Filled::Ended);
                }
            }
            if !live {
                return Poll::Ready(Filled::Ended);
            }
            self.batch.clear();
            self.next = 0;
            let Poll::Ready(more) = self.stream.poll_batch(cx, &mut self.batch) else {
                self.batch.shrink_to(KEPT_EVENTS);
                return Poll::Pending;
            };
            live = more;
        }
    }
}

fn poll_fill_records(
    records: &mut Pin<Box<dyn Stream<Item = SseRecord> + Send>>,
    cx: &mut Context<'_>,
    chunk: &mut Chunk,
) -> Poll<Filled> {
    while !chunk.is_full() {
        match ready!(records.as_mut().poll_next(cx)) {
            Some(record) => chunk.push_record(&record),
            None => return Poll::Ready(Filled::Ended),
        }
    }
    Poll::Ready(Filled::Full)
}

/// Encoded events that leave in one piece.
struct Chunk {
    encoding: Encoding,
    bytes: Vec<u8>,
    events: usize,
    room: usize,
}

impl Chunk {
    /// Allocates nothing until something is written.
    const fn new(encoding: Encoding, room: usize) -> Self {
        Self { encoding, bytes: Vec::new(), events: 0, room }
    }

    const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    const fn is_full(&self) -> bool {
        self.bytes.len() >= CHUNK_BYTES
    }

    fn buffer(&mut self) -> &mut Vec<u8> {
        if self.bytes.capacity() == 0 {
            self.bytes.reserve(self.room);
        }
        &mut self.bytes
    }

    fn push_event(&mut self, event: &Event) {
        let written = match self.encoding {
            Encoding::Text => sse_frame::try_encode_with(self.buffer(), |out| event.to_json_into(out))
                .map_err(|error| error.to_string()),
            Encoding::Binary => agui_proto::encode(event, self.buffer()).map_err(|error| error.to_string()),
        };
        match written {
            Ok(()) => self.events += 1,
            Err(error) => tracing::error!(%error, "an event that cannot be written is left out"),
        }
    }

    fn push_record(&mut self, record: &SseRecord) {
        if let Some(id) = record.id.as_deref() {
            self.push_id(id);
        }
        sse_frame::encode_data(self.buffer(), &record.data);
        self.events += 1;
    }

    /// The id of the event that follows.
    fn push_id(&mut self, id: &str) {
        if sse_frame::encode_id(self.buffer(), id).is_err() {
            tracing::debug!("an event id that no line can hold is left out");
        }
    }

    fn push_comment(&mut self, text: &str) {
        sse_frame::encode_comment(self.buffer(), text);
    }
}

/// Tells when a stream was silent for an interval.
///
/// What is sent moves only the deadline; the timer is moved when it fires too early. So a busy
/// stream does not touch the timer for each chunk.
struct Heartbeat {
    interval: Duration,
    due: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Heartbeat {
    fn new(interval: Duration) -> Self {
        let due = Instant::now() + interval;
        Self { interval, due, timer: Box::pin(sleep_until(due)) }
    }

    fn restart(&mut self) {
        self.due = Instant::now() + self.interval;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.timer.as_mut().poll(cx));
            if self.timer.deadline() >= self.due {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(self.due);
        }
    }
}

/// The last word of a stream whose agent did not end it in time.
fn shutdown_error(language: Language) -> Event {
    let notice = ErrorNotice::new(ErrorCode::ShuttingDown);
    RunError::new(words::render(language, &notice)).with_code(notice.code.as_str()).into()
}

#[cfg(test)]
mod tests;
