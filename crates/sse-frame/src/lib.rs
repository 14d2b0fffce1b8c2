#![doc = include_str!("../README.md")]

mod decode;
mod encode;
mod error;

pub use decode::{Decoder, Frame};
pub use encode::{
    FrameBuffer, encode_comment, encode_data, encode_event, encode_id, encode_with, try_encode_with,
};
pub use error::SseError;
