//! From a run input to the parts of the message for the kernel.

use std::borrow::Cow;

use agui_core::{Content, ContentPart, Json, Message, RunAgentInput, Source, UserMessage};

use crate::error::MapError;

mod files;
mod pointers;

pub use files::{FileContent, FileData, any_message};
use pointers::Pointers;

/// Image types that the kernel takes.
///
/// Source: S2.11.
pub const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Longest file name of an image in bytes.
///
/// Source: iac-code 0.16, images of `iac-code agui`.
pub const MAX_FILENAME_BYTES: usize = 255;

/// The newest user message of a run input.
///
/// Example: see [`message`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UserInput<'a> {
    /// Id of the message; the message for the kernel has it too.
    pub message_id: &'a str,
    /// Its parts, at least one.
    pub parts: Vec<UserPart<'a>>,
}

/// One part of a user message.
///
/// Example: see [`message`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum UserPart<'a> {
    /// Text.
    Text(&'a str),
    /// An image, as the kernel takes it.
    Image(ImageData<'a>),
    /// A file, as any agent takes it ([`any_message`]).
    File(FileData<'a>),
}

/// An inline image, not yet decoded.
///
/// Example: see [`message`].
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ImageData<'a> {
    /// The bytes in base64; neither its alphabet nor its length was checked.
    pub base64: &'a str,
    /// One of [`IMAGE_TYPES`]; whether the bytes are of it was not checked.
    pub mime_type: &'static str,
    /// The client's file name if it is a safe one, else `agui-image-<n>`.
    pub filename: Cow<'a, str>,
    /// JSON pointer to the data in the run input, for error messages.
    pub pointer: String,
}

impl std::fmt::Debug for ImageData<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageData")
            .field("base64_bytes", &self.base64.len())
            .field("mime_type", &self.mime_type)
            .field("pointer", &self.pointer)
            .finish_non_exhaustive()
    }
}

/// Takes the newest user message of a run input apart; earlier messages are history that the kernel has.
///
/// Parts of types that nobody knows were left out when the input was decoded and stay out.
///
/// ```
/// use agui_core::RunAgentInput;
/// use agui_mapper::MapError;
/// use agui_mapper::request::{UserPart, message};
///
/// let body = br#"{"threadId":"t1","runId":"r1","messages":[{"role":"user","id":"u1","content":[
///     {"type":"text","text":"Build this."},
///     {"type":"image","source":{"type":"data","value":"iVBORw0KGgo=","mimeType":"image/png"}}]}]}"#;
/// let input = RunAgentInput::decode(body)?;
/// let said = message(&input)?;
/// assert_eq!((said.message_id, &said.parts[0]), ("u1", &UserPart::Text("Build this.")));
/// let UserPart::Image(image) = &said.parts[1] else { panic!("an image") };
/// assert_eq!((image.mime_type, &*image.filename), ("image/png", "agui-image-1"));
///
/// let silent = RunAgentInput::new("t1", "r2", Vec::new());
/// assert_eq!(message(&silent), Err(MapError::NoUserMessage));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MapError`] with a JSON pointer if there is no user message, or if it holds what the kernel does not
/// take.
///
/// Source: S2.5, S2.10.
pub fn message(input: &RunAgentInput) -> Result<UserInput<'_>, MapError> {
    newest(input, parts)
}

/// Takes one user message apart.
type Parts = for<'a> fn(&'a UserMessage, &Pointers) -> Result<Vec<UserPart<'a>>, MapError>;

fn newest(input: &RunAgentInput, parts: Parts) -> Result<UserInput<'_>, MapError> {
    let newest = input.messages.iter().enumerate().rev().find_map(|(at, message)| match message {
        Message::User(message) => Some((at, message)),
        _ => None,
    });
    let (at, message) = newest.ok_or(MapError::NoUserMessage)?;
    let pointers = Pointers::new(&input.skipped, at);
    let parts = parts(message, &pointers)?;
    if parts.is_empty() {
        return Err(MapError::EmptyMessage { pointer: pointers.content() });
    }
    Ok(UserInput { message_id: message.id.as_str(), parts })
}

fn parts<'a>(message: &'a UserMessage, pointers: &Pointers) -> Result<Vec<UserPart<'a>>, MapError> {
    let list = match &message.content {
        Content::Text(text) => return Ok(given(text).into_iter().collect()),
        Content::Parts(list) => list,
        _ => return Err(MapError::UnsupportedPart { pointer: pointers.content() }),
    };
    let mut parts = Vec::with_capacity(list.len());
    let mut images = 0;
    for (at, part) in list.iter().enumerate() {
        let pointer = pointers.part(at);
        match part {
            ContentPart::Text(part) => parts.extend(given(&part.text)),
            ContentPart::Image(part) => {
                images += 1;
                let filename = filename(part.metadata.as_ref(), images);
                parts.push(UserPart::Image(image(&part.source, filename, &pointer)?));
            }
            // The `binary` part of 0.x too, whatever is in it (S2.10).
            _ => return Err(MapError::UnsupportedPart { pointer }),
        }
    }
    Ok(parts)
}

/// A text part, unless there is nothing in it: the kernel refuses an empty one.
fn given(text: &str) -> Option<UserPart<'_>> {
    (!text.trim().is_empty()).then_some(UserPart::Text(text))
}

fn image<'a>(source: &'a Source, filename: Cow<'a, str>, pointer: &str) -> Result<ImageData<'a>, MapError> {
    match source {
        Source::Data(data) => Ok(ImageData {
            base64: &data.value,
            mime_type: media_type(&data.mime_type, || format!("{pointer}/source/mimeType"))?,
            filename,
            pointer: format!("{pointer}/source/value"),
        }),
        _ => Err(MapError::RemoteMedia { pointer: format!("{pointer}/source") }),
    }
}

fn media_type(given: &str, pointer: impl Fn() -> String) -> Result<&'static str, MapError> {
    let known = IMAGE_TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(given));
    known.ok_or_else(|| MapError::MediaType { pointer: pointer() })
}

fn filename(metadata: Option<&Json>, number: usize) -> Cow<'static, str> {
    filename_of(metadata).unwrap_or_else(|| default_name(number))
}

/// The file name that the client gave, if it is a safe one.
fn filename_of(metadata: Option<&Json>) -> Option<Cow<'static, str>> {
    #[derive(serde::Deserialize)]
    struct Named {
        filename: Option<String>,
    }
    let name = metadata.and_then(|metadata| metadata.parse::<Named>().ok()).and_then(|named| named.filename);
    name.filter(|name| is_safe(name)).map(Cow::Owned)
}

fn default_name(number: usize) -> Cow<'static, str> {
    Cow::Owned(format!("agui-image-{number}"))
}

/// Whether a file name names a file and nothing else.
fn is_safe(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_FILENAME_BYTES
        && !name.starts_with('.')
        && !name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':'))
}

#[cfg(test)]
mod tests;
