use serde_json::error::Category;

/// Why bytes could not be read as A2A.
///
/// Never holds text of the peer: the JSON library's own messages quote values, so only the sort of
/// fault and its place are kept.
///
/// Example: see [`decode_reply`](crate::decode_reply).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Not JSON, or JSON of another shape.
    #[error("{fault} at line {line}, column {column}")]
    Json {
        /// What is wrong.
        fault: JsonFault,
        /// Line, from 1.
        line: usize,
        /// Byte within the line, from 1.
        column: usize,
    },
    /// The text is not UTF-8.
    #[error("text is not UTF-8")]
    Utf8,
    /// A JSON object with neither `result` nor `error`.
    #[error("reply has neither result nor error")]
    NotAReply,
    /// An update was asked for and the reply is a JSON-RPC error; see [`decode_reply`](crate::decode_reply).
    #[error("reply is error {code}")]
    ErrorReply {
        /// JSON-RPC error code.
        code: i64,
    },
}

/// The sort of a [`DecodeError::Json`].
///
/// Example: see [`decode_reply`](crate::decode_reply).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonFault {
    /// The text breaks the JSON grammar.
    Syntax,
    /// The text ends too early.
    Truncated,
    /// Valid JSON whose types do not fit.
    Shape,
}

impl std::fmt::Display for JsonFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Syntax => "invalid JSON",
            Self::Truncated => "truncated JSON",
            Self::Shape => "unexpected JSON shape",
        })
    }
}

impl From<serde_json::Error> for DecodeError {
    fn from(error: serde_json::Error) -> Self {
        let fault = match error.classify() {
            Category::Syntax => JsonFault::Syntax,
            Category::Eof => JsonFault::Truncated,
            Category::Data | Category::Io => JsonFault::Shape,
        };
        Self::Json { fault, line: error.line(), column: error.column() }
    }
}
