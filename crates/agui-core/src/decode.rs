//! Reading of wire values: one object at a time over borrowed raw text, with the place of every error.
//!
//! Known objects are read member by member, so that an error names a JSON pointer and never a value,
//! a repeated key is refused, and opaque members are taken as text. Three ways of reading exist,
//! see [`Reading`].

use serde_json::value::RawValue;

mod error;
mod fields;
mod path;
mod scalar;

pub use error::{DecodeError, DecodeErrorKind, Expected};
pub(crate) use fields::Fields;
pub(crate) use path::Path;
pub(crate) use scalar::{Kind, MAX_SAFE_INTEGER, kind_of, string};

use crate::json::scan;

/// How forgiving a reader is. Unknown members of known objects are ignored by every one of them.
///
/// Example: see [`decode_event_with`](crate::decode_event_with).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// The closed 1.0 schema: `null` for an absent member, an unknown role, part or operation and the
    /// shapes of 0.x are errors.
    Exact,
    /// What a consumer of a stream owes a producer: unknown members of unions are skipped, and `null`
    /// is taken for absent where released clients do so.
    Stream,
    /// What a server owes the clients in use: as [`Reading::Stream`], and `null` is taken for absent on
    /// every optional member.
    Request,
}

/// A piece of the input that was left out because this version does not know it.
///
/// Example: see [`RunAgentInput::decode`](crate::RunAgentInput::decode).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// JSON pointer to the piece in the document it came in.
    pub pointer: String,
}

/// State of one reading: its strictness and what it has skipped.
#[derive(Debug)]
pub(crate) struct Reader {
    reading: Reading,
    skipped: Vec<Skipped>,
}

impl Reader {
    pub(crate) const fn new(reading: Reading) -> Self {
        Self { reading, skipped: Vec::new() }
    }

    pub(crate) fn into_skipped(self) -> Vec<Skipped> {
        self.skipped
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.reading == Reading::Exact
    }

    pub(crate) fn is_request(&self) -> bool {
        self.reading == Reading::Request
    }

    /// Whether shapes that only 0.x had are read.
    pub(crate) fn takes_legacy(&self) -> bool {
        !self.is_exact()
    }

    /// Turns the error of a removable piece into a note, or gives the error back.
    pub(crate) fn skip(&mut self, error: DecodeError) -> Result<(), DecodeError> {
        if self.is_exact() || error.kind != DecodeErrorKind::UnknownMember {
            return Err(error);
        }
        self.skipped.push(Skipped { pointer: error.pointer });
        Ok(())
    }
}

/// A type that is read from raw text.
pub(crate) trait Decode: Sized {
    fn decode(value: &RawValue, at: &Path<'_>, reader: &mut Reader) -> Result<Self, DecodeError>;

    /// Whether the value would be written as `null`.
    fn is_null(&self) -> bool {
        false
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(value: &RawValue, at: &Path<'_>, reader: &mut Reader) -> Result<Self, DecodeError> {
        T::decode(value, at, reader).map(Self::new)
    }
}

/// Checks the limits and the syntax of a document and gives its root.
pub(crate) fn root(json: &[u8]) -> Result<&RawValue, DecodeError> {
    if !scan::within_limits(json) {
        return Err(Path::ROOT.error(DecodeErrorKind::Syntax));
    }
    serde_json::from_slice(json).map_err(|_| Path::ROOT.error(DecodeErrorKind::Syntax))
}

/// Reads a whole document as `T`.
pub(crate) fn document<T: Decode>(json: &[u8], reader: &mut Reader) -> Result<T, DecodeError> {
    T::decode(root(json)?, &Path::ROOT, reader)
}

/// Reads a value that another deserializer holds; the error becomes that deserializer's own.
pub(crate) fn nested<'de, T: Decode, D: serde::Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let raw: Box<RawValue> = serde::Deserialize::deserialize(deserializer)?;
    document(raw.get().as_bytes(), &mut Reader::new(Reading::Stream)).map_err(serde::de::Error::custom)
}

/// Checks the constant member that names the type of an object.
///
/// Clients of 0.x leave it out where it says nothing, so a server does not insist.
pub(crate) fn tag(
    fields: &Fields<'_>,
    key: &'static str,
    expected: &str,
    reader: &Reader,
) -> Result<(), DecodeError> {
    let place = fields.at().key(key);
    match fields.raw(key) {
        Some(value) if string(value, &place)? == expected => Ok(()),
        Some(_) => Err(place.error(DecodeErrorKind::NotAllowed)),
        None if reader.is_request() => Ok(()),
        None => Err(place.error(DecodeErrorKind::Missing)),
    }
}

/// The member that says which member of a union an object is.
pub(crate) fn discriminator(
    value: &RawValue,
    keys: &'static [&'static str; 1],
    at: &Path<'_>,
) -> Result<String, DecodeError> {
    let fields = Fields::read(value, keys, at)?;
    let place = at.key(keys[0]);
    match fields.raw(keys[0]) {
        Some(name) => string(name, &place),
        None => Err(place.error(DecodeErrorKind::Missing)),
    }
}
