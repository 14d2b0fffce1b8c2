//! Reading of events: first the type, then the members of that type.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{Event, EventType};
use crate::Json;
use crate::decode::{
    self, Decode, DecodeError, DecodeErrorKind, Path, Reader, Reading, Skipped, discriminator,
};

/// One frame of a stream.
///
/// Example: see [`decode_event`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decoded {
    /// An event of AG-UI 1.0.
    Known(Event),
    /// An event of a later version or of an extension; a consumer drops it and goes on.
    Unknown(UnknownEvent),
}

/// An event whose type this version does not know.
///
/// Example: see [`decode_event`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UnknownEvent {
    /// The type on the wire; never empty.
    pub event_type: Box<str>,
    /// The whole event.
    pub raw: Json,
}

/// Reads one frame the way a consumer of a stream should: what it does not know is left out.
///
/// ```
/// use agui_core::{Decoded, TextMessageContent, decode_event};
///
/// let frame = br#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Hi!"}"#;
/// assert_eq!(decode_event(frame)?, Decoded::Known(TextMessageContent::new("m1", "Hi!").into()));
///
/// let later = decode_event(br#"{"type":"META","payload":1}"#)?;
/// let Decoded::Unknown(event) = later else { panic!("1.0 has no such event") };
/// assert_eq!(&*event.event_type, "META");
/// # Ok::<(), agui_core::DecodeError>(())
/// ```
///
/// # Errors
/// If the frame is not a JSON object with a type, or a member of a known event is malformed.
pub fn decode_event(json: &[u8]) -> Result<Decoded, DecodeError> {
    decode_event_with(json, Reading::Stream).map(|(decoded, _)| decoded)
}

/// Reads one frame with a chosen strictness and tells what was left out.
///
/// ```
/// use agui_core::{DecodeErrorKind, Reading, decode_event_with};
///
/// // Some producers write `null` for a parent message that there is not; released clients take it.
/// let frame = br#"{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"ls","parentMessageId":null}"#;
/// assert!(decode_event_with(frame, Reading::Stream).is_ok());
/// let error = decode_event_with(frame, Reading::Exact).unwrap_err();
/// assert_eq!((error.pointer.as_str(), error.kind), ("/parentMessageId", DecodeErrorKind::Null));
/// ```
///
/// # Errors
/// If the frame is not a JSON object with a type, or a member of a known event is malformed.
pub fn decode_event_with(json: &[u8], reading: Reading) -> Result<(Decoded, Vec<Skipped>), DecodeError> {
    let mut reader = Reader::new(reading);
    let value = decode::root(json)?;
    let name = type_name(value)?;
    let decoded = match name.parse::<EventType>() {
        Ok(known) => Decoded::Known(Event::decode_as(known, value, &Path::ROOT, &mut reader)?),
        Err(_) => Decoded::Unknown(UnknownEvent { event_type: name.into(), raw: Json::from(value) }),
    };
    Ok((decoded, reader.into_skipped()))
}

fn type_name(value: &RawValue) -> Result<String, DecodeError> {
    let name = discriminator(value, &["type"], &Path::ROOT)?;
    if name.is_empty() { Err(Path::ROOT.key("type").error(DecodeErrorKind::Empty)) } else { Ok(name) }
}

impl Decode for Event {
    fn decode(value: &RawValue, at: &Path<'_>, reader: &mut Reader) -> Result<Self, DecodeError> {
        let known = type_name(value)?
            .parse::<EventType>()
            .map_err(|_| at.key("type").error(DecodeErrorKind::UnknownMember))?;
        Self::decode_as(known, value, at, reader)
    }
}

/// Reads a known event as [`decode_event`] does; an unknown type is an error.
impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode::nested(deserializer)
    }
}
