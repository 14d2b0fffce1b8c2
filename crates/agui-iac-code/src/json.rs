//! Tolerant reading of JSON text member by member, without building a tree.
//!
//! Every value is first split off as raw text and then read as what it should be, so that one
//! wrong member can never spoil its neighbours.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::Deserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Borrowed JSON text whose digits, order and spelling are kept as they arrived.
///
/// `Debug` tells only the length: the content may be anything that a kernel or a user wrote.
///
/// ```
/// use agui_iac_code::Raw;
/// use serde_json::value::RawValue;
///
/// let cost: &RawValue = serde_json::from_str("12.50")?;
/// assert_eq!(Raw::new(cost).get(), "12.50");
/// assert_eq!(format!("{:?}", Raw::new(cost)), "Raw(5 bytes)");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Raw<'a>(&'a RawValue);

impl<'a> Raw<'a> {
    /// Wraps borrowed JSON text.
    #[must_use]
    pub const fn new(value: &'a RawValue) -> Self {
        Self(value)
    }

    /// The JSON text.
    #[must_use]
    pub fn get(self) -> &'a str {
        self.0.get()
    }

    /// The text as the type that `serde_json` copies through unchanged.
    #[must_use]
    pub const fn value(self) -> &'a RawValue {
        self.0
    }
}

impl Default for Raw<'_> {
    fn default() -> Self {
        Self(RawValue::NULL)
    }
}

impl Deref for Raw<'_> {
    type Target = RawValue;

    fn deref(&self) -> &RawValue {
        self.0
    }
}

impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({} bytes)", self.get().len())
    }
}

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A known member that had the wrong type and is treated as absent.
///
/// Example: see [`Notes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The object it stands in, for example `tool`.
    pub object: &'static str,
    /// The member, for example `toolUseId`.
    pub member: &'static str,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.object, self.member)
    }
}

/// The members that were skipped while a document was read; at most [`Notes::LIMIT`] are kept.
///
/// ```
/// use agui_iac_code::metadata::IacMetadata;
/// use serde_json::value::RawValue;
///
/// let metadata: &RawValue =
///     serde_json::from_str(r#"{"iac_code":{"tool":{"status":"started","toolUseId":"call_1","name":7}}}"#)?;
/// let read = IacMetadata::read(metadata);
/// assert_eq!(read.tool.expect("the call is read all the same").tool_use_id.as_deref(), Some("call_1"));
/// assert_eq!(read.notes.as_slice()[0].to_string(), "tool.name");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    kept: Vec<Note>,
    count: usize,
}

impl Notes {
    /// Most notes that are kept of one document; further ones are only counted.
    pub const LIMIT: usize = 16;

    /// The notes, in reading order.
    #[must_use]
    pub fn as_slice(&self) -> &[Note] {
        &self.kept
    }

    /// How many members were skipped, with those beyond [`Notes::LIMIT`].
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Whether every known member had its type.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn add(&mut self, object: &'static str, member: &'static str) {
        self.count += 1;
        if self.kept.len() < Self::LIMIT {
            self.kept.push(Note { object, member });
        }
    }
}

/// The value is not of the type the member has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WrongType;

/// What a member reader gives: `None` for an explicit null.
pub(crate) type Read<T> = Result<Option<T>, WrongType>;

/// Reads the known members of the object `$raw` into places; `false` if it is no object.
///
/// A null empties the place, a wrong type empties it and leaves a note, unknown members are
/// skipped, the last of two equal members counts.
macro_rules! read_members {
    ($raw:expr, $notes:expr, $object:literal, { $($member:literal => $slot:expr, $reader:expr;)+ }) => {
        $crate::json::each_member($raw, |member, value| match member {
            $($member => {
                $slot = match $reader(value, &mut *$notes) {
                    Ok(read) => read,
                    Err($crate::json::WrongType) => {
                        $notes.add($object, $member);
                        None
                    }
                };
            })+
            _ => {}
        })
    };
}

pub(crate) use read_members;

/// Calls `each` with every member of the object `raw`, in order; `false` if it is no object.
///
/// Names with escapes are decoded; a member whose name is not valid text is skipped.
pub(crate) fn each_member<'a>(raw: &'a RawValue, mut each: impl FnMut(&str, &'a RawValue)) -> bool {
    each_raw_member(raw, |name, value| {
        if let Ok(name) = string(name) {
            each(&name, value);
        }
    })
}

/// Like [`each_member`] with the names as raw text, quotes included.
pub(crate) fn each_raw_member<'a, F>(raw: &'a RawValue, each: F) -> bool
where
    F: FnMut(&'a RawValue, &'a RawValue),
{
    serde_json::Deserializer::from_str(raw.get()).deserialize_map(EachMember { each }).is_ok()
}

struct EachMember<F> {
    each: F,
}

impl<'a, F> Visitor<'a> for EachMember<F>
where
    F: FnMut(&'a RawValue, &'a RawValue),
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(mut self, mut map: A) -> Result<(), A::Error> {
        // The name is taken as raw text, because a broken escape in it must not fail the object.
        while let Some((name, value)) = map.next_entry()? {
            (self.each)(name, value);
        }
        Ok(())
    }
}

