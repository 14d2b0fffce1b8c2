//! The recorded exchanges of `fixtures/traces`, read as a whole.
#![expect(clippy::unwrap_used, reason = "tests")]

mod documents;
mod recorded;
mod traces;
