use agui_core::Event;
use bytes::BufMut;
use prost::Message as _;

use crate::ProtoError;
use crate::wire::Envelope;

/// Media type of a stream of frames, without parameters: released clients compare it as a whole.
///
/// Source: AG-UI 1.0, "Protobuf binding".
pub const CONTENT_TYPE: &str = "application/vnd.ag-ui.event+proto";

/// Size of the length before each message, in bytes: an unsigned big-endian integer.
///
/// Source: AG-UI 1.0, "Protobuf binding".
pub const PREFIX_BYTES: usize = 4;

/// Appends one event as a frame: the length, then the message.
///
/// The bytes are those of the official encoder, and so are the losses: numbers of opaque JSON become
/// doubles, members of patch operations that no operation defines are gone, and a media part of 0.x becomes
/// a document.
///
/// # Errors
/// [`ProtoError::TooDeep`] for opaque JSON that no reader would take, [`ProtoError::TooLarge`] for a frame
/// whose length the prefix cannot say. Nothing is written then.
///
/// Source: AG-UI 1.0, "Protobuf binding".
pub fn encode(event: &Event, out: &mut impl BufMut) -> Result<(), ProtoError> {
    let envelope = Envelope::of(event)?;
    let bytes = envelope.encoded_len();
    let too_large = || ProtoError::TooLarge { bytes, limit_bytes: u32::MAX as usize };
    let length = u32::try_from(bytes).map_err(|_| too_large())?;
    if out.remaining_mut() < bytes.saturating_add(PREFIX_BYTES) {
        return Err(ProtoError::TooLarge { bytes, limit_bytes: out.remaining_mut() });
    }
    out.put_u32(length);
    envelope.encode_raw(out);
    Ok(())
}
