#![doc = include_str!("../README.md")]

mod decode;
mod encode;
mod error;
mod fields;
mod guard;
mod json;
mod value;
mod wire;

pub use decode::{Decoder, MAX_FRAME_BYTES, Received, decode, decode_record};
pub use encode::{CONTENT_TYPE, PREFIX_BYTES, encode};
pub use error::{ProtoError, WireFault};
pub use guard::MAX_DECODED_BYTES;
