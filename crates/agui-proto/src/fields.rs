//! The fields of an encoded message, one after the other, without knowledge of its type.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use crate::ProtoError;

/// Reads fields until the bytes end or are no message.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

/// One field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    pub(crate) payload: Payload<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Payload<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    /// Of a type that no known field has.
    Other,
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn read(&mut self) -> Result<Field<'a>, ProtoError> {
        let (number, wire_type) = decode_key(&mut self.rest)?;
        let payload = match wire_type {
            WireType::Varint => Payload::Varint(decode_varint(&mut self.rest)?),
            WireType::SixtyFourBit => {
                let (bits, rest) = self.rest.split_first_chunk().ok_or(ProtoError::MALFORMED)?;
                self.rest = rest;
                Payload::Fixed64(u64::from_le_bytes(*bits))
            }
            WireType::LengthDelimited => {
                let length = decode_varint(&mut self.rest)?;
                let length = usize::try_from(length).map_err(|_| ProtoError::MALFORMED)?;
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or(ProtoError::MALFORMED)?;
                self.rest = rest;
                Payload::Bytes(bytes)
            }
            WireType::StartGroup | WireType::EndGroup | WireType::ThirtyTwoBit => {
                skip_field(wire_type, number, &mut self.rest, DecodeContext::default())?;
                Payload::Other
            }
        };
        Ok(Field { number, payload })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, ProtoError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Field<'a> {
    /// The content of the field if it has this number.
    pub(crate) fn bytes_of(&self, number: u32) -> Result<Option<&'a [u8]>, ProtoError> {
        match self.payload {
            _ if self.number != number => Ok(None),
            Payload::Bytes(bytes) => Ok(Some(bytes)),
            Payload::Varint(_) | Payload::Fixed64(_) | Payload::Other => Err(ProtoError::MALFORMED),
        }
    }
}
