//! What is wrong with the extension object.

use std::fmt;

/// A member of `forwardedProps` that is wrong. It names the place, never the value.
///
/// Example: see [`IacCodeProps`](crate::IacCodeProps).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at {pointer:?}")]
#[non_exhaustive]
pub struct PropsError {
    /// JSON pointer in the request, for example `/forwardedProps/iacCode/thinking/budget`.
    pub pointer: String,
    /// What is wrong there.
    pub kind: PropsErrorKind,
}

/// How a member can be wrong.
///
/// Example: see [`IacCodeProps`](crate::IacCodeProps).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PropsErrorKind {
    /// It is required and not there.
    Missing,
    /// It has another type; a string with broken escapes counts too.
    WrongType,
    /// The schema has no such member.
    UnknownKey,
    /// It has the right type but not one of the allowed values.
    OutOfRange,
    /// It is given twice.
    DuplicateKey,
    /// It is not JSON.
    Syntax,
}

impl PropsErrorKind {
    /// Stable word for messages and logs: `missing`, `wrong-type`, `unknown-key`, `out-of-range`,
    /// `duplicate-key` or `syntax`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::WrongType => "wrong-type",
            Self::UnknownKey => "unknown-key",
            Self::OutOfRange => "out-of-range",
            Self::DuplicateKey => "duplicate-key",
            Self::Syntax => "syntax",
        }
    }
}

impl fmt::Display for PropsErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in the request while it is decoded.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'p> {
    /// `forwardedProps`.
    Root,
    /// A member of another place.
    Member(&'p Self, &'p str),
}

/// Longest member name that is repeated in an error, in bytes; a longer one is cut off, so that a
/// hostile name cannot blow up an error text.
const MAX_NAME_BYTES: usize = 64;

impl Place<'_> {
    /// An error of this place.
    pub(super) fn error(&self, kind: PropsErrorKind) -> PropsError {
        let mut pointer = String::new();
        self.write(&mut pointer);
        PropsError { pointer, kind }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Root => out.push_str("/forwardedProps"),
            Self::Member(parent, name) => {
                parent.write(out);
                out.push('/');
                for (place, c) in name.char_indices() {
                    match c {
                        _ if place >= MAX_NAME_BYTES => return out.push('…'),
                        '~' => out.push_str("~0"),
                        '/' => out.push_str("~1"),
                        c if c.is_control() => out.push('\u{fffd}'),
                        c => out.push(c),
                    }
                }
            }
        }
    }
}
