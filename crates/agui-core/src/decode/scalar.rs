use std::sync::Arc;

use serde_json::value::RawValue;

use super::error::{DecodeError, DecodeErrorKind, Expected};
use super::path::Path;
use super::{Decode, Reader};
use crate::json::scan;
use crate::{InterruptId, Json, JsonObject, MessageId, RunId, SubagentRunId, ThreadId, ToolCallId};

/// Largest integer of the protocol, 2^53 - 1: the last one that every JSON reader keeps exactly.
///
/// Source: AG-UI 1.0 schema, `timestamp` and the token counts.
pub(crate) const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// The JSON type of a value, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

pub(crate) fn kind_of(value: &RawValue) -> Kind {
    match value.get().as_bytes().first() {
        Some(b'"') => Kind::String,
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b't' | b'f') => Kind::Boolean,
        Some(b'n') | None => Kind::Null,
        Some(_) => Kind::Number,
    }
}

/// Text in which half of a surrogate pair reads U+FFFD.
pub(crate) fn string(value: &RawValue, at: &Path<'_>) -> Result<String, DecodeError> {
    let json = text_of(value, at)?;
    serde_json::from_str(json)
        .or_else(|error| {
            scan::replace_lone_surrogates(json).map_or(Err(error), |text| serde_json::from_str(&text))
        })
        .map_err(|_| at.error(DecodeErrorKind::Syntax))
}

/// Text that has to be what the sender wrote, for identifiers.
fn exact_string(value: &RawValue, at: &Path<'_>) -> Result<Arc<str>, DecodeError> {
    let json = text_of(value, at)?;
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Ok(plain.into()),
        _ => serde_json::from_str::<String>(json)
            .map(Into::into)
            .map_err(|_| at.error(DecodeErrorKind::LoneSurrogate)),
    }
}

fn text_of<'a>(value: &'a RawValue, at: &Path<'_>) -> Result<&'a str, DecodeError> {
    if kind_of(value) == Kind::String {
        Ok(value.get())
    } else {
        Err(at.error(DecodeErrorKind::WrongType(Expected::String)))
    }
}

/// An integer; one that is written with an empty fraction or an exponent counts.
fn integer(value: &RawValue, at: &Path<'_>, least: i64) -> Result<i64, DecodeError> {
    if kind_of(value) != Kind::Number {
        return Err(at.error(DecodeErrorKind::WrongType(Expected::Integer)));
    }
    let text = value.get();
    let number = text.parse::<i64>().ok().or_else(|| integral_float(text));
    number
        .filter(|n| (least..=MAX_SAFE_INTEGER).contains(n))
        .ok_or_else(|| at.error(DecodeErrorKind::OutOfRange))
}

fn integral_float(text: &str) -> Option<i64> {
    let number = text.parse::<f64>().ok()?;
    let exact = number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64;
    exact.then_some(number as i64)
}

impl Decode for String {
    fn decode(value: &RawValue, at: &Path<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
        string(value, at)
    }
}

impl Decode for bool {
    fn decode(value: &RawValue, at: &Path<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
        match value.get() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(at.error(DecodeErrorKind::WrongType(Expected::Boolean))),
        }
    }
}

impl Decode for i64 {
    fn decode(value: &RawValue, at: &Path<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
        integer(value, at, -MAX_SAFE_INTEGER)
    }
}

impl Decode for u64 {
    fn decode(value: &RawValue, at: &Path<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
        integer(value, at, 0).map(i64::unsigned_abs)
    }
}

impl Decode for Json {
    fn decode(value: &RawValue, _: &Path<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
        Ok(Self::from(value))
    }

    fn is_null(&self) -> bool {
        Self::is_null(self)
    }
}

impl Decode for JsonObject {
    fn decode(value: &RawValue, at: &Path<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
        Self::try_from(Json::from(value)).map_err(|_| at.error(DecodeErrorKind::WrongType(Expected::Object)))
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(value: &RawValue, at: &Path<'_>, reader: &mut Reader) -> Result<Self, DecodeError> {
        if kind_of(value) != Kind::Array {
            return Err(at.error(DecodeErrorKind::WrongType(Expected::Array)));
        }
        let elements: Vec<&RawValue> =
            serde_json::from_str(value.get()).map_err(|_| at.error(DecodeErrorKind::Syntax))?;
        let mut out = Self::with_capacity(elements.len());
        for (index, element) in elements.into_iter().enumerate() {
            match T::decode(element, &at.index(index), reader) {
                Ok(element) => out.push(element),
                Err(error) => reader.skip(error)?,
            }
        }
        Ok(out)
    }
}

macro_rules! decode_id {
    ($($name:ident)*) => {$(
        impl Decode for $name {
            fn decode(value: &RawValue, at: &Path<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
                exact_string(value, at).map(Self::new)
            }
        }
    )*};
}

decode_id!(ThreadId RunId MessageId ToolCallId InterruptId SubagentRunId);
