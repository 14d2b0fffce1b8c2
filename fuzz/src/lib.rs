//! What the fuzz targets do with their bytes. Each `run` panics when a property does not hold.
//!
//! The same bodies run in the ordinary tests over the seeds and a bounded number of mutations of
//! them (`cargo xtask fuzz-smoke`).

pub mod mapper;
pub mod proto_decoder;
pub mod run_agent_input;
pub mod sse_decoder;
