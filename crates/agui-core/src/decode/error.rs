use std::fmt;

/// Why a document was refused, and where. Never carries a value from the document.
///
/// ```
/// use agui_core::{DecodeErrorKind, Expected, RunAgentInput};
///
/// let error = RunAgentInput::decode(br#"{"threadId":"t1","runId":"r1","messages":{}}"#).unwrap_err();
/// assert_eq!(error.pointer, "/messages");
/// assert_eq!(error.kind, DecodeErrorKind::WrongType(Expected::Array));
/// assert_eq!(error.to_string(), "/messages: expected an array");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// JSON pointer (RFC 6901) to the offending place; `""` is the whole document.
    ///
    /// Made of member names this crate knows and of array indexes only.
    pub pointer: String,
    /// What is wrong there.
    pub kind: DecodeErrorKind,
}

/// What is wrong at the place of a [`DecodeError`].
///
/// Example: see [`DecodeError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// Not JSON, not UTF-8, deeper than [`MAX_JSON_DEPTH`](crate::MAX_JSON_DEPTH), or with a number
    /// longer than [`MAX_NUMBER_BYTES`](crate::MAX_NUMBER_BYTES).
    Syntax,
    /// A required member is not there.
    Missing,
    /// `null` where the member has to be left out instead.
    Null,
    /// A value of another JSON type.
    WrongType(Expected),
    /// A member that appears twice in one object.
    DuplicateKey,
    /// A union member, role, part type or operation that this version does not know.
    UnknownMember,
    /// A value outside a closed set.
    NotAllowed,
    /// A number outside its range, or with a fraction where an integer is due.
    OutOfRange,
    /// A list that needs at least one element.
    Empty,
    /// An identifier that is not valid Unicode: it holds half of a surrogate pair.
    LoneSurrogate,
    /// Not a JSON pointer (RFC 6901).
    BadPointer,
}

/// The JSON type that would have been right.
///
/// Example: see [`DecodeError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// A JSON object.
    Object,
    /// A JSON array.
    Array,
    /// A JSON string.
    String,
    /// A JSON number without a fraction.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A string or an array of content parts.
    StringOrArray,
}

impl Expected {
    /// The words for it in an English sentence.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Boolean => "a boolean",
            Self::StringOrArray => "a string or an array",
        }
    }
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax => f.write_str("not JSON within the limits"),
            Self::Missing => f.write_str("required but missing"),
            Self::Null => f.write_str("null is not a value here, leave the member out"),
            Self::WrongType(expected) => write!(f, "expected {}", expected.as_str()),
            Self::DuplicateKey => f.write_str("given more than once"),
            Self::UnknownMember => f.write_str("unknown kind"),
            Self::NotAllowed => f.write_str("value not allowed"),
            Self::OutOfRange => f.write_str("number out of range"),
            Self::Empty => f.write_str("must not be empty"),
            Self::LoneSurrogate => f.write_str("half of a surrogate pair in an identifier"),
            Self::BadPointer => f.write_str("not a JSON pointer"),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "document" } else { self.pointer.as_str() };
        write!(f, "{place}: {}", self.kind)
    }
}

impl std::error::Error for DecodeError {}
