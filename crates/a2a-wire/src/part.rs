use std::borrow::Cow;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::tolerant::{Text, loose_text};

/// A piece of a message or artifact.
///
/// Source: A2A 1.0 `Part`; 0.3 `TextPart`, `FilePart`, `DataPart`.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Part<'a> {
    /// What the part holds.
    pub content: PartContent<'a>,
    /// Media type.
    pub media_type: Option<Cow<'a, str>>,
    /// File name.
    pub filename: Option<Cow<'a, str>>,
    /// Free-form object, as received.
    pub metadata: Option<&'a RawValue>,
}

/// What a [`Part`] holds.
///
/// Source: A2A 1.0 `Part`; 0.3 `TextPart`, `FilePart`, `DataPart`.
#[derive(Clone)]
#[non_exhaustive]
pub enum PartContent<'a> {
    /// Plain text.
    Text(Cow<'a, str>),
    /// A file's bytes in base64.
    Raw(Cow<'a, str>),
    /// Where a file is.
    Url(Cow<'a, str>),
    /// Any JSON value, as received.
    Data(&'a RawValue),
    /// None of the above; 0.3 peers name a `kind`.
    Unknown {
        /// The part's `kind`, if it has one.
        kind: Option<Cow<'a, str>>,
    },
}

impl<'a> Part<'a> {
    /// The text, if this is a text part.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            PartContent::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The JSON value, if this is a data part.
    #[must_use]
    pub const fn data(&self) -> Option<&'a RawValue> {
        match self.content {
            PartContent::Data(data) => Some(data),
            _ => None,
        }
    }
}

impl Default for PartContent<'_> {
    fn default() -> Self {
        Self::Unknown { kind: None }
    }
}

/// The members of a part in both versions.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    raw: Option<Text<'a>>,
    #[serde(borrow)]
    url: Option<Text<'a>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    file: Option<File<'a>>,
    #[serde(borrow, deserialize_with = "loose_text")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "media_type", alias = "mimeType", deserialize_with = "loose_text")]
    media_type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "loose_text")]
    filename: Option<Cow<'a, str>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

/// The file object of 0.3.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File<'a> {
    #[serde(borrow)]
    bytes: Option<Text<'a>>,
    #[serde(borrow)]
    uri: Option<Text<'a>>,
    #[serde(borrow, alias = "mime_type", deserialize_with = "loose_text")]
    mime_type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "loose_text")]
    name: Option<Cow<'a, str>>,
}

impl<'a> From<Members<'a>> for Part<'a> {
    fn from(members: Members<'a>) -> Self {
        let file = members.file.unwrap_or_default();
        let content = if let Some(text) = members.text {
            PartContent::Text(text.0)
        } else if let Some(data) = members.data {
            PartContent::Data(data)
        } else if let Some(bytes) = members.raw.or(file.bytes) {
            PartContent::Raw(bytes.0)
        } else if let Some(url) = members.url.or(file.uri) {
            PartContent::Url(url.0)
        } else {
            PartContent::Unknown { kind: members.kind }
        };
        Self {
            content,
            media_type: members.media_type.or(file.mime_type),
            filename: members.filename.or(file.name),
            metadata: members.metadata,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Part<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartVisitor).map(Self::from)
    }
}

/// Reads a part; what is no object is a part that nobody knows, and costs the others nothing.
struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a part")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Members<'de>, A::Error> {
        Members::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Members<'de>, A::Error> {
        IgnoredAny.visit_seq(seq)?;
        Ok(Members::default())
    }

    fn visit_unit<E: Error>(self) -> Result<Members<'de>, E> {
        Ok(Members::default())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Members<'de>, E> {
        Ok(Members::default())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Members<'de>, E> {
        Ok(Members::default())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Members<'de>, E> {
        Ok(Members::default())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Members<'de>, E> {
        Ok(Members::default())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Members<'de>, E> {
        Ok(Members { text: Some(Text(text.to_owned().into())), ..Members::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(content: &PartContent<'_>) -> String {
        match content {
            PartContent::Text(text) => format!("text {text}"),
            PartContent::Raw(base64) => format!("raw {base64}"),
            PartContent::Url(url) => format!("url {url}"),
            PartContent::Data(data) => format!("data {data}"),
            PartContent::Unknown { kind } => format!("unknown {kind:?}"),
        }
    }

    #[test]
    fn parts_of_both_versions_are_read() {
        let cases = [
            (r#"{"text":"a"}"#, "text a - -"),
            (r#"{"text":""}"#, "text  - -"),
            (r#"{"kind":"text","text":"a"}"#, "text a - -"),
            (r#"{"raw":"AA==","mediaType":"image/png","filename":"a.png"}"#, "raw AA== image/png a.png"),
            (
                r#"{"kind":"file","file":{"bytes":"AA==","mimeType":"image/png","name":"a.png"}}"#,
                "raw AA== image/png a.png",
            ),
            (r#"{"url":"file:///t.yaml","media_type":"text/yaml"}"#, "url file:///t.yaml text/yaml -"),
            (r#"{"kind":"file","file":{"uri":"file:///t.yaml"}}"#, "url file:///t.yaml - -"),
            (r#"{"data":{"n":1.0},"mediaType":"application/json"}"#, "data {\"n\":1.0} application/json -"),
            (r#"{"kind":"data","data":{}}"#, "data {} - -"),
            (r#"{"data":[1E400]}"#, "data [1E400] - -"),
            (r#"{"kind":"video","frames":[{}]}"#, "unknown Some(\"video\") - -"),
            (r#"{"text":null}"#, "unknown None - -"),
            (r#"{"text":"a","mediaType":7,"filename":["b"],"kind":{}}"#, "text a - -"),
            (r#""a""#, "text a - -"),
            ("null", "unknown None - -"),
            ("[[1],{}]", "unknown None - -"),
            ("-1.5", "unknown None - -"),
        ];
        for (json, expected) in cases {
            let part: Part<'_> = serde_json::from_str(json).unwrap();
            let name = |text: &Option<Cow<'_, str>>| text.as_deref().unwrap_or("-").to_owned();
            let seen =
                format!("{} {} {}", describe(&part.content), name(&part.media_type), name(&part.filename));
            assert_eq!(seen, expected, "{json}");
        }
    }
}
