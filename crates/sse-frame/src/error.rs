/// Why a record could not be read or written.
///
/// Carries no text of the stream.
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
