//! From binary values to JSON text.

use std::collections::HashMap;
use std::io::Write as _;

use agui_core::MAX_JSON_DEPTH;

use super::{merged, tag};
use crate::ProtoError;
use crate::fields::{Fields, Payload};

/// From here on numbers are written with an exponent, as JavaScript writes them.
const EXPONENT_FROM: f64 = 1e21;
/// Below this they are, too.
const EXPONENT_BELOW: f64 = 1e-6;

/// Writes a field of type `Value`; `false` if there is nothing in it.
pub(crate) fn value_text(occurrences: &[Vec<u8>], out: &mut Vec<u8>) -> Result<bool, ProtoError> {
    match merged(occurrences) {
        Some(bytes) => value(&bytes, 0, out),
        None => Ok(false),
    }
}

/// Writes a field of type `Struct`; `false` if it is absent.
pub(crate) fn object_text(occurrences: &[Vec<u8>], out: &mut Vec<u8>) -> Result<bool, ProtoError> {
    match merged(occurrences) {
        Some(bytes) => object(&bytes, 0, out).map(|()| true),
        None => Ok(false),
    }
}

/// The alternatives of a `Value`.
enum Kind<'a> {
    Null,
    Number(f64),
    String(&'a str),
    Bool(bool),
    Struct(Vec<&'a [u8]>),
    List(Vec<&'a [u8]>),
}

/// The last alternative that is given; occurrences of one container are merged.
fn kind(bytes: &[u8]) -> Result<Option<Kind<'_>>, ProtoError> {
    let mut last = None;
    for field in Fields::new(bytes) {
        let field = field?;
        last = match (field.number, field.payload, last) {
            (1, Payload::Varint(_), _) => Some(Kind::Null),
            (2, Payload::Fixed64(bits), _) => Some(Kind::Number(f64::from_bits(bits))),
            (3, Payload::Bytes(text), _) => {
                Some(Kind::String(std::str::from_utf8(text).map_err(|_| ProtoError::MALFORMED)?))
            }
            (4, Payload::Varint(flag), _) => Some(Kind::Bool(flag != 0)),
            (5, Payload::Bytes(more), Some(Kind::Struct(mut parts))) => {
                parts.push(more);
                Some(Kind::Struct(parts))
            }
            (5, Payload::Bytes(first), _) => Some(Kind::Struct(vec![first])),
            (6, Payload::Bytes(more), Some(Kind::List(mut parts))) => {
                parts.push(more);
                Some(Kind::List(parts))
            }
            (6, Payload::Bytes(first), _) => Some(Kind::List(vec![first])),
            (1..=6, _, _) => return Err(ProtoError::MALFORMED),
            (_, _, last) => last,
        };
    }
    Ok(last)
}

fn value(bytes: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<bool, ProtoError> {
    match kind(bytes)? {
        None => return Ok(false),
        Some(Kind::Null) => out.extend_from_slice(b"null"),
        Some(Kind::Bool(true)) => out.extend_from_slice(b"true"),
        Some(Kind::Bool(false)) => out.extend_from_slice(b"false"),
        Some(Kind::Number(number)) => put_number(number, out),
        Some(Kind::String(text)) => serde_json::to_writer(out, text)?,
        Some(Kind::Struct(parts)) => object(&parts.concat(), deeper(depth)?, out)?,
        Some(Kind::List(parts)) => list(&parts, deeper(depth)?, out)?,
    }
    Ok(true)
}

fn deeper(depth: usize) -> Result<usize, ProtoError> {
    if depth < MAX_JSON_DEPTH { Ok(depth + 1) } else { Err(ProtoError::TooDeep) }
}

/// An entry without a value is none; of entries that repeat a key, the last counts.
fn object(bytes: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<(), ProtoError> {
    let mut places = HashMap::new();
    let mut entries: Vec<(&str, Vec<u8>)> = Vec::new();
    for field in Fields::new(bytes) {
        let field = field?;
        let Some(entry) = field.bytes_of(u32::from(tag::ITEM >> 3))? else { continue };
        let (key, value) = entry_of(entry)?;
        let Some(value) = value else { continue };
        match places.get(key) {
            Some(place) => {
                let entry: &mut (&str, Vec<u8>) = &mut entries[*place];
                entry.1 = value;
            }
            None => {
                places.insert(key, entries.len());
                entries.push((key, value));
            }
        }
    }
    out.push(b'{');
    let begin = out.len();
    for (key, bytes) in entries {
        let before = out.len();
        if before > begin {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, key)?;
        out.push(b':');
        if !value(&bytes, depth, out)? {
            out.truncate(before);
        }
    }
    out.push(b'}');
    Ok(())
}

/// Key and merged value of an entry.
fn entry_of(bytes: &[u8]) -> Result<(&str, Option<Vec<u8>>), ProtoError> {
    let mut key = "";
    let mut value: Option<Vec<u8>> = None;
    for field in Fields::new(bytes) {
        let field = field?;
        if let Some(text) = field.bytes_of(1)? {
            key = std::str::from_utf8(text).map_err(|_| ProtoError::MALFORMED)?;
        } else if let Some(more) = field.bytes_of(u32::from(tag::ENTRY_VALUE >> 3))? {
            value.get_or_insert_default().extend_from_slice(more);
        }
    }
    Ok((key, value))
}

/// An item without a value is `null`, so that the others keep their places.
fn list(parts: &[&[u8]], depth: usize, out: &mut Vec<u8>) -> Result<(), ProtoError> {
    out.push(b'[');
    let begin = out.len();
    for field in parts.iter().flat_map(|part| Fields::new(part)) {
        let field = field?;
        let Some(item) = field.bytes_of(u32::from(tag::ITEM >> 3))? else { continue };
        if out.len() > begin {
            out.push(b',');
        }
        if !value(item, depth, out)? {
            out.extend_from_slice(b"null");
        }
    }
    out.push(b']');
    Ok(())
}

/// Writes a number with the digits that JavaScript would show. What JSON cannot say is `null`.
fn put_number(number: f64, out: &mut Vec<u8>) {
    let magnitude = number.abs();
    // Writing to a vector does not fail.
    let _ = if !number.is_finite() {
        out.write_all(b"null")
    } else if magnitude >= EXPONENT_FROM || (magnitude != 0.0 && magnitude < EXPONENT_BELOW) {
        write!(out, "{number:e}")
    } else {
        write!(out, "{number}")
    };
}
