//! JSON Patch (RFC 6902) and JSON Pointer (RFC 6901).

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Json;
use crate::decode::{self, Decode, DecodeError, DecodeErrorKind, Fields, Path, Reader, discriminator};
use crate::record::put;

/// A list of operations; applied in order, all or none.
///
/// Example: see [`PatchOp`].
///
/// Source: RFC 6902.
pub type JsonPatch = Vec<PatchOp>;

/// A place in a JSON document.
///
/// ```
/// use agui_core::JsonPointer;
///
/// assert_eq!(JsonPointer::from_tokens(["paths", "a/b"]).as_str(), "/paths/a~1b");
/// assert!(JsonPointer::new("paths").is_err());
/// ```
///
/// Source: RFC 6901.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonPointer(Box<str>);

/// The text is not a JSON pointer.
///
/// Example: see [`JsonPointer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadPointer;

impl fmt::Display for BadPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a JSON pointer")
    }
}

impl std::error::Error for BadPointer {}

impl JsonPointer {
    /// Takes the text of a pointer: empty for the whole document, else `/` before each token.
    ///
    /// # Errors
    /// If the first character is not `/`, or `~` is not followed by `0` or `1`.
    pub fn new(text: impl Into<Box<str>>) -> Result<Self, BadPointer> {
        let text = text.into();
        let rooted = text.is_empty() || text.starts_with('/');
        let escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        if rooted && escaped { Ok(Self(text)) } else { Err(BadPointer) }
    }

    /// Makes a pointer from plain tokens, outermost first.
    #[must_use]
    pub fn from_tokens<T: AsRef<str>>(tokens: impl IntoIterator<Item = T>) -> Self {
        let mut text = String::new();
        for token in tokens {
            text.push('/');
            text.push_str(&token.as_ref().replace('~', "~0").replace('/', "~1"));
        }
        Self(text.into())
    }

    /// The text of the pointer.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for JsonPointer {
    type Err = BadPointer;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl fmt::Display for JsonPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for JsonPointer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl Decode for JsonPointer {
    fn decode(value: &RawValue, at: &Path<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
        Self::new(decode::string(value, at)?).map_err(|BadPointer| at.error(DecodeErrorKind::BadPointer))
    }
}

/// What an operation does at its path.
///
/// Source: RFC 6902, section 4.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PatchAction {
    /// Inserts, or sets a member.
    Add {
        /// The value; `null` is a value.
        value: Json,
    },
    /// Takes away.
    Remove,
    /// Sets what exists.
    Replace {
        /// The value; `null` is a value.
        value: Json,
    },
    /// Moves from another place.
    Move {
        /// The place to take from.
        from: JsonPointer,
    },
    /// Copies from another place.
    Copy {
        /// The place to copy.
        from: JsonPointer,
    },
    /// Fails the patch unless the place holds the value.
    Test {
        /// The value; `null` is a value.
        value: Json,
    },
}

/// One operation.
///
/// ```
/// use agui_core::{Json, JsonPatch, JsonPointer, PatchOp, StateDelta};
///
/// let done = JsonPointer::from_tokens(["steps", "0", "done"]);
/// let patch: JsonPatch = vec![PatchOp::add(done, Json::from_serialize(&true)?)];
/// let event = serde_json::to_string(&StateDelta::new(patch))?;
/// assert!(event.contains(r#"[{"op":"add","path":"/steps/0/done","value":true}]"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Source: RFC 6902, section 4.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PatchOp {
    /// What to do.
    pub action: PatchAction,
    /// Where to do it.
    pub path: JsonPointer,
    /// Members that the operation does not define, in order; kept and written back.
    pub extra: Vec<(String, Json)>,
}

impl PatchOp {
    /// Makes an operation.
    #[must_use]
    pub const fn new(path: JsonPointer, action: PatchAction) -> Self {
        Self { action, path, extra: Vec::new() }
    }

    /// Inserts `value` at `path`, or sets the member there.
    #[must_use]
    pub fn add(path: JsonPointer, value: impl Into<Json>) -> Self {
        Self::new(path, PatchAction::Add { value: value.into() })
    }

