#![doc = include_str!("../README.md")]

// The tables come first: macros are visible to what follows them.
#[macro_use]
mod record;
#[macro_use]
mod word;

#[cfg(feature = "agent")]
mod agent;
mod capabilities;
mod content;
mod decode;
mod event;
mod expand;
mod ids;
mod input;
mod interrupt;
mod json;
mod message;
mod outcome;
mod patch;
mod repair;
#[cfg(feature = "schema")]
mod schema;
mod time;
mod tool;
mod usage;
mod verify;

/// The protocol version of this crate, sent in `RUN_STARTED` and in requests.
///
/// Source: AG-UI 1.0, "Versioning".
pub const PROTOCOL_VERSION: &str = "1.0";

#[cfg(feature = "state")]
pub use agent::SharedState;
#[cfg(feature = "agent")]
pub use agent::{
    Agent, BoxFuture, CANCELLED, Emitter, EndedToolCall, EventSink, OVERRUN_FACTOR, OpenActivity,
    OpenReasoning, OpenStep, OpenSubagent, OpenText, OpenToolCall, Problem, RunLimits, RunRequest, RunSink,
    RunStream, Sources, run_channel,
};
pub use capabilities::{
    AgentIdentity, Capabilities, ExecutionCapabilities, HumanInTheLoopCapabilities, MultiAgentCapabilities,
    MultimodalCapabilities, MultimodalInput, MultimodalOutput, OutputCapabilities, ReasoningCapabilities,
    StateCapabilities, SubagentDescription, ToolCapabilities, TransportCapabilities,
};
pub use content::{
    AudioPart, BinaryPart, Content, ContentPart, DataSource, DocumentPart, FileSource, ImagePart, Source,
    TextPart, UrlSource, VideoPart,
};
pub use decode::{DecodeError, DecodeErrorKind, Expected, Reading, Skipped};
pub use event::{
    ActivityDelta, ActivitySnapshot, Custom, Decoded, EncryptedValueSubtype, Event, EventBase, EventType,
    MessagesSnapshot, Raw, ReasoningEncryptedValue, ReasoningEnd, ReasoningMessageChunk,
    ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart, ReasoningStart, RunError,
    RunFinished, RunStarted, StateDelta, StateSnapshot, StepFinished, StepStarted, SubagentError,
    SubagentFinished, SubagentStarted, TextMessageChunk, TextMessageContent, TextMessageEnd,
    TextMessageStart, TextRole, ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart,
    ToolRole, UnknownEvent, UnknownEventType, decode_event, decode_event_with,
};
pub use expand::ChunkExpander;
pub use ids::{InterruptId, MessageId, RunId, SubagentRunId, ThreadId, ToolCallId};
pub use input::RunAgentInput;
pub use interrupt::{Interrupt, ResumeEntry, ResumeStatus};
pub use json::scan::{MAX_JSON_DEPTH, MAX_NUMBER_BYTES};
pub use json::{Json, JsonObject};
pub use message::{
    ActivityMessage, AssistantMessage, DeveloperMessage, Message, ReasoningMessage, SystemMessage,
    ToolMessage, UserMessage,
};
pub use outcome::{Outcome, SubagentOutcome};
pub use patch::{BadPointer, JsonPatch, JsonPointer, PatchAction, PatchOp};
pub use repair::{AGENT_ERROR, Repair, Repaired, Repairer};
pub use time::UnixMillis;
pub use tool::{Context, FunctionCall, Tool, ToolCall};
pub use usage::TokenUsage;
pub use verify::{MAX_OPEN_SPANS, OpenSpan, Rule, Span, Verifier, Violation};
