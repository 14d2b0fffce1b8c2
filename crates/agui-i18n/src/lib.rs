#![doc = include_str!("../README.md")]

mod accept;
mod catalogue;
mod language;

pub use accept::choose;
pub use catalogue::{format, notice, text};
pub use language::Language;
