use std::fmt;

use crate::{MessageId, SubagentRunId, ToolCallId};

/// Something that one event opens and another closes.
///
/// Example: see [`Verifier`](crate::Verifier).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Span {
    /// A step, by name.
    Step(Box<str>),
    /// A text message.
    TextMessage(MessageId),
    /// A reasoning message.
    ReasoningMessage(MessageId),
    /// A reasoning span; it may share its id with a message.
    ReasoningSpan(MessageId),
    /// A tool call.
    ToolCall(ToolCallId),
    /// An invocation of a subagent.
    Subagent(SubagentRunId),
}

/// The kind of a span, to look one up without making one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Step,
    TextMessage,
    ReasoningMessage,
    ReasoningSpan,
    ToolCall,
    Subagent,
}

impl Kind {
    /// The span of this kind with the given id.
    pub(crate) fn span(self, id: &str) -> Span {
        match self {
            Self::Step => Span::Step(id.into()),
            Self::TextMessage => Span::TextMessage(id.into()),
            Self::ReasoningMessage => Span::ReasoningMessage(id.into()),
            Self::ReasoningSpan => Span::ReasoningSpan(id.into()),
            Self::ToolCall => Span::ToolCall(id.into()),
            Self::Subagent => Span::Subagent(id.into()),
        }
    }
}

impl Span {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Step(_) => Kind::Step,
            Self::TextMessage(_) => Kind::TextMessage,
            Self::ReasoningMessage(_) => Kind::ReasoningMessage,
            Self::ReasoningSpan(_) => Kind::ReasoningSpan,
            Self::ToolCall(_) => Kind::ToolCall,
            Self::Subagent(_) => Kind::Subagent,
        }
    }

    /// The kind, as in "a text message".
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Self::Step(_) => "step",
            Self::TextMessage(_) => "text message",
            Self::ReasoningMessage(_) => "reasoning message",
            Self::ReasoningSpan(_) => "reasoning span",
            Self::ToolCall(_) => "tool call",
            Self::Subagent(_) => "subagent",
        }
    }

    /// The id or name.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Step(name) => name,
            Self::TextMessage(id) | Self::ReasoningMessage(id) | Self::ReasoningSpan(id) => id.as_str(),
            Self::ToolCall(id) => id.as_str(),
            Self::Subagent(id) => id.as_str(),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kind_name(), self.id())
    }
}

/// An open span and whose it is.
///
/// Example: see [`Verifier`](crate::Verifier).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenSpan {
    /// What is open.
    pub span: Span,
    /// The subagent invocation it belongs to; `None` is the parent agent.
    pub owner: Option<SubagentRunId>,
}

impl OpenSpan {
    pub(crate) const fn new(span: Span, owner: Option<SubagentRunId>) -> Self {
        Self { span, owner }
    }
}
