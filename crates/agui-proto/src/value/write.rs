//! From JSON text to binary values.

use std::borrow::Cow;
use std::collections::HashMap;

use agui_core::MAX_JSON_DEPTH;
use prost::encoding::encode_varint;

use super::{Opaque, tag};
use crate::ProtoError;

/// A field that holds one JSON value as a `Value`.
pub(crate) fn value_bytes(json: &str) -> Result<Opaque, ProtoError> {
    let mut out = Vec::with_capacity(json.len() + 8);
    Text { rest: json, depth: 0 }.value(&mut out)?;
    Ok(vec![out])
}

/// A field that holds one JSON object as a `Struct`.
pub(crate) fn object_bytes(json: &str) -> Result<Opaque, ProtoError> {
    let mut out = Vec::with_capacity(json.len() + 8);
    let mut text = Text { rest: json, depth: 0 };
    text.skip_space();
    text.expect(b'{')?;
    text.members(&mut out)?;
    Ok(vec![out])
}

/// JSON text that is known to be valid, read from its beginning.
struct Text<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Text<'a> {
    fn value(&mut self, out: &mut Vec<u8>) -> Result<(), ProtoError> {
        self.skip_space();
        match self.rest.as_bytes().first() {
            Some(b'{') => self.container(out, tag::STRUCT, Self::members),
            Some(b'[') => self.container(out, tag::LIST, Self::items),
            Some(b'"') => {
                let text = self.string()?;
                out.push(tag::STRING);
                put_bytes(out, text.as_bytes());
                Ok(())
            }
            Some(_) => self.scalar(out),
            None => Err(ProtoError::Json(None)),
        }
    }

    fn container(
        &mut self,
        out: &mut Vec<u8>,
        tag: u8,
        content: fn(&mut Self, &mut Vec<u8>) -> Result<(), ProtoError>,
    ) -> Result<(), ProtoError> {
        self.depth += 1;
        if self.depth > MAX_JSON_DEPTH {
            return Err(ProtoError::TooDeep);
        }
        self.rest = &self.rest[1..];
        out.push(tag);
        nested(out, |out| content(self, out))?;
        self.depth -= 1;
        Ok(())
    }

    /// The members of an object whose brace is open, in the order in which the official encoder has them.
    fn members(&mut self, out: &mut Vec<u8>) -> Result<(), ProtoError> {
        let mut members = Members::default();
        while !self.ends_with(b'}')? {
            let key = self.string()?;
            self.skip_space();
            self.expect(b':')?;
            let mut value = Vec::new();
            self.value(&mut value)?;
            members.set(key, value);
        }
        members.write(out);
        Ok(())
    }

    fn items(&mut self, out: &mut Vec<u8>) -> Result<(), ProtoError> {
        while !self.ends_with(b']')? {
            out.push(tag::ITEM);
            nested(out, |out| self.value(out))?;
        }
        Ok(())
    }

    /// Whether the container is closed here; else skips what stands before its next item.
    fn ends_with(&mut self, close: u8) -> Result<bool, ProtoError> {
        self.skip_space();
        match self.rest.as_bytes().first() {
            Some(byte) if *byte == close => {
                self.rest = &self.rest[1..];
                Ok(true)
            }
            Some(b',') => {
                self.rest = &self.rest[1..];
                self.skip_space();
                Ok(false)
            }
            Some(_) => Ok(false),
            None => Err(ProtoError::Json(None)),
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, ProtoError> {
        let bytes = self.rest.as_bytes();
        let mut end = 1;
        let mut has_escapes = false;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    end += 2;
                }
                Some(_) => end += 1,
                None => return Err(ProtoError::Json(None)),
            }
        }
        let (quoted, rest) = self.rest.split_at(end + 1);
        self.rest = rest;
        if has_escapes {
            Ok(Cow::Owned(serde_json::from_str(quoted)?))
        } else {
            Ok(Cow::Borrowed(&quoted[1..end]))
        }
    }

    fn scalar(&mut self, out: &mut Vec<u8>) -> Result<(), ProtoError> {
        let end = self.rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "null" => out.extend([tag::NULL, 0]),
            "true" => out.extend([tag::BOOL, 1]),
            "false" => out.extend([tag::BOOL, 0]),
            number => {
                let number: f64 = number.parse().map_err(|_| ProtoError::Json(None))?;
                out.push(tag::NUMBER);
                out.extend(number.to_le_bytes());
            }
        }
        Ok(())
    }

    fn expect(&mut self, byte: u8) -> Result<(), ProtoError> {
        if self.rest.as_bytes().first() != Some(&byte) {
            return Err(ProtoError::Json(None));
        }
        self.rest = &self.rest[1..];
        Ok(())
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }
}

/// The members of one object as the official encoder sees them: a JavaScript object.
///
/// Keys that are array indexes come first, in numeric order; of members that repeat a key, the last value
/// stands at the first place; `__proto__` is lost.
#[derive(Default)]
struct Members<'a> {
    places: HashMap<Cow<'a, str>, usize>,
    list: Vec<(Cow<'a, str>, Vec<u8>)>,
    has_indexes: bool,
}

impl<'a> Members<'a> {
    fn set(&mut self, key: Cow<'a, str>, value: Vec<u8>) {
        if key == "__proto__" {
            return;
        }
        if let Some(place) = self.places.get(&key) {
            self.list[*place].1 = value;
            return;
        }
        self.has_indexes |= array_index(&key).is_some();
        self.places.insert(key.clone(), self.list.len());
        self.list.push((key, value));
    }

    fn write(mut self, out: &mut Vec<u8>) {
        if self.has_indexes {
            // Stable: keys that are no index stay in their order behind the indexes.
            self.list.sort_by_key(|(key, _)| array_index(key).unwrap_or(u32::MAX));
        }
        for (key, value) in &self.list {
            out.push(tag::ITEM);
            let key_bytes = if key.is_empty() { 0 } else { field_len(key.len()) };
            encode_varint((key_bytes + field_len(value.len())) as u64, out);
            if !key.is_empty() {
                out.push(tag::ITEM);
                put_bytes(out, key.as_bytes());
            }
            out.push(tag::ENTRY_VALUE);
            put_bytes(out, value);
        }
    }
}

/// The number that a key spells, if it is an array index of JavaScript: canonical and below 2^32 - 1.
fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || (!key.starts_with('0') && key.bytes().all(|byte| byte.is_ascii_digit()));
    key.parse().ok().filter(|index| canonical && *index < u32::MAX)
}

/// Size of a length-delimited field with a tag of one byte.
fn field_len(content_bytes: usize) -> usize {
    1 + prost::encoding::encoded_len_varint(content_bytes as u64) + content_bytes
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Writes what `content` writes, with its length before it.
fn nested(
    out: &mut Vec<u8>,
    content: impl FnOnce(&mut Vec<u8>) -> Result<(), ProtoError>,
) -> Result<(), ProtoError> {
    let begin = out.len();
    content(out)?;
    let mut length = Vec::with_capacity(5);
    encode_varint((out.len() - begin) as u64, &mut length);
    out.splice(begin..begin, length);
    Ok(())
}
