//! Content of messages: text or parts.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Json;
use crate::decode::{
    self, Decode, DecodeError, DecodeErrorKind, Expected, Kind, Path, Reader, discriminator, kind_of,
};

/// Content of a user message, a tool message or a tool result.
///
/// ```
/// use agui_core::{Content, ContentPart, ImagePart, Source, TextPart, UrlSource};
///
/// let image = Source::from(UrlSource::new("https://example.org/plan.png"));
/// let content = Content::from([
///     ContentPart::from(TextPart::new("Is this plan right?")),
///     ContentPart::from(ImagePart::new(image)),
/// ]);
/// assert_eq!(content.to_text(), "Is this plan right?");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Parts, in order.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// The text of the content; text parts are joined by line breaks, other parts left out.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => {
                let texts = parts.iter().filter_map(|part| match part {
                    ContentPart::Text(text) => Some(text.text.as_str()),
                    ContentPart::Image(_)
                    | ContentPart::Audio(_)
                    | ContentPart::Video(_)
                    | ContentPart::Document(_)
                    | ContentPart::Binary(_) => None,
                });
                Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
            }
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Content {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<Cow<'_, str>> for Content {
    fn from(text: Cow<'_, str>) -> Self {
        Self::Text(text.into_owned())
    }
}

impl From<ContentPart> for Content {
    fn from(part: ContentPart) -> Self {
        Self::Parts(vec![part])
    }
}

impl<const N: usize> From<[ContentPart; N]> for Content {
    fn from(parts: [ContentPart; N]) -> Self {
        Self::Parts(parts.into())
    }
}

