//! Tests through the public API, on real directories.
#![expect(clippy::unwrap_used, reason = "tests")]

mod contract;
mod crash;
mod files;
mod growth;
mod markers;
mod python;
mod support;
mod traces;
mod writers;
