//! JSON that is passed through: kept as text, so that digits, order and spelling survive.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub(crate) mod scan;

/// One JSON value, kept as its text.
///
/// The text is what came in, with two exceptions that no JSON reader can tell apart from it or that
/// many readers die on: the text is always one line (insignificant line breaks are taken out, so it
/// fits a `data:` line), and an escaped half of a surrogate pair reads `\ufffd`.
/// Numbers keep every digit. Equality is equality of the text.
///
/// ```
/// use agui_core::Json;
///
/// let text = r#"{"price": 0.10, "id": 12345678901234567890123}"#;
/// assert_eq!(Json::from_string(text.to_owned())?.get(), text);
/// assert_eq!(Json::from_serialize(&["a", "b"])?.parse::<Vec<String>>()?, ["a", "b"]);
/// assert_eq!(Json::from(serde_json::json!({"n": 1})).get(), r#"{"n":1}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Borrows the raw value.
    #[must_use]
    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }

    /// Serialises `value`.
    ///
    /// # Errors
    /// If `value` cannot be written as JSON, for example a map with keys that are not strings.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self::from)
    }

    /// Takes JSON text after checking it.
    ///
    /// # Errors
    /// If `text` is not one JSON value.
    pub fn from_string(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self::from)
    }

    /// Reads the text as `T`.
    ///
    /// # Errors
    /// If the value does not fit `T`. The message of the error may quote the value.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    /// The value `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.get() == "null"
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        match scan::normalized(raw.get()).map(RawValue::from_string) {
            // The normal form of valid JSON is valid JSON, so the error arm keeps the original.
            Some(Ok(normal)) => Self(normal),
            Some(Err(_)) | None => Self(raw),
        }
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self::from(raw.to_owned())
    }
}

impl From<Value> for Json {
    /// A value has a JSON form, so this does not fail.
    fn from(value: Value) -> Self {
        Self::from_serialize(&value).unwrap_or_else(|_| Self::null())
    }
}

impl From<&Self> for Json {
    fn from(json: &Self) -> Self {
        json.clone()
    }
}

impl From<JsonObject> for Json {
    fn from(object: JsonObject) -> Self {
        object.0
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({})", self.get())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Json {}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

/// A [`Json`] that is known to be an object.
///
/// ```
/// use agui_core::JsonObject;
///
/// assert!(JsonObject::from_string(r#"{"vendor": 1}"#.to_owned()).is_ok());
/// assert!(JsonObject::from_string("[]".to_owned()).is_err());
/// assert!(JsonObject::try_from(serde_json::json!({"vendor": 1})).is_ok());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct JsonObject(Json);

impl JsonObject {
    /// The object without members.
    #[must_use]
    pub fn empty() -> Self {
        // An empty object is JSON; the other arm does not happen.
        Self(Json::from_string("{}".to_owned()).unwrap_or_else(|_| Json::null()))
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Borrows the value without the knowledge that it is an object.
    #[must_use]
    pub const fn as_json(&self) -> &Json {
        &self.0
    }

    /// Serialises `value`.
    ///
    /// # Errors
    /// If `value` cannot be written as JSON or is not written as an object.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Self::try_from(Json::from_serialize(value)?)
    }

    /// Takes JSON text after checking it.
    ///
    /// # Errors
    /// If `text` is not one JSON object.
    pub fn from_string(text: String) -> Result<Self, serde_json::Error> {
        Self::try_from(Json::from_string(text)?)
    }

    /// Reads the text as `T`.
    ///
    /// # Errors
    /// If the object does not fit `T`. The message of the error may quote the value.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.0.parse()
    }
}

impl From<Map<String, Value>> for JsonObject {
    /// A map of values has a JSON form, so this does not fail.
    fn from(members: Map<String, Value>) -> Self {
        Self(Value::Object(members).into())
    }
}

impl TryFrom<Value> for JsonObject {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        Self::try_from(Json::from(value))
    }
}

impl TryFrom<Json> for JsonObject {
    type Error = serde_json::Error;

    fn try_from(json: Json) -> Result<Self, Self::Error> {
        if json.is_object() {
            Ok(Self(json))
        } else {
            Err(<serde_json::Error as serde::de::Error>::custom("not a JSON object"))
        }
    }
}

impl fmt::Debug for JsonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonObject({})", self.get())
    }
}

impl Serialize for JsonObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Json::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
