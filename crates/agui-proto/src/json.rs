//! Writing of JSON objects from the fields of decoded messages.

use crate::ProtoError;
use crate::value::{Opaque, Reading, object_text, value_text};

/// A message that is written as a JSON object.
pub(crate) trait Members {
    fn members(&self, object: &mut Object<'_>) -> Result<(), ProtoError>;
}

/// A message that is written as a JSON value, or not at all if it says nothing that this version knows.
pub(crate) trait Element {
    fn element(&self, out: &mut Vec<u8>) -> Result<(), ProtoError>;
}

impl<T: Members> Element for T {
    fn element(&self, out: &mut Vec<u8>) -> Result<(), ProtoError> {
        Object::write(out, |object| self.members(object))
    }
}

impl Element for String {
    fn element(&self, out: &mut Vec<u8>) -> Result<(), ProtoError> {
        Ok(serde_json::to_writer(out, self)?)
    }
}

/// An object that is being written. Absent fields leave no trace.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    begin: usize,
}

impl Object<'_> {
    pub(crate) fn write(
        out: &mut Vec<u8>,
        members: impl FnOnce(&mut Object<'_>) -> Result<(), ProtoError>,
    ) -> Result<(), ProtoError> {
        out.push(b'{');
        let begin = out.len();
        members(&mut Object { out, begin })?;
        out.push(b'}');
        Ok(())
    }

    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if self.out.len() > self.begin {
            self.out.push(b',');
        }
        // Keys are names of members, which need no escapes.
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// A string without presence.
    pub(crate) fn text(&mut self, key: &str, text: &str) -> Result<(), ProtoError> {
        Ok(serde_json::to_writer(self.key(key), text)?)
    }

    /// A string that may be absent.
    pub(crate) fn maybe_text(&mut self, key: &str, text: &Option<String>) -> Result<(), ProtoError> {
        text.as_ref().map_or(Ok(()), |text| self.text(key, text))
    }

    /// An integer that may be absent.
    pub(crate) fn maybe_int(&mut self, key: &str, number: &Option<i64>) -> Result<(), ProtoError> {
        number.map_or(Ok(()), |number| Ok(serde_json::to_writer(self.key(key), &number)?))
    }

    /// A boolean that may be absent.
    pub(crate) fn maybe_flag(&mut self, key: &str, flag: &Option<bool>) -> Result<(), ProtoError> {
        flag.map_or(Ok(()), |flag| Ok(serde_json::to_writer(self.key(key), &flag)?))
    }

    /// A `Value`.
    pub(crate) fn value(&mut self, key: &str, opaque: &Opaque) -> Result<(), ProtoError> {
        self.opaque(key, opaque, value_text)
    }

    /// A `Struct`.
    pub(crate) fn object(&mut self, key: &str, opaque: &Opaque) -> Result<(), ProtoError> {
        self.opaque(key, opaque, object_text)
    }

    fn opaque(&mut self, key: &str, opaque: &Opaque, text: Reading) -> Result<(), ProtoError> {
        let before = self.out.len();
        if !text(opaque, self.key(key))? {
            self.out.truncate(before);
        }
        Ok(())
    }

    /// A list that is left out when it is empty.
    pub(crate) fn list<T: Element>(&mut self, key: &str, items: &[T]) -> Result<(), ProtoError> {
        if items.is_empty() { Ok(()) } else { self.array(key, items) }
    }

    /// A list that is written when it is empty, too.
    pub(crate) fn array<T: Element>(&mut self, key: &str, items: &[T]) -> Result<(), ProtoError> {
        let out = self.key(key);
        out.push(b'[');
        let begin = out.len();
        for item in items {
            if out.len() > begin {
                out.push(b',');
            }
            item.element(out)?;
        }
        out.push(b']');
        Ok(())
    }

    /// A message that may be absent.
    pub(crate) fn maybe<T: Element>(&mut self, key: &str, item: &Option<T>) -> Result<(), ProtoError> {
        item.as_ref().map_or(Ok(()), |item| item.element(self.key(key)))
    }
}
