//! What can be wrong with a request or an answer.

/// Why a user message or an answer can't be sent to the kernel.
///
/// A variant with a `pointer` names the member of the run input as a JSON pointer; no variant holds a value.
///
/// Example: see [`request::message`](crate::request::message).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// A new execution needs a user message.
    #[error("no user message")]
    NoUserMessage,
    /// The newest user message has neither text nor an image.
    #[error("{pointer}: no content")]
    EmptyMessage {
        /// The content.
        pointer: String,
    },
    /// The part is not text and not an image.
    #[error("{pointer}: only text and inline images are supported")]
    UnsupportedPart {
        /// The part.
        pointer: String,
    },
    /// The image is a reference, not data.
    #[error("{pointer}: remote media are not supported")]
    RemoteMedia {
        /// The source of the part.
        pointer: String,
    },
    /// The image is of a type that the kernel does not take.
    #[error("{pointer}: the media type is not supported")]
    MediaType {
        /// The media type.
        pointer: String,
    },
    /// A resolved interrupt has no payload.
    #[error("a resolved interrupt requires a payload")]
    PayloadRequired,
    /// The payload does not conform to the interrupt's schema.
    #[error("the payload does not conform to the response schema")]
    PayloadInvalid,
    /// The stored question can't be read back.
    #[error("the stored question is not readable")]
    QuestionUnreadable,
}

impl MapError {
    /// JSON pointer of the member that is wrong, for errors in the run input.
    #[must_use]
    pub fn pointer(&self) -> Option<&str> {
        match self {
            Self::EmptyMessage { pointer }
            | Self::UnsupportedPart { pointer }
            | Self::RemoteMedia { pointer }
            | Self::MediaType { pointer } => Some(pointer),
            Self::NoUserMessage => Some("/messages"),
            Self::PayloadRequired | Self::PayloadInvalid | Self::QuestionUnreadable => None,
        }
    }
}
