#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod canonical;
mod claim;
#[cfg(feature = "contract")]
pub mod contract;
mod digest;
mod document;
mod error;
mod file;
mod id;
mod memory;
mod record;
mod store;

pub use canonical::{answer_digest, python_digest, request_digest};
pub use claim::Claim;
pub use digest::{Digest, DigestTextError};
pub use error::{Corruption, Entry, Step, StoreError};
#[cfg(feature = "failpoints")]
pub use file::{Failpoints, FailpointsError};
pub use file::{FileStore, WriteTotals};
pub use id::{ContextId, ExecutionId, InvocationId, SessionId, TaskId};
pub use memory::MemoryStore;
pub use record::{AppliedAnswer, Execution, PendingInterrupt, RecordedRun, RetiredHistory, ThreadRecord};
pub use store::{ParkedCursor, ParkedPage, ParkedThread, Stored, ThreadStore, Version};
