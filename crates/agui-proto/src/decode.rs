use agui_core::{Decoded, Event, decode_event};
use bytes::{Buf, BytesMut};
use prost::Message as _;

use crate::guard::{Contents, inspect};
use crate::wire::Envelope;
use crate::{PREFIX_BYTES, ProtoError};

/// Largest frame with its prefix that released clients read, in bytes (10 MiB).
///
/// Source: behaviour of `@ag-ui/client` 1.0.0.
pub const MAX_FRAME_BYTES: usize = 10 * 1024 * 1024;

/// What one frame holds.
///
/// Example: see [`decode`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Received<T> {
    /// An event that this version knows.
    Known(T),
    /// An event of a later version: a consumer leaves it out and goes on.
    Later {
        /// Number of the field that holds it. It has no name on the wire.
        field: u32,
    },
}

/// Reads one message, without its length, as the JSON text that would have come over a text stream.
///
/// So one reader judges both: unknown words, parts and operations are still there, for it to leave out.
///
/// ```
/// use agui_core::{Event, TextMessageEnd};
/// use agui_proto::{PREFIX_BYTES, Received, decode_record, encode};
///
/// let mut frame = Vec::new();
/// encode(&Event::from(TextMessageEnd::new("m1")), &mut frame)?;
/// let json = br#"{"type":"TEXT_MESSAGE_END","messageId":"m1"}"#;
/// assert_eq!(decode_record(&frame[PREFIX_BYTES..])?, Received::Known(json.to_vec()));
/// # Ok::<(), agui_proto::ProtoError>(())
/// ```
///
/// # Errors
/// [`ProtoError`] if the bytes are not one event as a producer writes it.
pub fn decode_record(message: &[u8]) -> Result<Received<Vec<u8>>, ProtoError> {
    match inspect(message)? {
        Contents::Later(field) => Ok(Received::Later { field }),
        Contents::Event => {
            let arm = Envelope::decode(message)?.arm.ok_or(ProtoError::NotOneEvent)?;
            arm.to_json().map(Received::Known)
        }
    }
}

/// Reads one message, without its length.
///
/// ```
/// use agui_core::{Event, TextMessageEnd};
/// use agui_proto::{PREFIX_BYTES, ProtoError, Received, decode, encode};
///
/// let event = Event::from(TextMessageEnd::new("m1"));
/// let mut frame = Vec::new();
/// encode(&event, &mut frame)?;
/// assert_eq!(decode(&frame[PREFIX_BYTES..])?, Received::Known(event));
/// assert!(matches!(decode(b""), Err(ProtoError::NotOneEvent)));
/// # Ok::<(), ProtoError>(())
/// ```
///
/// # Errors
/// As [`decode_record`], and [`ProtoError::Event`] if the event is malformed.
pub fn decode(message: &[u8]) -> Result<Received<Event>, ProtoError> {
    known(decode_record(message)?)
}

fn known(received: Received<Vec<u8>>) -> Result<Received<Event>, ProtoError> {
    match received {
        Received::Later { field } => Ok(Received::Later { field }),
        Received::Known(json) => match decode_event(&json)? {
            Decoded::Known(event) => Ok(Received::Known(event)),
            // The envelope names known types only.
            _ => Err(ProtoError::NotOneEvent),
        },
    }
}

/// Cuts a stream into frames and reads them.
///
/// Holds at most the largest frame and one chunk. After an error the stream is lost: its position is
/// unknown, and every call gives nothing.
///
/// ```
/// use agui_core::{Event, TextMessageEnd};
/// use agui_proto::{Decoder, MAX_FRAME_BYTES, Received, encode};
///
/// let event = Event::from(TextMessageEnd::new("m1"));
/// let mut bytes = Vec::new();
/// encode(&event, &mut bytes)?;
///
/// let mut decoder = Decoder::new(MAX_FRAME_BYTES);
/// decoder.push(&bytes[..7]);
/// assert_eq!(decoder.next_event()?, None);
/// decoder.push(&bytes[7..]);
/// assert_eq!(decoder.next_event()?, Some(Received::Known(event)));
/// decoder.finish()?;
/// # Ok::<(), agui_proto::ProtoError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    buffer: BytesMut,
    max_frame_bytes: usize,
    is_lost: bool,
}

impl Decoder {
    /// A decoder that refuses frames which are larger than `max_frame_bytes` with their prefix; see
    /// [`MAX_FRAME_BYTES`].
    #[must_use]
    pub fn new(max_frame_bytes: usize) -> Self {
        Self { buffer: BytesMut::new(), max_frame_bytes, is_lost: false }
    }

    /// Takes the next bytes of the stream. Drain [`next_event`](Self::next_event) or
    /// [`next_record`](Self::next_record) before the next call: what is not drained is kept.
    pub fn push(&mut self, chunk: &[u8]) {
        if !self.is_lost {
            self.buffer.extend_from_slice(chunk);
        }
    }

    /// The next event; `None` when more bytes are needed.
    ///
    /// # Errors
    /// As [`decode`]; [`ProtoError::TooLarge`] as soon as the length says so.
    pub fn next_event(&mut self) -> Result<Option<Received<Event>>, ProtoError> {
        self.next(decode)
    }

    /// The next event as JSON text, see [`decode_record`]; `None` when more bytes are needed.
    ///
    /// # Errors
    /// As [`decode_record`]; [`ProtoError::TooLarge`] as soon as the length says so.
    pub fn next_record(&mut self) -> Result<Option<Received<Vec<u8>>>, ProtoError> {
        self.next(decode_record)
    }

    /// Checks that the stream may end here.
    ///
    /// # Errors
    /// [`ProtoError::Cut`] if part of a frame has come.
    pub fn finish(&self) -> Result<(), ProtoError> {
        if self.buffer.is_empty() { Ok(()) } else { Err(ProtoError::Cut) }
    }

    fn next<T>(&mut self, read: fn(&[u8]) -> Result<T, ProtoError>) -> Result<Option<T>, ProtoError> {
        let result = self.take(read);
        if result.is_err() {
            self.is_lost = true;
            self.buffer = BytesMut::new();
        }
        result
    }

    fn take<T>(&mut self, read: fn(&[u8]) -> Result<T, ProtoError>) -> Result<Option<T>, ProtoError> {
        let Some(prefix) = self.buffer.first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
        let bytes = length.saturating_add(PREFIX_BYTES);
        if bytes > self.max_frame_bytes {
            return Err(ProtoError::TooLarge { bytes, limit_bytes: self.max_frame_bytes });
        }
        let Some(frame) = self.buffer.get(..bytes) else { return Ok(None) };
        let read = read(&frame[PREFIX_BYTES..])?;
        self.buffer.advance(bytes);
        Ok(Some(read))
    }
}
