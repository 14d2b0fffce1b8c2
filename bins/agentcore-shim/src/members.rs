//! The members of a JSON object as text, so that one can be changed and the rest stays as it came.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Names and values in their order. A name that comes twice is there twice.
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, Cow<'a, RawValue>)>);

impl<'a> Members<'a> {
    /// The members of an object; `None` for anything else.
    pub(crate) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// No members.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    /// The first value of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// The same, without a value that is null.
    pub(crate) fn given(&self, name: &str) -> Option<&RawValue> {
        self.get(name).filter(|value| value.get() != "null")
    }

    /// Puts a value where the first one of this name is, or at the end.
    pub(crate) fn set(&mut self, name: &'static str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = Cow::Owned(value),
            None => self.0.push((name.into(), Cow::Owned(value))),
        }
    }

    /// Appends the members of `defaults` that are not here or are null here.
    pub(crate) fn complete_with(&mut self, defaults: &'a Self) {
        for (name, value) in &defaults.0 {
            match self.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, old)) if old.get() == "null" => *old = value.clone(),
                Some(_) => {}
                None => self.0.push((name.clone(), value.clone())),
            }
        }
    }

    /// The object as text.
    pub(crate) fn to_json(&self) -> Result<Box<RawValue>, serde_json::Error> {
        let mut json = String::from("{");
        for (index, (name, value)) in self.0.iter().enumerate() {
            if index > 0 {
                json.push(',');
            }
            json.push_str(&serde_json::to_string(name)?);
            json.push(':');
            json.push_str(value.get());
        }
        json.push('}');
        RawValue::from_string(json)
    }
}

impl fmt::Debug for Members<'_> {
    /// Names only: values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// A name, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;

        impl<'de> Visitor<'de> for Visit {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
                    members.push((name, Cow::Borrowed(value)));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_changes_and_the_others_keep_every_character() {
        let text =
            r#"{ "a" : 1.50 , "b\u0062": {"x": 1E400, "x": 2}, "c":null,"a":12345678901234567890123 }"#;
        let mut members = Members::read(text).unwrap();
        members.set("c", RawValue::from_string("[1, 2]".to_owned()).unwrap());
        members.set("d", RawValue::from_string("true".to_owned()).unwrap());
        assert_eq!(
            members.to_json().unwrap().get(),
            r#"{"a":1.50,"bb":{"x": 1E400, "x": 2},"c":[1, 2],"a":12345678901234567890123,"d":true}"#
        );
    }

    #[test]
    fn defaults_fill_what_is_missing_or_null() {
        let defaults = Members::read(r#"{"a":0,"b":0,"c":0}"#).unwrap();
        let mut members = Members::read(r#"{"b":1,"c":null}"#).unwrap();
        members.complete_with(&defaults);
        assert_eq!(members.to_json().unwrap().get(), r#"{"b":1,"c":0,"a":0}"#);
        assert_eq!(format!("{members:?}"), r#"["b", "c", "a"]"#);
    }

    #[test]
    fn only_objects_have_members() {
        for text in ["", "[]", "null", "{", "7"] {
            assert!(Members::read(text).is_none(), "{text}");
        }
        assert_eq!(Members::none().to_json().unwrap().get(), "{}");
    }
}
