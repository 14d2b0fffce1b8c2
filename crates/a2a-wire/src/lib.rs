#![doc = include_str!("../README.md")]

mod alike;
mod card;
mod debug;
mod error;
mod message;
mod part;
mod reply;
mod request;
mod sanitize;
mod state;
mod stream_item;
mod task;
mod tolerant;
mod version;

pub use alike::Alike;
pub use card::{AgentCard, AgentExtension, AgentInterface};
pub use error::{DecodeError, JsonFault};
pub use message::{Message, Role};
pub use part::{Part, PartContent};
pub use reply::{Reply, RpcError, code, decode_reply};
pub use request::{ListRequest, OutgoingMessage, OutgoingPart, SendMessage, TaskRequest};
pub use sanitize::{has_surrogate_escape, sanitize};
pub use state::TaskState;
pub use stream_item::StreamItem;
pub use task::{Artifact, ArtifactUpdate, StatusUpdate, Task, TaskList, TaskStatus};
pub use tolerant::Integer;
pub use version::{Method, ProtocolVersion};
