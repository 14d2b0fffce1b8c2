use std::fmt;

use agui_core::DecodeError;

/// Why an event cannot be written or bytes cannot be read. Never carries a value from the event.
///
/// Example: see [`decode`](crate::decode).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtoError {
    /// A frame is larger than the limit, or than its length prefix can say.
    #[error("frame of {bytes} bytes is larger than {limit_bytes}")]
    TooLarge {
        /// Size of the frame with its prefix.
        bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// The parts of a frame would take more than [`MAX_DECODED_BYTES`](crate::MAX_DECODED_BYTES).
    #[error("frame has too many parts")]
    TooManyParts,
    /// Opaque JSON is nested deeper than [`MAX_JSON_DEPTH`](agui_core::MAX_JSON_DEPTH).
    #[error("opaque value is nested too deeply")]
    TooDeep,
    /// The bytes are no protocol buffer, or a known field has another type than it should.
    #[error("frame cannot be read")]
    Malformed(#[source] WireFault),
    /// The frame holds no event, or several.
    #[error("frame holds no single event")]
    NotOneEvent,
    /// A part or a source holds several alternatives.
    #[error("alternatives are given together")]
    Ambiguous,
    /// The content of a message or of a tool result is given in several forms, or in one that its role
    /// does not have.
    #[error("content has a form that it cannot have")]
    ContentForm,
    /// The event lacks its base or is not of the type that its base names.
    #[error("event and its declared type disagree")]
    TypeMismatch,
    /// The event that the bytes hold is malformed.
    #[error("event cannot be read")]
    Event(#[from] DecodeError),
    /// Opaque JSON cannot be written.
    #[error("opaque value cannot be written")]
    Json(#[source] Option<serde_json::Error>),
    /// The stream ended inside a frame.
    #[error("stream ended inside a frame")]
    Cut,
}

impl ProtoError {
    pub(crate) const MALFORMED: Self = Self::Malformed(WireFault(None));
}

impl From<prost::DecodeError> for ProtoError {
    fn from(error: prost::DecodeError) -> Self {
        Self::Malformed(WireFault(Some(error)))
    }
}

/// Where bytes stop being a protocol buffer; a text for developers.
///
/// Example: see [`decode`](crate::decode).
#[derive(Debug)]
pub struct WireFault(Option<prost::DecodeError>);

impl fmt::Display for WireFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(fault) => fault.fmt(f),
            None => f.write_str("a known field has another type, or its text is no Unicode"),
        }
    }
}

impl std::error::Error for WireFault {}

impl From<serde_json::Error> for ProtoError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(Some(error))
    }
}