impl From<Vec<ContentPart>> for Content {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self::Parts(parts)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

named_schema!(Content, |generator| {
    let text = <String as crate::schema::WireSchema>::wire_schema(generator);
    let parts = crate::schema::list_of::<ContentPart>(generator);
    crate::schema::one_of("Text or parts.", vec![text, parts])
});

impl Decode for Content {
    fn decode(value: &RawValue, at: &Path<'_>, reader: &mut Reader) -> Result<Self, DecodeError> {
        match kind_of(value) {
            Kind::String => decode::string(value, at).map(Self::Text),
            Kind::Array => Vec::decode(value, at, reader).map(Self::Parts),
            _ => Err(at.error(DecodeErrorKind::WrongType(Expected::StringOrArray))),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode::nested(deserializer)
    }
}

record! {
    /// A piece of text.
    pub struct TextPart tag("type": "text") {
        required {
            /// The text.
            text: String = "text",
        }
        optional {
            /// Id of the part.
            id: String = "id", with_id, plain;
            /// Anything but `null`.
            metadata: Json = "metadata", with_metadata, plain;
        }
    }
}

macro_rules! media_part {
    ($(#[doc = $doc:literal])* $name:ident $wire:literal) => {
        record! {
            $(#[doc = $doc])*
            pub struct $name tag("type": $wire) {
                required {
                    /// Where the content is.
                    source: Source = "source",
                }
                optional {
                    /// Id of the part.
                    id: String = "id", with_id, plain;
                    /// Anything but `null`.
                    metadata: Json = "metadata", with_metadata, compat;
                }
            }
        }
    };
}

media_part! {
    /// An image.
    ImagePart "image"
}
media_part! {
    /// A sound.
    AudioPart "audio"
}
media_part! {
    /// A video.
    VideoPart "video"
}
media_part! {
    /// A document.
    DocumentPart "document"
}

record! {
    /// The media part of 0.x, which 1.0 refuses; one of `data`, `url` and `id` is there.
    pub struct BinaryPart tag("type": "binary") {
        required {
            /// Media type of the content.
            mime_type: String = "mimeType",
        }
        optional {
            /// Base64 text.
            data: String = "data", with_data, plain;
            /// Address of the content.
            url: String = "url", with_url, plain;
            /// Handle of the content at the sender.
            id: String = "id", with_id, plain;
            /// Name of the file.
            filename: String = "filename", with_filename, plain;
        }
    }
}

impl BinaryPart {
    /// The part of 1.0 that says the same; `None` if the part holds a handle only.
    ///
    /// The kind follows the media type, `data` goes before `url`, and the file name moves to
    /// `metadata.filename`. Source: behaviour of the released 1.0 client.
    #[must_use]
    pub fn to_media(&self) -> Option<ContentPart> {
        let source = match (&self.data, &self.url) {
            (Some(data), _) => Source::Data(DataSource::new(data.as_str(), self.mime_type.as_str())),
            (None, Some(url)) => {
                Source::Url(UrlSource::new(url.as_str()).with_mime_type(self.mime_type.as_str()))
            }
            (None, None) => return None,
        };
        let metadata = self.filename.as_ref().and_then(|name| {
            let members = std::collections::BTreeMap::from([("filename", name)]);
            Json::from_serialize(&members).ok()
        });
        let media = self.mime_type.split('/').next().unwrap_or_default();
        Some(match media {
            "image" => ContentPart::Image(ImagePart { source, id: None, metadata }),
            "audio" => ContentPart::Audio(AudioPart { source, id: None, metadata }),
            "video" => ContentPart::Video(VideoPart { source, id: None, metadata }),
            _ => ContentPart::Document(DocumentPart { source, id: None, metadata }),
        })
    }
}

record! {
    /// Content in place.
    pub struct DataSource tag("type": "data") {
        required {
            /// Base64 text.
            value: String = "value",
            /// Media type of the content.
            mime_type: String = "mimeType",
        }
        optional {}
    }
}

record! {
    /// Content at an address.
    pub struct UrlSource tag("type": "url") {
        required {
            /// The address.
            value: String = "value",
        }
        optional {
            /// Media type of the content.
            mime_type: String = "mimeType", with_mime_type, plain;
        }
    }
}

record! {
    /// Content that a provider holds; opaque, never fetched. New in 1.0.
    pub struct FileSource tag("type": "file") {
        required {
            /// The handle.
            value: String = "value",
        }
        optional {
            /// The provider.
            provider: String = "provider", with_provider, plain;
            /// Media type of the content.
            mime_type: String = "mimeType", with_mime_type, plain;
        }
    }
}

/// Defines a union of records that a member names.
macro_rules! union {
    (
        $(#[doc = $doc:literal])*
        $name:ident by $key:literal {
            $($(#[$vmeta:meta])* $variant:ident($ty:ident) = $wire:literal $(if $condition:ident)?,)+
        }
    ) => {
        $(#[doc = $doc])*
        #[doc = ""]
        #[doc = concat!(" Source: AG-UI, objects that `\"", $key, "\"` tells apart.")]
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$vmeta])* $variant($ty),)+
        }

        $(
            impl From<$ty> for $name {
                fn from(value: $ty) -> Self {
                    Self::$variant(value)
                }
            }
        )+

        named_schema!($name, |generator| {
            $crate::schema::one_of(concat!($($doc),*), vec![$(generator.subschema_for::<$ty>()),+])
        });

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(value) => value.serialize(serializer),)+
                }
            }
        }

        impl Decode for $name {
            fn decode(value: &RawValue, at: &Path<'_>, reader: &mut Reader) -> Result<Self, DecodeError> {
                match discriminator(value, &[$key], at)?.as_str() {
                    $($wire $(if reader.$condition())? => $ty::decode(value, at, reader).map(Self::$variant),)+
                    _ => Err(at.error(DecodeErrorKind::UnknownMember)),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                decode::nested(deserializer)
            }
        }
    };
}

pub(crate) use union;

union! {
    /// Where the content of a media part is.
    Source by "type" {
        /// In place.
        Data(DataSource) = "data",
        /// At an address.
        Url(UrlSource) = "url",
        /// At a provider.
        File(FileSource) = "file",
    }
}

union! {
    /// One part of the content of a message.
    ContentPart by "type" {
        /// Text.
        Text(TextPart) = "text",
        /// An image.
        Image(ImagePart) = "image",
        /// A sound.
        Audio(AudioPart) = "audio",
        /// A video.
        Video(VideoPart) = "video",
        /// A document.
        Document(DocumentPart) = "document",
        /// The media part of 0.x.
        Binary(BinaryPart) = "binary" if takes_legacy,
    }
}