/// The elements of the array `raw`.
pub(crate) fn elements(raw: &RawValue) -> Result<Vec<&RawValue>, WrongType> {
    struct Elements;

    impl<'a> Visitor<'a> for Elements {
        type Value = Vec<&'a RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(element) = seq.next_element()? {
                all.push(element);
            }
            Ok(all)
        }
    }

    serde_json::Deserializer::from_str(raw.get()).deserialize_seq(Elements).map_err(|_| WrongType)
}

/// The string that `raw` is, borrowed when it has no escapes.
pub(crate) fn string(raw: &RawValue) -> Result<Cow<'_, str>, WrongType> {
    let inner = raw.get().strip_prefix('"').and_then(|text| text.strip_suffix('"')).ok_or(WrongType)?;
    if inner.contains('\\') {
        return serde_json::from_str(raw.get()).map(Cow::Owned).map_err(|_| WrongType);
    }
    Ok(Cow::Borrowed(inner))
}

/// The non-negative integer that `raw` is; `3.0` and `3e0` are 3, as protobuf numbers are doubles.
pub(crate) fn whole_number(raw: &RawValue) -> Result<u64, WrongType> {
    let text = raw.get();
    if let Ok(number) = text.parse::<u64>() {
        return Ok(number);
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(WrongType);
    }
    let number: f64 = text.parse().map_err(|_| WrongType)?;
    if number.fract() == 0.0 && number <= MAX_EXACT as f64 { Ok(number as u64) } else { Err(WrongType) }
}

/// Whether `raw` is a finite number that is no integer.
pub(crate) fn is_fraction(raw: &RawValue) -> bool {
    raw.get().parse::<f64>().is_ok_and(|number| number.is_finite() && number.fract() != 0.0)
}

/// Largest integer that a JSON number of double precision holds exactly.
pub(crate) const MAX_EXACT: u64 = (1 << 53) - 1;

pub(crate) fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// What an object reader gives: the value, `None` for null, an error for any other type.
pub(crate) fn finish<T>(value: T, raw: &RawValue, is_object: bool) -> Read<T> {
    match (is_object, is_null(raw)) {
        (true, _) => Ok(Some(value)),
        (false, true) => Ok(None),
        (false, false) => Err(WrongType),
    }
}

/// Member reader for a string.
pub(crate) fn text<'a>(raw: &'a RawValue, _: &mut Notes) -> Read<Cow<'a, str>> {
    if is_null(raw) { Ok(None) } else { string(raw).map(Some) }
}

/// Member reader for a string or a number; an id that is a number is its digits.
pub(crate) fn text_or_number<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Cow<'a, str>> {
    if let Ok(number) = whole_number(raw) {
        return Ok(Some(Cow::Owned(number.to_string())));
    }
    text(raw, notes)
}

/// Member reader for a non-negative integer.
pub(crate) fn integer(raw: &RawValue, _: &mut Notes) -> Read<u64> {
    if is_null(raw) { Ok(None) } else { whole_number(raw).map(Some) }
}

/// Member reader for a finite number.
pub(crate) fn number(raw: &RawValue, _: &mut Notes) -> Read<f64> {
    if is_null(raw) {
        return Ok(None);
    }
    let text = raw.get();
    if !text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return Err(WrongType);
    }
    text.parse::<f64>().ok().filter(|n| n.is_finite()).map(Some).ok_or(WrongType)
}

/// Member reader for a boolean.
pub(crate) fn boolean(raw: &RawValue, _: &mut Notes) -> Read<bool> {
    match raw.get() {
        "true" => Ok(Some(true)),
        "false" => Ok(Some(false)),
        "null" => Ok(None),
        _ => Err(WrongType),
    }
}

/// Member reader that keeps any value except null as text.
pub(crate) fn any<'a>(raw: &'a RawValue, _: &mut Notes) -> Read<Raw<'a>> {
    Ok((!is_null(raw)).then_some(Raw(raw)))
}

/// Member reader that keeps any value as text, null too.
pub(crate) fn any_or_null<'a>(raw: &'a RawValue, _: &mut Notes) -> Read<Raw<'a>> {
    Ok(Some(Raw(raw)))
}

/// Member reader that keeps an object as text.
pub(crate) fn object<'a>(raw: &'a RawValue, _: &mut Notes) -> Read<Raw<'a>> {
    match raw.get().as_bytes().first() {
        Some(b'{') => Ok(Some(Raw(raw))),
        _ if is_null(raw) => Ok(None),
        _ => Err(WrongType),
    }
}

/// Member reader for a list of which every element is read with `read`; odd elements are noted.
pub(crate) fn list<'a, T>(
    raw: &'a RawValue,
    notes: &mut Notes,
    object: &'static str,
    read: impl Fn(&'a RawValue, &mut Notes) -> Read<T>,
) -> Read<Vec<T>> {
    if is_null(raw) {
        return Ok(None);
    }
    let mut all = Vec::new();
    for element in elements(raw)? {
        match read(element, notes) {
            Ok(Some(value)) => all.push(value),
            Ok(None) | Err(WrongType) => notes.add(object, "[]"),
        }
    }
    Ok(Some(all))
}

/// Member reader for a list of strings.
pub(crate) fn texts<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Vec<Cow<'a, str>>> {
    list(raw, notes, "list of strings", text)
}

#[cfg(test)]
mod tests;
