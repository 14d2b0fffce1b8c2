//! Small readers of JSON text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in order, values as text.
#[derive(Debug)]
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads an object; `None` if it is none, or if a name stands twice: two readers would see two answers.
    pub(crate) fn strict(object: &'a RawValue) -> Option<Self> {
        serde_json::Deserializer::from_str(object.get()).deserialize_map(StrictMembers).ok().map(Self)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The value of `name`, if there is no other member.
    pub(crate) fn only(&self, name: &str) -> Option<&'a RawValue> {
        if self.0.len() == 1 { self.get(name) } else { None }
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn names_are_among(&self, names: &[&str]) -> bool {
        self.0.iter().all(|(name, _)| names.contains(&&**name))
    }
}

struct StrictMembers;

impl<'de> Visitor<'de> for StrictMembers {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Self::Value = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if members.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom("a name stands twice"));
            }
            members.push((Cow::Owned(name), map.next_value()?));
        }
        Ok(members)
    }
}

/// JSON text without the white space that means nothing; digits, order and spelling stay.
pub(crate) fn compact(json: &str) -> Cow<'_, str> {
    let mut in_string = false;
    let mut escaped = false;
    let mut keep = |byte: u8| {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            return true;
        }
        in_string = byte == b'"';
        !matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
    };
    // White space outside of strings is ASCII, so that characters are dropped or kept as a whole.
    let Some(first) = json.bytes().position(|byte| !keep(byte)) else { return Cow::Borrowed(json) };
    let mut text = String::with_capacity(json.len());
    text.push_str(&json[..first]);
    text.extend(json[first + 1..].chars().filter(|c| keep(u8::try_from(*c).unwrap_or(b'x'))));
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c67_compact_json_keeps_digits_order_and_strings() {
        let cases = [
            (r#"{"b":1.0,"a":1E400}"#, r#"{"b":1.0,"a":1E400}"#),
            (
                "{ \"b\" : 12345678901234567890 ,\n\t\"a\":[ 1 , -0 ] }",
                r#"{"b":12345678901234567890,"a":[1,-0]}"#,
            ),
            (
                "{\"a\" : \"x \\\" y\\\\\", \"\u{e9}\u{4f60}\" : \"\u{e9} \u{4f60}\"}",
                "{\"a\":\"x \\\" y\\\\\",\"\u{e9}\u{4f60}\":\"\u{e9} \u{4f60}\"}",
            ),
            (" 7 ", "7"),
            ("", ""),
        ];
        for (json, expected) in cases {
            assert_eq!(compact(json), expected);
        }
    }

    #[test]
    fn c68_a_name_that_stands_twice_is_refused() {
        let raw = |text: &'static str| -> &'static RawValue { serde_json::from_str(text).unwrap() };
        assert!(Members::strict(raw(r#"{"a":1,"b":2}"#)).is_some());
        for refused in [r#"{"a":1,"a":1}"#, r#"{"a":1,"\u0061":2}"#, "[]", "null", "3"] {
            assert!(Members::strict(raw(refused)).is_none(), "{refused}");
        }
    }
}