    /// Sets what exists at `path`.
    #[must_use]
    pub fn replace(path: JsonPointer, value: impl Into<Json>) -> Self {
        Self::new(path, PatchAction::Replace { value: value.into() })
    }

    /// Takes away what is at `path`.
    #[must_use]
    pub const fn remove(path: JsonPointer) -> Self {
        Self::new(path, PatchAction::Remove)
    }

    const fn op(&self) -> &'static str {
        match self.action {
            PatchAction::Add { .. } => "add",
            PatchAction::Remove => "remove",
            PatchAction::Replace { .. } => "replace",
            PatchAction::Move { .. } => "move",
            PatchAction::Copy { .. } => "copy",
            PatchAction::Test { .. } => "test",
        }
    }

    const fn value(&self) -> Option<&Json> {
        match &self.action {
            PatchAction::Add { value } | PatchAction::Replace { value } | PatchAction::Test { value } => {
                Some(value)
            }
            PatchAction::Remove | PatchAction::Move { .. } | PatchAction::Copy { .. } => None,
        }
    }

    const fn from(&self) -> Option<&JsonPointer> {
        match &self.action {
            PatchAction::Move { from } | PatchAction::Copy { from } => Some(from),
            PatchAction::Add { .. }
            | PatchAction::Remove
            | PatchAction::Replace { .. }
            | PatchAction::Test { .. } => None,
        }
    }
}

named_schema!(PatchOp, |generator| {
    use crate::schema::{Members, WireSchema, one_of};
    let forms = ["add", "replace", "test", "move", "copy", "remove"].map(|op| {
        let mut members = Members::new();
        members.constant("op", op);
        members.required("path", "Where to do it.", JsonPointer::wire_schema(generator));
        match op {
            "add" | "replace" | "test" => {
                members.required("value", "Any value, also null.", Json::wire_schema(generator));
            }
            "move" | "copy" => {
                members.required("from", "The place to take from.", JsonPointer::wire_schema(generator));
            }
            _ => {}
        }
        members.build("")
    });
    one_of("One operation (RFC 6902).", forms.to_vec())
});

impl Serialize for PatchOp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("op", self.op())?;
        put(&mut map, "from", self.from())?;
        map.serialize_entry("path", &self.path)?;
        if let Some(value) = self.value() {
            // `null` is a value of an operation.
            map.serialize_entry("value", value)?;
        }
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Decode for PatchOp {
    fn decode(value: &RawValue, at: &Path<'_>, reader: &mut Reader) -> Result<Self, DecodeError> {
        let op = discriminator(value, &["op"], at)?;
        let own: &'static [&'static str] = match op.as_str() {
            "add" | "replace" | "test" => &["op", "path", "value"],
            "remove" => &["op", "path"],
            "move" | "copy" => &["op", "path", "from"],
            _ => return Err(at.error(DecodeErrorKind::UnknownMember)),
        };
        let fields = Fields::read(value, own, at)?;
        let path = fields.required("path", reader)?;
        let action = match op.as_str() {
            "add" => PatchAction::Add { value: fields.required("value", reader)? },
            "replace" => PatchAction::Replace { value: fields.required("value", reader)? },
            "test" => PatchAction::Test { value: fields.required("value", reader)? },
            "move" => PatchAction::Move { from: fields.required("from", reader)? },
            "copy" => PatchAction::Copy { from: fields.required("from", reader)? },
            _ => PatchAction::Remove,
        };
        Ok(Self { action, path, extra: extra_members(value, own, at)? })
    }
}

impl<'de> Deserialize<'de> for PatchOp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode::nested(deserializer)
    }
}

fn extra_members(
    object: &RawValue,
    own: &'static [&'static str],
    at: &Path<'_>,
) -> Result<Vec<(String, Json)>, DecodeError> {
    serde_json::Deserializer::from_str(object.get())
        .deserialize_map(Extra(own))
        .map_err(|_| at.error(DecodeErrorKind::LoneSurrogate))
}

/// Collects the members that are not in the list.
struct Extra(&'static [&'static str]);

impl<'de> Visitor<'de> for Extra {
    type Value = Vec<(String, Json)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut extra = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
            if !self.0.contains(&key.as_str()) {
                extra.push((key, Json::from(value)));
            }
        }
        Ok(extra)
    }
}
