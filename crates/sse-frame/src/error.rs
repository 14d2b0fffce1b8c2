/// Why a record could not be read or written.
///
/// Carries no text of the stream.
///
/// ```
/// use bytes::Bytes;
/// use sse_frame::{Decoder, SseError};
///
/// let mut decoder = Decoder::new(64 * 1024);
/// decoder.push(Bytes::from_static(b"data: {\"half"));
/// assert_eq!(decoder.next_frame(), Ok(None));
/// assert_eq!(decoder.finish(), Err(SseError::Cut));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// A record, or a line that is still open, outgrew the decoder's cap. The decoder stays unusable.
    #[error("event is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The cap that was given to the decoder, in bytes.
        limit_bytes: usize,
    },
    /// The stream ended in the middle of a line.
    #[error("event stream was cut inside a line")]
    Cut,
    /// An id or event name holds a line break or, for an id, NUL; nothing was written.
    #[error("field value cannot be framed")]
    InvalidField,
}
