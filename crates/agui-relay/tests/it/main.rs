//! The relay in front of servers that do as they are told.
#![expect(clippy::unwrap_used, reason = "tests")]

mod repaired;
mod upstream;
