//! How requests are spelled in each version.

use serde::Serialize;

use super::{Method, OutgoingContent, OutgoingMessage, OutgoingPart, ProtocolVersion, SendMessage};
use super::{SerializeMap, Serializer};

pub(super) struct Request<'a, P> {
    pub(super) version: ProtocolVersion,
    pub(super) method: Method,
    pub(super) id: &'a str,
    pub(super) params: P,
}

impl<P: Serialize> Serialize for Request<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("jsonrpc", "2.0")?;
        map.serialize_entry("id", self.id)?;
        map.serialize_entry("method", self.method.name(self.version))?;
        map.serialize_entry("params", &self.params)?;
        map.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskParams<'a> {
    pub(super) id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) history_length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tenant: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListParams<'a> {
    pub(super) context_id: &'a str,
    pub(super) page_size: u32,
    pub(super) history_length: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tenant: Option<&'a str>,
}

pub(super) struct SendParams<'a> {
    pub(super) request: &'a SendMessage,
    pub(super) version: ProtocolVersion,
    pub(super) tenant: Option<&'a str>,
}

impl Serialize for SendParams<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let configuration = Configuration::of(self.request, self.version);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("message", &Message { message: &self.request.message, version: self.version })?;
        if !configuration.is_empty() {
            map.serialize_entry("configuration", &configuration)?;
        }
        entry_if_some(&mut map, "tenant", self.tenant.as_ref())?;
        map.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Configuration<'a> {
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    accepted_output_modes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_immediately: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocking: Option<bool>,
}

impl<'a> Configuration<'a> {
    fn of(request: &'a SendMessage, version: ProtocolVersion) -> Self {
        let (return_immediately, blocking) = match version {
            ProtocolVersion::V1_0 => (request.return_immediately, None),
            ProtocolVersion::V0_3 => (None, request.return_immediately.map(|at_once| !at_once)),
        };
        Self {
            accepted_output_modes: &request.accepted_output_modes,
            history_length: request.history_length,
            return_immediately,
            blocking,
        }
    }

    const fn is_empty(&self) -> bool {
        self.accepted_output_modes.is_empty()
            && self.history_length.is_none()
            && self.return_immediately.is_none()
            && self.blocking.is_none()
    }
}

struct Message<'a> {
    message: &'a OutgoingMessage,
    version: ProtocolVersion,
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { message, version } = self;
        let parts: Vec<_> = message.parts.iter().map(|part| Part { part, version: *version }).collect();
        let mut map = serializer.serialize_map(None)?;
        match version {
            ProtocolVersion::V1_0 => map.serialize_entry("role", "ROLE_USER")?,
            ProtocolVersion::V0_3 => {
                map.serialize_entry("kind", "message")?;
                map.serialize_entry("role", "user")?;
            }
        }
        map.serialize_entry("messageId", &message.message_id)?;
        map.serialize_entry("parts", &parts)?;
        entry_if_some(&mut map, "contextId", message.context_id.as_ref())?;
        entry_if_some(&mut map, "taskId", message.task_id.as_ref())?;
        entry_if_some(&mut map, "metadata", message.metadata.as_ref())?;
        map.end()
    }
}

struct Part<'a> {
    part: &'a OutgoingPart,
    version: ProtocolVersion,
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.version {
            ProtocolVersion::V1_0 => part_1_0(self.part, serializer),
            ProtocolVersion::V0_3 => part_0_3(self.part, serializer),
        }
    }
}

fn part_1_0<S: Serializer>(part: &OutgoingPart, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    match &part.content {
        OutgoingContent::Text(text) => map.serialize_entry("text", text)?,
        OutgoingContent::Data(data) => map.serialize_entry("data", data)?,
        OutgoingContent::Raw(base64) => map.serialize_entry("raw", base64)?,
        OutgoingContent::Url(url) => map.serialize_entry("url", url)?,
    }
    entry_if_some(&mut map, "mediaType", part.media_type.as_ref())?;
    entry_if_some(&mut map, "filename", part.filename.as_ref())?;
    map.end()
}

/// 0.3 has media types and names for files only.
fn part_0_3<S: Serializer>(part: &OutgoingPart, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    let file = |bytes, uri| File {
        bytes,
        uri,
        mime_type: part.media_type.as_deref(),
        name: part.filename.as_deref(),
    };
    match &part.content {
        OutgoingContent::Text(text) => {
            map.serialize_entry("kind", "text")?;
            map.serialize_entry("text", text)?;
        }
        OutgoingContent::Data(data) => {
            map.serialize_entry("kind", "data")?;
            map.serialize_entry("data", data)?;
        }
        OutgoingContent::Raw(base64) => {
            map.serialize_entry("kind", "file")?;
            map.serialize_entry("file", &file(Some(base64.as_str()), None))?;
        }
        OutgoingContent::Url(url) => {
            map.serialize_entry("kind", "file")?;
            map.serialize_entry("file", &file(None, Some(url.as_str())))?;
        }
    }
    map.end()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

fn entry_if_some<M: SerializeMap, V: Serialize>(
    map: &mut M,
    name: &'static str,
    value: Option<&V>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, value))
}
