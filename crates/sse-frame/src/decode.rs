use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};

use crate::SseError;

/// Room for a field name, colon and space beside the payload that the cap is about, in bytes.
const FIELD_NAME_BYTES: usize = 16;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One record of an event stream that has at least one `data` line.
///
/// Example: see [`Decoder`].
///
/// Source: WHATWG HTML, "Server-sent events".
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// Value of the last `event` line; `None` if absent or empty, which means `message`.
    pub event: Option<Box<str>>,
    /// Value of the last `id` line of this record. Earlier ids are not carried over.
    pub id: Option<Box<str>>,
    /// The `data` lines joined with LF. Not checked to be UTF-8.
    pub data: Bytes,
}

/// Splits a byte stream into [`Frame`]s.
///
/// Push a chunk, call [`next_frame`](Self::next_frame) until `None`, push the next one; after the last
/// chunk call [`finish`](Self::finish) until `None`. Comments, `retry` and unknown fields are skipped.
///
/// ```
/// use bytes::Bytes;
/// use sse_frame::Decoder;
///
/// let mut decoder = Decoder::new(64 * 1024);
/// let mut seen = Vec::new();
/// for chunk in ["event: tick\ndata: on", "e\n\n: ping\n\nda", "ta: two\n\n"] {
///     decoder.push(Bytes::from_static(chunk.as_bytes()));
///     while let Some(frame) = decoder.next_frame()? {
///         seen.push((frame.event, frame.data));
///     }
/// }
/// assert_eq!(decoder.finish()?, None);
/// assert_eq!(seen, [(Some("tick".into()), Bytes::from("one")), (None, Bytes::from("two"))]);
/// # Ok::<(), sse_frame::SseError>(())
/// ```
///
/// Source: WHATWG HTML, "Server-sent events".
#[derive(Debug)]
pub struct Decoder {
    limit_bytes: usize,
    chunk: Bytes,
    waiting: VecDeque<Bytes>,
    line: OpenLine,
    record: Record,
    /// The last line ended with CR at the end of a chunk: a LF that follows belongs to it.
    after_cr: bool,
    at_start: bool,
    failed: Option<SseError>,
}

/// The beginning of a line whose end has not arrived.
#[derive(Debug)]
enum OpenLine {
    None,
    Kept(BytesMut),
    Comment,
}

#[derive(Debug, Default)]
struct Record {
    event: Option<Box<str>>,
    id: Option<Box<str>>,
    data: Payload,
}

#[derive(Debug, Default)]
enum Payload {
    #[default]
    None,
    One(Bytes),
    Joined(BytesMut),
}

impl Decoder {
    /// A decoder that refuses records with more than `max_event_bytes` of joined `data`.
    ///
    /// It holds at most about that much besides the chunks that were pushed and not yet read.
    #[must_use]
    pub const fn new(max_event_bytes: usize) -> Self {
        Self {
            limit_bytes: max_event_bytes,
            chunk: Bytes::new(),
            waiting: VecDeque::new(),
            line: OpenLine::None,
            record: Record { event: None, id: None, data: Payload::None },
            after_cr: false,
            at_start: true,
            failed: None,
        }
    }

    /// Adds the bytes that arrived next.
    pub fn push(&mut self, chunk: Bytes) {
        if self.failed.is_some() || chunk.is_empty() {
            return;
        }
        if self.chunk.is_empty() {
            self.chunk = chunk;
        } else {
            self.waiting.push_back(chunk);
        }
    }

