//! The newest user message: from AG-UI parts to A2A parts, images made to fit.

use std::borrow::Cow;
use std::sync::Arc;

use a2a_wire::OutgoingPart;
use agui_core::RunAgentInput;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_mapper::MapError;
use agui_mapper::request::{FileContent, FileData, UserPart, any_message, message};
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::config::Profile;
use crate::images::{self, ImageError, MAX_IMAGES_BYTES};
use crate::request::{UserMessage, internal};

/// The newest user message, read and not yet decoded.
pub(crate) struct Draft {
    id: String,
    parts: Vec<DraftPart>,
}

enum DraftPart {
    Text(String),
    Image { base64: String, media_type: &'static str, filename: String, pointer: String },
    File { base64: String, media_type: Option<String>, filename: Option<String>, pointer: String },
    Url { url: String, media_type: Option<String>, filename: Option<String> },
}

impl Draft {
    /// Reads the newest user message.
    pub(crate) fn of(profile: Profile, input: &RunAgentInput) -> Result<Self, ErrorNotice> {
        let message = match profile {
            Profile::IacCode => message(input),
            Profile::Generic => any_message(input),
        };
        let message = message.map_err(|error| map_notice(profile, &error))?;
        let parts = message.parts.into_iter().filter_map(|part| match part {
            UserPart::Text(text) => Some(DraftPart::Text(text.to_owned())),
            UserPart::Image(image) => Some(DraftPart::Image {
                base64: image.base64.to_owned(),
                media_type: image.mime_type,
                filename: image.filename.into_owned(),
                pointer: image.pointer,
            }),
            UserPart::File(file) => draft_of_file(file),
            _ => None,
        });
        Ok(Self { id: message.message_id.to_owned(), parts: parts.collect() })
    }

    /// Decodes and shrinks the images, a few at a time over all requests, and builds the parts.
    pub(crate) async fn prepare(self, images: &Arc<Semaphore>) -> Result<UserMessage, ErrorNotice> {
        let Self { id, parts } = self;
        if parts.iter().all(|part| matches!(part, DraftPart::Text(_))) {
            return Ok(UserMessage { id, parts: outgoing(parts)? });
        }
        let permit = Arc::clone(images).acquire_owned().await.map_err(|_| internal())?;
        let work = tokio::task::spawn_blocking(move || {
            let parts = outgoing(parts);
            drop(permit);
            parts
        });
        Ok(UserMessage { id, parts: work.await.map_err(|_| internal())?? })
    }
}

fn draft_of_file(file: FileData<'_>) -> Option<DraftPart> {
    let (media_type, filename) = (file.media_type.map(str::to_owned), file.filename.map(Cow::into_owned));
    match file.content {
        FileContent::Base64(base64) => {
            let (base64, pointer) = (base64.to_owned(), file.pointer);
            Some(DraftPart::File { base64, media_type, filename, pointer })
        }
        FileContent::Url(url) => Some(DraftPart::Url { url: url.to_owned(), media_type, filename }),
        _ => None,
    }
}

fn outgoing(parts: Vec<DraftPart>) -> Result<Vec<OutgoingPart>, ErrorNotice> {
    let mut total = 0;
    let mut out = Vec::with_capacity(parts.len());
    for part in parts {
        out.push(match part {
            DraftPart::Text(text) => OutgoingPart::text(text),
            DraftPart::Image { base64, media_type, filename, pointer } => {
                let image =
                    images::prepare(media_type, &base64).map_err(|error| image_notice(error, pointer))?;
                total += image.sent_bytes;
                if total > MAX_IMAGES_BYTES {
                    return Err(
                        ErrorNotice::new(ErrorCode::InvalidInput).with_key(MessageKey::ImagesTooLarge)
                    );
                }
                let data = Inline { filename: &filename, bytes: &image.base64 };
                let data = serde_json::value::to_raw_value(&data).map_err(|_| internal())?;
                OutgoingPart::data(data).with_media_type(image.media_type)
            }
            DraftPart::File { base64, media_type, filename, pointer } => {
                let declared = media_type.as_deref().unwrap_or_default();
                let is_image = declared.starts_with("image/");
                total += images::check_file(declared, &base64).map_err(|error| match error {
                    error if is_image => image_notice(error, pointer),
                    _ => not_allowed(pointer),
                })?;
                if total > MAX_IMAGES_BYTES {
                    return Err(
                        ErrorNotice::new(ErrorCode::InvalidInput).with_key(MessageKey::ImagesTooLarge)
                    );
                }
                named(OutgoingPart::raw(base64), media_type, filename)
            }
            DraftPart::Url { url, media_type, filename } => {
                named(OutgoingPart::url(url), media_type, filename)
            }
        });
    }
    Ok(out)
}

fn named(mut part: OutgoingPart, media_type: Option<String>, filename: Option<String>) -> OutgoingPart {
    if let Some(media_type) = media_type {
        part = part.with_media_type(media_type);
    }
    match filename {
        Some(filename) => part.with_filename(filename),
        None => part,
    }
}

/// An image as the kernel expects it.
#[derive(Serialize)]
struct Inline<'a> {
    filename: &'a str,
    bytes: &'a str,
}

