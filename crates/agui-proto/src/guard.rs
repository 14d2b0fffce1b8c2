//! What is checked before a message is decoded: that it names one event, that alternatives are not given
//! together, and that its parts will not take more memory than they may.

use crate::ProtoError;
use crate::fields::{Field, Fields, Payload};

/// Most memory that the parts of one frame may take when they are decoded, in bytes (64 MiB).
///
/// A list of empty messages is small on the wire and large in memory, which the size of the frame does not
/// bound. Over a hundred thousand messages, tool calls or operations fit.
///
/// Source: AG-UI 1.0 names no limit; the cap is ours.
pub const MAX_DECODED_BYTES: usize = 64 * 1024 * 1024;

/// What a nested message takes beside its texts, at most, in bytes.
const MESSAGE_BYTES: usize = 512;
/// What a text or an opaque value takes beside its content, at most, in bytes.
const TEXT_BYTES: usize = 64;

/// Highest field number of an event that this version knows.
const LAST_ARM: u32 = 31;

/// What an envelope holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// One event, as far as the envelope shows.
    Event,
    /// An event of a later version, by its field number.
    Later(u32),
}

/// Looks through a message without decoding it.
pub(crate) fn inspect(message: &[u8]) -> Result<Contents, ProtoError> {
    let mut known = None;
    let mut later = None;
    let mut budget = Budget(MAX_DECODED_BYTES);
    for field in Fields::new(message) {
        let field = field?;
        match (field.number, field.payload) {
            (number @ 1..=LAST_ARM, Payload::Bytes(event)) => {
                if known.is_some_and(|known| known != number) {
                    return Err(ProtoError::NotOneEvent);
                }
                known = Some(number);
                budget.walk(Kind::Event(number), event)?;
            }
            (1..=LAST_ARM, _) => return Err(ProtoError::MALFORMED),
            (number, Payload::Bytes(event)) => {
                later = later.or(Some((number, event)));
            }
            _ => {}
        }
    }
    match (known, later) {
        (Some(_), _) => Ok(Contents::Event),
        (None, Some((number, event))) => {
            // Bytes that are no message are no event of the future either.
            Fields::new(event).try_for_each(|field| field.map(drop))?;
            Ok(Contents::Later(number))
        }
        (None, None) => Err(ProtoError::NotOneEvent),
    }
}

/// The messages whose inside matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// By its number in the envelope.
    Event(u32),
    Input,
    Message,
    Part,
    MediaPart,
    Source,
    /// Without anything that is looked at.
    Leaf,
}

impl Kind {
    /// What a field holds, if it is a message that is not opaque.
    const fn child(self, field: u32) -> Option<Self> {
        match (self, field) {
            (Self::Event(12), 5) => Some(Self::Input),
            (Self::Event(9), 2) | (Self::Input, 5) => Some(Self::Message),
            (Self::Event(22), 7) | (Self::Message, 8) => Some(Self::Part),
            (Self::Part, 2..=5) => Some(Self::MediaPart),
            (Self::MediaPart, 1) => Some(Self::Source),
            (Self::Event(8), 2)
            | (Self::Event(24), 5)
            | (Self::Event(13), 6 | 7)
            | (Self::Event(14), 4)
            | (Self::Event(_), 1)
            | (Self::Message, 5)
            | (Self::Input, 6 | 7 | 9)
            | (Self::Part, 1)
            | (Self::Source, 1..=3) => Some(Self::Leaf),
            _ => None,
        }
    }

    /// Whether a field is one of several alternatives.
    const fn is_arm(self, field: u32) -> bool {
        matches!((self, field), (Self::Part, 1..=5) | (Self::Source, 1..=3))
    }
}

/// The memory that is left.
struct Budget(usize);

impl Budget {
    fn walk(&mut self, kind: Kind, message: &[u8]) -> Result<(), ProtoError> {
        let mut arm = None;
        for field in Fields::new(message) {
            let Field { number, payload } = field?;
            let Payload::Bytes(content) = payload else { continue };
            if kind.is_arm(number) && arm.replace(number).is_some_and(|before| before != number) {
                return Err(ProtoError::Ambiguous);
            }
            match kind.child(number) {
                Some(child) => {
                    self.take(MESSAGE_BYTES)?;
                    self.walk(child, content)?;
                }
                None => self.take(TEXT_BYTES)?,
            }
        }
        Ok(())
    }

    fn take(&mut self, bytes: usize) -> Result<(), ProtoError> {
        self.0 = self.0.checked_sub(bytes).ok_or(ProtoError::TooManyParts)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_envelope_holds_is_told_without_decoding() {
        // Field 1 with an empty base; field 32 with an empty message and with bytes that are none.
        let text_start: &[u8] = &[0x0a, 0x02, 0x0a, 0x00];
        let later: &[u8] = &[0x82, 0x02, 0x00];
        let table: &[(&str, Vec<u8>, Result<Contents, &str>)] = &[
            ("an event", text_start.to_vec(), Ok(Contents::Event)),
            ("an event twice", [text_start, text_start].concat(), Ok(Contents::Event)),
            ("an event and a field of the future", [text_start, later].concat(), Ok(Contents::Event)),
            ("an event of the future", later.to_vec(), Ok(Contents::Later(32))),
            ("two events", [text_start, &[0x12, 0x00]].concat(), Err("frame holds no single event")),
            ("nothing", Vec::new(), Err("frame holds no single event")),
            ("no message", vec![0x82, 0x02, 0x01, 0x07], Err("frame cannot be read")),
            ("field zero", vec![0x02, 0x00], Err("frame cannot be read")),
            ("an event that is a number", vec![0x08, 0x00], Err("frame cannot be read")),
            ("cut", vec![0x0a, 0x05, 0x0a], Err("frame cannot be read")),
        ];
        for (name, bytes, expected) in table {
            let found = inspect(bytes).map_err(|error| error.to_string());
            assert_eq!(found.as_ref().map_err(String::as_str), expected.as_ref().map_err(|e| *e), "{name}");
        }
    }

    #[test]
    fn many_empty_messages_are_refused_before_they_take_memory() {
        let count = MAX_DECODED_BYTES / MESSAGE_BYTES + 1;
        let snapshot = [0x12, 0x00].repeat(count);
        let mut message = vec![0x4a];
        prost::encoding::encode_varint(snapshot.len() as u64, &mut message);
        message.extend(snapshot);
        assert!(message.len() < 1024 * 1024);
        assert!(matches!(inspect(&message), Err(ProtoError::TooManyParts)));
    }
}