    /// The next complete record, or `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`SseError::TooLarge`]; every later call repeats it.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, SseError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let found = self.advance();
        if let Err(error) = found {
            *self = Self { failed: Some(error), ..Self::new(self.limit_bytes) };
        }
        found
    }

    /// What is left when the stream has ended; call until `None`.
    ///
    /// A record whose last line is complete counts although its blank line is missing.
    ///
    /// # Errors
    /// [`SseError::Cut`] (once) if the stream ended inside a line that is no comment, else as
    /// [`next_frame`](Self::next_frame).
    pub fn finish(&mut self) -> Result<Option<Frame>, SseError> {
        if let Some(frame) = self.next_frame()? {
            return Ok(Some(frame));
        }
        let cut = matches!(std::mem::replace(&mut self.line, OpenLine::None), OpenLine::Kept(_));
        let record = std::mem::take(&mut self.record);
        if cut { Err(SseError::Cut) } else { Ok(record.into_frame()) }
    }

    fn advance(&mut self) -> Result<Option<Frame>, SseError> {
        loop {
            if self.chunk.is_empty() {
                match self.waiting.pop_front() {
                    Some(next) => self.chunk = next,
                    None => {
                        // Even an empty part of a chunk keeps the buffer that it was read into.
                        self.chunk = Bytes::new();
                        return Ok(None);
                    }
                }
            }
            if std::mem::take(&mut self.after_cr) && self.chunk[0] == b'\n' {
                self.chunk.advance(1);
                continue;
            }
            let Some(end) = memchr::memchr2(b'\r', b'\n', &self.chunk) else {
                self.keep_open_line()?;
                continue;
            };
            let line = self.take_line(end)?;
            self.skip_break();
            if let Some(frame) = self.handle_line(&line)? {
                return Ok(Some(frame));
            }
        }
    }

    /// Moves the rest of the chunk, which has no line break, to the open line.
    fn keep_open_line(&mut self) -> Result<(), SseError> {
        let rest = std::mem::take(&mut self.chunk);
        match &mut self.line {
            OpenLine::Comment => {}
            OpenLine::Kept(line) => {
                check_size(self.limit_bytes, self.record.data.len() + line.len() + rest.len())?;
                line.extend_from_slice(&rest);
            }
            // The byte order mark may hide a first comment; keeping it once is harmless.
            OpenLine::None if rest[0] == b':' => self.line = OpenLine::Comment,
            OpenLine::None => {
                check_size(self.limit_bytes, self.record.data.len() + rest.len())?;
                self.line = OpenLine::Kept(BytesMut::from(&rest[..]));
            }
        }
        Ok(())
    }

    /// The line that ends before `end` of the chunk; empty for a comment.
    fn take_line(&mut self, end: usize) -> Result<Bytes, SseError> {
        let tail = self.chunk.split_to(end);
        let line = match std::mem::replace(&mut self.line, OpenLine::None) {
            OpenLine::None => tail,
            OpenLine::Comment => Bytes::from_static(b":"),
            OpenLine::Kept(mut line) => {
                check_size(self.limit_bytes, self.record.data.len() + line.len() + tail.len())?;
                line.extend_from_slice(&tail);
                line.freeze()
            }
        };
        if std::mem::take(&mut self.at_start) && line.starts_with(BYTE_ORDER_MARK) {
            return Ok(line.slice(BYTE_ORDER_MARK.len()..));
        }
        Ok(line)
    }

    fn skip_break(&mut self) {
        match (self.chunk[0], self.chunk.get(1)) {
            (b'\r', Some(b'\n')) => self.chunk.advance(2),
            (first, next) => {
                self.after_cr = first == b'\r' && next.is_none();
                self.chunk.advance(1);
            }
        }
    }

    fn handle_line(&mut self, line: &Bytes) -> Result<Option<Frame>, SseError> {
        if line.is_empty() {
            return Ok(std::mem::take(&mut self.record).into_frame());
        }
        let colon = memchr::memchr(b':', line);
        let value_at =
            colon.map_or(line.len(), |at| if line.get(at + 1) == Some(&b' ') { at + 2 } else { at + 1 });
        match &line[..colon.unwrap_or(line.len())] {
            b"data" => {
                let value = line.slice(value_at..);
                if self.record.data.len() + value.len() > self.limit_bytes {
                    return Err(SseError::TooLarge { limit_bytes: self.limit_bytes });
                }
                self.record.data.append(value);
            }
            b"event" => self.record.event = text(&line[value_at..]),
            // An id with NUL is void by the standard.
            b"id" if !line[value_at..].contains(&0) => self.record.id = text(&line[value_at..]),
            _ => {}
        }
        Ok(None)
    }
}

impl Record {
    fn into_frame(self) -> Option<Frame> {
        let data = match self.data {
            Payload::None => return None,
            Payload::One(data) => data,
            Payload::Joined(data) => data.freeze(),
        };
        Some(Frame { event: self.event, id: self.id, data })
    }
}

impl Payload {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(data) => data.len() + 1,
            Self::Joined(data) => data.len() + 1,
        }
    }

    fn append(&mut self, value: Bytes) {
        let mut joined = match std::mem::take(self) {
            Self::None => {
                *self = Self::One(value);
                return;
            }
            Self::One(first) => BytesMut::from(first),
            Self::Joined(joined) => joined,
        };
        joined.extend_from_slice(b"\n");
        joined.extend_from_slice(&value);
        *self = Self::Joined(joined);
    }
}

const fn check_size(limit_bytes: usize, held_bytes: usize) -> Result<(), SseError> {
    if held_bytes > limit_bytes.saturating_add(FIELD_NAME_BYTES) {
        return Err(SseError::TooLarge { limit_bytes });
    }
    Ok(())
}

fn text(value: &[u8]) -> Option<Box<str>> {
    if value.is_empty() { None } else { Some(String::from_utf8_lossy(value).into()) }
}

#[cfg(test)]
mod tests;
