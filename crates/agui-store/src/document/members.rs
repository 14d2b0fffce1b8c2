//! The members of a JSON object, taken one by one.

use std::collections::BTreeMap;
use std::collections::btree_map::IntoIter;
use std::fmt;

use agui_core::Json;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::layout::compact;
use crate::error::Corruption;
use crate::record::Foreign;

/// What reading gives.
pub(super) type Outcome<T> = Result<T, Corruption>;

/// An object's members with their raw values; of a repeated key the last value, as Python reads it.
#[derive(Default)]
pub(super) struct Members<'a> {
    members: BTreeMap<String, &'a RawValue>,
    repeats: bool,
}

impl<'a> Members<'a> {
    /// `None` if `text` is not an object.
    pub(super) fn lenient(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Refuses repeated keys, as nobody writes them.
    pub(super) fn strict(text: &'a str, field: &'static str) -> Outcome<Self> {
        let members = Self::lenient(text).ok_or(Corruption::WrongType { field })?;
        if members.repeats { Err(Corruption::DuplicateKey { field }) } else { Ok(members) }
    }

    pub(super) fn take(&mut self, key: &str) -> Option<&'a RawValue> {
        self.members.remove(key)
    }

    /// A member that may be absent.
    pub(super) fn optional<T: Deserialize<'a>>(&mut self, key: &'static str) -> Outcome<Option<T>> {
        let Some(raw) = self.take(key) else { return Ok(None) };
        serde_json::from_str(raw.get()).map(Some).map_err(|_| Corruption::WrongType { field: key })
    }

    /// A member that must be there.
    pub(super) fn required<T: Deserialize<'a>>(&mut self, key: &'static str) -> Outcome<T> {
        self.optional(key)?.ok_or(Corruption::Missing { field: key })
    }

    /// A text that must be there and not empty.
    pub(super) fn text(&mut self, key: &'static str) -> Outcome<String> {
        non_empty(self.required(key)?, key)
    }

    /// A text that may be absent or null.
    pub(super) fn optional_text(&mut self, key: &'static str) -> Outcome<Option<String>> {
        self.optional::<Option<String>>(key).map(Option::flatten)
    }

    /// An object that may be absent.
    pub(super) fn object(&mut self, key: &'static str) -> Outcome<Option<Self>> {
        self.take(key).map(|raw| Self::strict(raw.get(), key)).transpose()
    }

    /// What nobody asked for.
    pub(super) fn foreign(self) -> Foreign {
        let compacted = |raw: &RawValue| Json::from_string(compact(raw.get()));
        // Compact JSON is JSON, so nothing is filtered out.
        Foreign(self.into_iter().filter_map(|(key, raw)| Some((key, compacted(raw).ok()?))).collect())
    }
}

impl<'a> IntoIterator for Members<'a> {
    type Item = (String, &'a RawValue);
    type IntoIter = IntoIter<String, &'a RawValue>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Members::default();
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.repeats |= members.members.insert(key, value).is_some();
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

pub(super) fn non_empty(text: String, field: &'static str) -> Outcome<String> {
    if text.is_empty() { Err(Corruption::Missing { field }) } else { Ok(text) }
}
