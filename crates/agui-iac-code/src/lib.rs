#![doc = include_str!("../README.md")]

mod answer;
mod choice;
pub mod custom;
mod error_code;
mod error_notice;
mod event_type;
mod json;
mod message_key;
pub mod metadata;
mod preference;
mod props;
mod recovery;
mod request;
#[cfg(feature = "schema")]
pub mod schema;
mod secret;
mod state_document;
mod wire_enum;

pub use answer::{PermissionAnswer, PermissionDecision, ResourceAnswer, ResourceQuestion};
pub use choice::Choice;
pub use error_code::{ErrorCode, ErrorSpec};
pub use error_notice::{ErrorNotice, MessageArg};
pub use event_type::PipelineEventType;
pub use json::{Note, Notes, Raw};
pub use message_key::MessageKey;
pub use preference::{preferred_language, preferred_language_of_props};
pub use props::{
    AlibabaCloudProps, CandidatePresentation, IacCodeProps, MAX_ROS_INVOCATION_ID_CHARS, PropsError,
    PropsErrorKind, RunMode, ThinkingProps,
};
pub use recovery::{RecoveredMessage, SessionRecovery};
pub use request::RequestMetadata;
pub use secret::Secret;
pub use state_document::{PipelineSnapshot, PipelineState, SnapshotStep};
