#![doc = include_str!("../README.md")]

mod authenticator;
mod bearer;
mod denied;

pub use authenticator::Authenticator;
pub use bearer::{BearerToken, TokenError};
pub use denied::{Denied, DeniedReason};
