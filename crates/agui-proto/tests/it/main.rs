//! The crate against frames of the official encoder, and against bytes that nobody should send.
#![expect(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod frames;
mod hostile;
