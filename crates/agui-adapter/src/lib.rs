#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod active;
mod adapter;
mod admission;
mod answers;
mod cancel;
mod clock;
mod config;
mod expiry;
mod failure;
mod images;
mod kernel;
mod notice;
mod parts;
mod pending;
mod reattach;
mod recover;
mod request;
mod run;
mod schema;
mod tasks;
mod terms;
#[cfg(test)]
mod testing;
mod threads;
mod verdict;
mod waiting;
mod workspace;

pub use adapter::Adapter;
pub use cancel::{CancelReply, CancelRequest, CancelStatus};
pub use config::{
    AdapterConfig, CANCEL_DRAIN, CANCEL_TIMEOUT, IMAGE_JOBS, INTERRUPT_TTL, OnDisconnect, Profile,
    SIDEBAND_PATIENCE, SIDEBAND_QUIET, TASK_ID_TIMEOUT, UNATTENDED_MAX_RUNS,
};
pub use images::{KERNEL_MAX_BYTES, KERNEL_MAX_SIDE_PX, MAX_IMAGE_BYTES, MAX_IMAGES_BYTES, MAX_PIXELS};
pub use kernel::Kernel;
pub use reattach::{
    AttachRequest, FINISHED_FOR, FINISHED_MAX_BYTES, FINISHED_MAX_RUNS, LOG_MAX_BYTES, LOG_MAX_EVENTS,
    NumberedEvent, READ_AHEAD, RunEvents,
};
pub use request::MAX_ID_BYTES;
pub use waiting::{WAITING_MAX_LIMIT, WAITING_SCAN, WaitingInterrupt, WaitingPage, WaitingRequest};
pub use workspace::MAX_CWD_BYTES;
