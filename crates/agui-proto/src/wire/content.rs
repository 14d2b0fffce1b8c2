//! Content of messages and of tool results.

use agui_core::{Content, ContentPart};

use super::{Mirror, Opaque};
use crate::ProtoError;
use crate::json::{Element, Members, Object};
use crate::value::value_bytes;

/// One part.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Part {
    #[prost(oneof = "PartArm", tags = "1, 2, 3, 4, 5")]
    arm: Option<PartArm>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum PartArm {
    #[prost(message, tag = "1")]
    Text(TextPart),
    #[prost(message, tag = "2")]
    Image(MediaPart),
    #[prost(message, tag = "3")]
    Audio(MediaPart),
    #[prost(message, tag = "4")]
    Video(MediaPart),
    #[prost(message, tag = "5")]
    Document(MediaPart),
}

mirror! {
    TextPart {
        text: String = "text" text [string, tag = "1"],
        id: Option<String> = "id" maybe_text [string, optional, tag = "2"],
        metadata: Opaque = "metadata" value [bytes = "vec", repeated, tag = "3"],
    }
}

message! {
    /// A part whose content is somewhere; the same for every medium.
    MediaPart {
        source: Option<Source> = "source" maybe [message, optional, tag = "1"],
        metadata: Opaque = "metadata" value [bytes = "vec", repeated, tag = "2"],
        id: Option<String> = "id" maybe_text [string, optional, tag = "3"],
    }
}

/// Where the content of a part is.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Source {
    #[prost(oneof = "SourceArm", tags = "1, 2, 3")]
    arm: Option<SourceArm>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum SourceArm {
    #[prost(message, tag = "1")]
    Data(DataSource),
    #[prost(message, tag = "2")]
    Url(UrlSource),
    #[prost(message, tag = "3")]
    File(FileSource),
}

mirror! {
    DataSource {
        value: String = "value" text [string, tag = "1"],
        mime_type: String = "mimeType" text [string, tag = "2"],
    }
}

mirror! {
    UrlSource {
        value: String = "value" text [string, tag = "1"],
        mime_type: Option<String> = "mimeType" maybe_text [string, optional, tag = "2"],
    }
}

mirror! {
    FileSource {
        value: String = "value" text [string, tag = "1"],
        provider: Option<String> = "provider" maybe_text [string, optional, tag = "2"],
        mime_type: Option<String> = "mimeType" maybe_text [string, optional, tag = "3"],
    }
}

impl Source {
    const fn new(arm: SourceArm) -> Self {
        Self { arm: Some(arm) }
    }
}

impl Mirror<agui_core::Source> for Source {
    fn mirror(of: &agui_core::Source) -> Result<Self, ProtoError> {
        let arm = match of {
            agui_core::Source::Data(source) => Some(SourceArm::Data(Mirror::mirror(source)?)),
            agui_core::Source::Url(source) => Some(SourceArm::Url(Mirror::mirror(source)?)),
            agui_core::Source::File(source) => Some(SourceArm::File(Mirror::mirror(source)?)),
            _ => None,
        };
        Ok(Self { arm })
    }
}

/// An unknown source is a member of a union that readers leave out together with its part.
impl Element for Source {
    fn element(&self, out: &mut Vec<u8>) -> Result<(), ProtoError> {
        Object::write(out, |object| match &self.arm {
            Some(SourceArm::Data(source)) => {
                object.text("type", "data")?;
                source.members(object)
            }
            Some(SourceArm::Url(source)) => {
                object.text("type", "url")?;
                source.members(object)
            }
            Some(SourceArm::File(source)) => {
                object.text("type", "file")?;
                source.members(object)
            }
            None => object.text("type", UNKNOWN),
        })
    }
}

/// Stands for an alternative that a later version names.
const UNKNOWN: &str = "unknown";

macro_rules! mirror_media {
    ($($name:ident),*) => {
        $(
            impl Mirror<agui_core::$name> for MediaPart {
                fn mirror(of: &agui_core::$name) -> Result<Self, ProtoError> {
                    Ok(Self {
                        source: Some(Mirror::mirror(&of.source)?),
                        metadata: Mirror::mirror(&of.metadata)?,
                        id: Mirror::mirror(&of.id)?,
                    })
                }
            }
        )*
    };
}

mirror_media!(ImagePart, AudioPart, VideoPart, DocumentPart);

/// The parts that have a form on the wire.
fn part_of(of: &ContentPart) -> Result<Option<Part>, ProtoError> {
    let arm = match of {
        ContentPart::Text(part) => Some(PartArm::Text(Mirror::mirror(part)?)),
        ContentPart::Image(part) => Some(PartArm::Image(Mirror::mirror(part)?)),
        ContentPart::Audio(part) => Some(PartArm::Audio(Mirror::mirror(part)?)),
        ContentPart::Video(part) => Some(PartArm::Video(Mirror::mirror(part)?)),
        ContentPart::Document(part) => Some(PartArm::Document(Mirror::mirror(part)?)),
        ContentPart::Binary(part) => legacy(part)?.map(PartArm::Document),
        _ => None,
    };
    Ok(arm.map(|arm| Part { arm: Some(arm) }))
}

/// The media part of 0.x travels as a document that says so.
fn legacy(of: &agui_core::BinaryPart) -> Result<Option<MediaPart>, ProtoError> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let mime_type = of.mime_type.clone();
    let source = if let Some(value) = given(&of.data) {
        SourceArm::Data(DataSource { value, mime_type })
    } else if let Some(value) = given(&of.url).or_else(|| given(&of.id)) {
        SourceArm::Url(UrlSource { value, mime_type: Some(mime_type) })
    } else {
        return Ok(None);
    };
    let mut metadata = Vec::new();
    Object::write(&mut metadata, |object| {
        object.maybe_flag("legacyBinary", &Some(true))?;
        object.maybe_text("filename", &of.filename)?;
        object.maybe_text("id", &of.id)
    })?;
    let metadata = value_bytes(&String::from_utf8_lossy(&metadata))?;
    Ok(Some(MediaPart { source: Some(Source::new(source)), metadata, id: None }))
}

/// The field for a content that is a text.
pub(super) fn text_of(content: &Content) -> Option<String> {
    match content {
        Content::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// The field for a content that is parts.
pub(super) fn parts_of(content: &Content) -> Result<Vec<Part>, ProtoError> {
    match content {
        Content::Parts(parts) => parts.iter().filter_map(|part| part_of(part).transpose()).collect(),
        _ => Ok(Vec::new()),
    }
}

/// Writes a content that is a text or parts; no text and no parts is a list without parts.
pub(super) fn write_content(
    object: &mut Object<'_>,
    text: Option<&String>,
    parts: &[Part],
) -> Result<(), ProtoError> {
    match text {
        Some(_) if !parts.is_empty() => Err(ProtoError::ContentForm),
        Some(text) => object.text("content", text),
        None => object.array("content", parts),
    }
}

impl Element for Part {
    fn element(&self, out: &mut Vec<u8>) -> Result<(), ProtoError> {
        let (name, part): (_, &dyn Members) = match &self.arm {
            Some(PartArm::Text(part)) => ("text", part),
            Some(PartArm::Image(part)) => ("image", part),
            Some(PartArm::Audio(part)) => ("audio", part),
            Some(PartArm::Video(part)) => ("video", part),
            Some(PartArm::Document(part)) => ("document", part),
            None => return Object::write(out, |object| object.text("type", UNKNOWN)),
        };
        Object::write(out, |object| {
            object.text("type", name)?;
            part.members(object)
        })
    }
}
