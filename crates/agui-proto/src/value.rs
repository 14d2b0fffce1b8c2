//! Opaque JSON and its binary form, `google.protobuf.Value` and `Struct`, without a tree in between.
//!
//! An opaque field is kept as the bytes of every occurrence: the concatenation of two encoded messages is
//! their merger, so nothing has to be parsed to merge them.

use std::borrow::Cow;

use crate::ProtoError;

mod read;
mod write;

pub(crate) use read::{object_text, value_text};
pub(crate) use write::{object_bytes, value_bytes};

/// The occurrences of an opaque field; none means that the field is absent.
pub(crate) type Opaque = Vec<Vec<u8>>;

/// Writes the occurrences of a field as JSON text; `false` if there is nothing to write.
pub(crate) type Reading = fn(&[Vec<u8>], &mut Vec<u8>) -> Result<bool, ProtoError>;

/// Tags of `Value`, `Struct`, its entries and `ListValue`.
mod tag {
    pub(super) const NULL: u8 = 0x08;
    pub(super) const NUMBER: u8 = 0x11;
    pub(super) const STRING: u8 = 0x1a;
    pub(super) const BOOL: u8 = 0x20;
    pub(super) const STRUCT: u8 = 0x2a;
    pub(super) const LIST: u8 = 0x32;
    /// The repeated field of `Struct` and of `ListValue`, and the key of an entry.
    pub(super) const ITEM: u8 = 0x0a;
    pub(super) const ENTRY_VALUE: u8 = 0x12;
}

/// The bytes of a field that occurs several times, as one message.
fn merged(occurrences: &[Vec<u8>]) -> Option<Cow<'_, [u8]>> {
    match occurrences {
        [] => None,
        [one] => Some(Cow::Borrowed(one)),
        several => Some(Cow::Owned(several.concat())),
    }
}

#[cfg(test)]
mod tests;
