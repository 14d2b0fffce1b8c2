//! The crate on recorded and on arbitrary text.

mod arbitrary;
mod recorded;
