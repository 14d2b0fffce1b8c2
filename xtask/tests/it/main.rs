//! The fuzz targets' bodies, without a fuzzer.

#![expect(clippy::panic, clippy::print_stdout, clippy::unwrap_used, reason = "tests")]

mod fuzz;
mod mutate;
mod seeds;

#[expect(unreachable_pub, reason = "the fuzz targets use it as a library")]
#[path = "../../../fuzz/src/lib.rs"]
mod bodies;
