use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::{DecodeError, DecodeErrorKind, Expected};
use super::path::Path;
use super::{Decode, Reader};

/// The known members of one object, each as raw text. Unknown members are left out.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    at: &'a Path<'a>,
    keys: &'static [&'static str],
    values: Vec<Option<&'a RawValue>>,
}

impl<'a> Fields<'a> {
    /// Reads the members named in `keys`.
    pub(crate) fn read(
        object: &'a RawValue,
        keys: &'static [&'static str],
        at: &'a Path<'a>,
    ) -> Result<Self, DecodeError> {
        if !object.get().starts_with('{') {
            return Err(at.error(DecodeErrorKind::WrongType(Expected::Object)));
        }
        let mut fields = Self { at, keys, values: vec![None; keys.len()] };
        let mut repeated = None;
        let visitor = Members { fields: &mut fields, repeated: &mut repeated };
        match serde_json::Deserializer::from_str(object.get()).deserialize_map(visitor) {
            Ok(()) => Ok(fields),
            Err(_) => Err(match repeated {
                Some(key) => at.key(key).error(DecodeErrorKind::DuplicateKey),
                // The text is JSON already, so what is left is a member name that is not Unicode.
                None => at.error(DecodeErrorKind::LoneSurrogate),
            }),
        }
    }

    /// The place of the object.
    pub(crate) const fn at(&self) -> &'a Path<'a> {
        self.at
    }

    /// The raw text of a member.
    pub(crate) fn raw(&self, key: &'static str) -> Option<&'a RawValue> {
        let index = self.keys.iter().position(|known| *known == key)?;
        self.values.get(index).copied().flatten()
    }

    /// A member that has to be there.
    pub(crate) fn required<T: Decode>(
        &self,
        key: &'static str,
        reader: &mut Reader,
    ) -> Result<T, DecodeError> {
        let place = self.at.key(key);
        match self.raw(key) {
            Some(value) => T::decode(value, &place, reader),
            None => Err(place.error(DecodeErrorKind::Missing)),
        }
    }

    /// A member that may be left out; `null` only if the reader is a server.
    pub(crate) fn plain<T: Decode>(
        &self,
        key: &'static str,
        reader: &mut Reader,
    ) -> Result<Option<T>, DecodeError> {
        self.optional(key, reader.is_request(), reader)
    }

    /// A member that may be left out, for which released consumers take `null` as absent.
    pub(crate) fn compat<T: Decode>(
        &self,
        key: &'static str,
        reader: &mut Reader,
    ) -> Result<Option<T>, DecodeError> {
        self.optional(key, !reader.is_exact(), reader)
    }

    /// A member for which `null` means absent by the schema.
    pub(crate) fn nullable<T: Decode>(
        &self,
        key: &'static str,
        reader: &mut Reader,
    ) -> Result<Option<T>, DecodeError> {
        self.optional(key, true, reader)
    }

    /// A list for which absent means empty.
    pub(crate) fn list<T: Decode>(
        &self,
        key: &'static str,
        reader: &mut Reader,
    ) -> Result<Vec<T>, DecodeError> {
        self.plain(key, reader).map(Option::unwrap_or_default)
    }

    fn optional<T: Decode>(
        &self,
        key: &'static str,
        null_is_absent: bool,
        reader: &mut Reader,
    ) -> Result<Option<T>, DecodeError> {
        let place = self.at.key(key);
        let Some(value) = self.raw(key) else { return Ok(None) };
        if value.get() == "null" {
            return if null_is_absent { Ok(None) } else { Err(place.error(DecodeErrorKind::Null)) };
        }
        match T::decode(value, &place, reader) {
            Ok(value) => Ok(Some(value)),
            Err(error) => reader.skip(error).map(|()| None),
        }
    }
}

/// Collects the known members and remembers the first one that is repeated.
struct Members<'f, 'a> {
    fields: &'f mut Fields<'a>,
    repeated: &'f mut Option<&'static str>,
}

impl<'a> Visitor<'a> for Members<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(known) = map.next_key_seed(Key(self.fields.keys))? {
            let Some(index) = known else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if self.fields.values[index].is_some() {
                *self.repeated = Some(self.fields.keys[index]);
                return Err(serde::de::Error::custom("repeated member"));
            }
            self.fields.values[index] = Some(map.next_value()?);
        }
        Ok(())
    }
}

/// The index of a member name among the known ones.
struct Key(&'static [&'static str]);

impl<'a> DeserializeSeed<'a> for Key {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|known| *known == name))
    }
}
