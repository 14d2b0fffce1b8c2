//! The fuzz targets' bodies, without a fuzzer.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod fuzz;
mod mutate;
mod seeds;

#[path = "../../../fuzz/src/lib.rs"]
mod bodies;
