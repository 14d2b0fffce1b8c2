//! Readers for members that peers spell loosely: null for absent, floats for integers.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde_json::value::RawValue;

/// Largest magnitude at which every integer still has its own double.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// An integer that may have passed through a protobuf `Struct` and come out as `1.0`.
///
/// ```
/// use a2a_wire::Integer;
///
/// assert_eq!(serde_json::from_str::<Integer>("7.0")?, Integer(7));
/// assert!(serde_json::from_str::<Integer>("7.5").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a number and nothing else")]
pub struct Integer(pub i64);

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntegerVisitor)
    }
}

struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = Integer;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an integer")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Integer, E> {
        Ok(Integer(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Integer, E> {
        match i64::try_from(number) {
            Ok(number) => Ok(Integer(number)),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Integer, E> {
        match integral(number) {
            Some(number) => Ok(Integer(number)),
            None => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }
}

/// The integer that `number` is, if it is one and exact.
pub(crate) fn integral(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the exact range")]
    (number.fract() == 0.0 && number.abs() <= MAX_EXACT).then_some(number as i64)
}

/// A string that is borrowed from the input unless it has escapes.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text)))
    }
}

/// A string; null is the empty one.
pub(crate) fn text<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'a, str>, D::Error> {
    Ok(Option::<Text<'a>>::deserialize(deserializer)?.map_or(Cow::Borrowed(""), |text| text.0))
}

/// A string that may be absent; null and, as in ProtoJSON, the empty string are absent.
pub(crate) fn optional_text<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Cow<'a, str>>, D::Error> {
    let text = Option::<Text<'a>>::deserialize(deserializer)?.map(|text| text.0);
    Ok(text.filter(|text| !text.is_empty()))
}

/// A string of little weight: a value of another type counts as absent, so that it costs nothing of what stands
/// beside it.
pub(crate) fn loose_text<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Cow<'a, str>>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    let text = raw.and_then(|raw| serde_json::from_str::<Text<'de>>(raw.get()).ok()).map(|text| text.0);
    Ok(text.filter(|text| !text.is_empty()))
}

/// A flag that may be absent; whatever is not true, as a boolean or as text, is false.
pub(crate) fn optional_flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.map(|raw| matches!(raw.get(), "true" | "\"true\"")))
}

/// The same where an absent flag is false.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(optional_flag(deserializer)?.unwrap_or_default())
}

/// Any value; null is its default.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_floats_are_integers() {
        let cases = [("10", 10), ("10.0", 10), ("-32001", -32001), ("-3.2001e4", -32001), ("-0.0", 0)];
        for (json, number) in cases {
            assert_eq!(serde_json::from_str::<Integer>(json).unwrap(), Integer(number), "{json}");
        }
        for json in ["1.5", "1e300", "18446744073709551615", "\"1\"", "null", "true"] {
            assert!(serde_json::from_str::<Integer>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn text_borrows_unless_it_has_escapes() {
        let plain: Text<'_> = serde_json::from_str("\"a\u{2028}b\"").unwrap();
        let escaped: Text<'_> = serde_json::from_str(r#""a\nb""#).unwrap();
        assert!(matches!(plain.0, Cow::Borrowed("a\u{2028}b")));
        assert!(matches!(escaped.0, Cow::Owned(text) if text == "a\nb"));
    }
}