fn image_notice(error: ImageError, pointer: String) -> ErrorNotice {
    let key = match error {
        ImageError::UnsupportedType => MessageKey::ImageType,
        ImageError::NotBase64 => MessageKey::ImageBase64,
        ImageError::TooLarge => MessageKey::ImageTooLarge,
        ImageError::Invalid => MessageKey::ImageInvalid,
    };
    ErrorNotice::field(key, pointer, "invalid")
}

/// For what has no text of its own: files of every sort go to agents of any make only.
fn not_allowed(pointer: String) -> ErrorNotice {
    ErrorNotice::field(MessageKey::FieldProblem, pointer, "out-of-range")
}

fn map_notice(profile: Profile, error: &MapError) -> ErrorNotice {
    if profile == Profile::Generic
        && let MapError::UnsupportedPart { pointer } | MapError::RemoteMedia { pointer } = error
    {
        return not_allowed(pointer.clone());
    }
    let key = match error {
        MapError::NoUserMessage => MessageKey::MessageMissing,
        MapError::EmptyMessage { .. } => MessageKey::MessageContent,
        MapError::UnsupportedPart { .. } => MessageKey::MessagePart,
        MapError::RemoteMedia { .. } => MessageKey::MediaRemote,
        MapError::MediaType { .. } => MessageKey::ImageType,
        _ => MessageKey::InvalidInput,
    };
    ErrorNotice::field(key, error.pointer().unwrap_or_default().to_owned(), "invalid")
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use image::{DynamicImage, ImageFormat};

    use super::*;

    /// A valid image with so much behind its end that the file has `bytes`.
    fn padded(bytes: usize) -> DraftPart {
        let mut file = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(2, 2).write_to(&mut file, ImageFormat::Png).unwrap();
        let mut file = file.into_inner();
        file.resize(bytes, 0);
        let (filename, pointer) = ("a.png".to_owned(), "/messages/0/content/0".to_owned());
        DraftPart::Image { base64: STANDARD.encode(file), media_type: "image/png", filename, pointer }
    }

    #[test]
    fn s2_11_the_limit_of_all_images_together_is_exact() {
        let half = MAX_IMAGES_BYTES / 2;
        let parts = outgoing(vec![padded(half), padded(half)]).unwrap();
        assert_eq!(parts.len(), 2);
        let refused = outgoing(vec![padded(half), padded(half + 1)]).unwrap_err();
        let too_large = ErrorNotice::new(ErrorCode::InvalidInput).with_key(MessageKey::ImagesTooLarge);
        assert_eq!(refused, too_large);
    }
}
