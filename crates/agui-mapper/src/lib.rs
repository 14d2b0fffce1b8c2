#![doc = include_str!("../README.md")]

mod a2a;
pub mod answers;
mod config;
pub mod custom;
mod error;
mod iac;
mod interrupt;
mod json;
mod mapper;
mod observed;
mod position;
mod questions;
pub mod request;
#[cfg(feature = "schema")]
pub mod schema;
mod spans;
mod texts;

pub use config::{Dialect, MAX_ARTIFACT_BYTES, MAX_RESULT_BYTES, MapperConfig};
pub use error::MapError;
pub use interrupt::OpenInputKind;
pub use mapper::{Ending, EventMapper};
pub use observed::{
    BackupBlock, Failure, Identity, IdentityError, Notice, Observed, OpenInput, PipelineEnd, Receipt,
    ReplacedInput, Sideband,
};
pub use position::{ResumePoint, ShownText};
pub use texts::Texts;
