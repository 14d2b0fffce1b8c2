//! Parts for agents of any make: text, and files in place or at an address.

use std::borrow::Cow;

use agui_core::{BinaryPart, Content, ContentPart, Json, RunAgentInput, Source, UserMessage};

use super::pointers::Pointers;
use super::{UserInput, UserPart, filename_of, given, newest};
use crate::error::MapError;

/// A file of a user message, not yet decoded.
///
/// Example: see [`any_message`].
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct FileData<'a> {
    /// Where its bytes are.
    pub content: FileContent<'a>,
    /// Media type as the client gave it; `None` if it gave none.
    pub media_type: Option<&'a str>,
    /// The client's file name, if it is a safe one.
    pub filename: Option<Cow<'a, str>>,
    /// JSON pointer to the data or the address in the run input, for error messages.
    pub pointer: String,
}

/// Where the bytes of a file are.
///
/// Example: see [`any_message`].
#[derive(Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum FileContent<'a> {
    /// In place, in base64; neither its alphabet nor its length was checked.
    Base64(&'a str),
    /// At an address of the web, which the agent fetches.
    Url(&'a str),
}

impl std::fmt::Debug for FileData<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileData")
            .field("media_type", &self.media_type)
            .field("pointer", &self.pointer)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for FileContent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Base64(base64) => f.debug_tuple("Base64").field(&base64.len()).finish(),
            Self::Url(_) => f.write_str("Url(..)"),
        }
    }
}

/// Takes the newest user message of a run input apart for an agent of any make: as
/// [`message`](super::message), but with files of every sort.
///
/// Addresses are passed on if they are of the web: any other one could mean a file of the agent's own machine.
///
/// ```
/// use agui_core::RunAgentInput;
/// use agui_mapper::request::{FileContent, UserPart, any_message};
///
/// let body = br#"{"threadId":"t1","runId":"r1","messages":[{"role":"user","id":"u1","content":[
///     {"type":"document","source":{"type":"url","value":"https://example.org/plan.pdf"}}]}]}"#;
/// let input = RunAgentInput::decode(body)?;
/// let said = any_message(&input)?;
/// let UserPart::File(file) = &said.parts[0] else { panic!("a file") };
/// assert!(file.content == FileContent::Url("https://example.org/plan.pdf"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MapError`] with a JSON pointer if there is no user message, or if a part has neither bytes nor such an
/// address.
pub fn any_message(input: &RunAgentInput) -> Result<UserInput<'_>, MapError> {
    newest(input, parts)
}

fn parts<'a>(message: &'a UserMessage, pointers: &Pointers) -> Result<Vec<UserPart<'a>>, MapError> {
    let list = match &message.content {
        Content::Text(text) => return Ok(given(text).into_iter().collect()),
        Content::Parts(list) => list,
        _ => return Err(MapError::UnsupportedPart { pointer: pointers.content() }),
    };
    let mut parts = Vec::with_capacity(list.len());
    for (at, part) in list.iter().enumerate() {
        let pointer = pointers.part(at);
        let (source, metadata) = match part {
            ContentPart::Text(part) => {
                parts.extend(given(&part.text));
                continue;
            }
            ContentPart::Binary(part) => {
                parts.push(UserPart::File(binary(part, pointer)?));
                continue;
            }
            ContentPart::Image(part) => (&part.source, &part.metadata),
            ContentPart::Audio(part) => (&part.source, &part.metadata),
            ContentPart::Video(part) => (&part.source, &part.metadata),
            ContentPart::Document(part) => (&part.source, &part.metadata),
            _ => return Err(MapError::UnsupportedPart { pointer }),
        };
        parts.push(UserPart::File(file(source, metadata.as_ref(), &pointer)?));
    }
    Ok(parts)
}

fn file<'a>(source: &'a Source, metadata: Option<&Json>, pointer: &str) -> Result<FileData<'a>, MapError> {
    let value = format!("{pointer}/source/value");
    let (content, media_type) = match source {
        Source::Data(data) => (FileContent::Base64(&data.value), Some(&data.mime_type)),
        Source::Url(url) => (address(&url.value, &value)?, url.mime_type.as_ref()),
        // A handle that only the provider understands.
        _ => return Err(MapError::UnsupportedPart { pointer: format!("{pointer}/source") }),
    };
    let media_type = media_type.map(String::as_str).filter(|media_type| !media_type.is_empty());
    Ok(FileData { content, media_type, filename: filename_of(metadata), pointer: value })
}

/// The media part of 0.x.
fn binary(part: &BinaryPart, pointer: String) -> Result<FileData<'_>, MapError> {
    let (content, pointer) = match (&part.data, &part.url) {
        (Some(data), _) => (FileContent::Base64(data), format!("{pointer}/data")),
        (None, Some(url)) => {
            let pointer = format!("{pointer}/url");
            (address(url, &pointer)?, pointer)
        }
        (None, None) => return Err(MapError::UnsupportedPart { pointer }),
    };
    let filename = part.filename.as_deref().filter(|name| super::is_safe(name)).map(Cow::Borrowed);
    let media_type = Some(part.mime_type.as_str()).filter(|media_type| !media_type.is_empty());
    Ok(FileData { content, media_type, filename, pointer })
}

fn address<'a>(url: &'a str, pointer: &str) -> Result<FileContent<'a>, MapError> {
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    if is_web {
        Ok(FileContent::Url(url))
    } else {
        Err(MapError::RemoteMedia { pointer: pointer.to_owned() })
    }
}
