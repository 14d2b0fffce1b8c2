//! The coordinator as a whole, in front of a kernel that does as it is told.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod nonsense;
