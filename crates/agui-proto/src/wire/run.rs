//! Begin and end of runs and of invocations of subagents.

use agui_core::{Outcome, SubagentOutcome};

use super::envelope::BaseEvent;
use super::input::RunAgentInput;
use super::{Mirror, Opaque};
use crate::ProtoError;
use crate::json::{Element, Members, Object};

mirror_event! {
    RunStarted {
        thread_id: String = "threadId" text [string, tag = "2"],
        run_id: String = "runId" text [string, tag = "3"],
        parent_run_id: Option<String> = "parentRunId" maybe_text [string, optional, tag = "4"],
        input: Option<RunAgentInput> = "input" maybe [message, optional, tag = "5"],
        protocol_version: Option<String> = "protocolVersion" maybe_text [string, optional, tag = "6"],
    }
}

mirror_event! {
    RunError {
        code: Option<String> = "code" maybe_text [string, optional, tag = "2"],
        message: String = "message" text [string, tag = "3"],
        usage: Vec<TokenUsage> = "usage" list [message, repeated, tag = "4"],
    }
}

mirror! {
    TokenUsage {
        provider: Option<String> = "provider" maybe_text [string, optional, tag = "1"],
        model: Option<String> = "model" maybe_text [string, optional, tag = "2"],
        input_tokens: Option<i64> = "inputTokens" maybe_int [int64, optional, tag = "3"],
        output_tokens: Option<i64> = "outputTokens" maybe_int [int64, optional, tag = "4"],
        total_tokens: Option<i64> = "totalTokens" maybe_int [int64, optional, tag = "5"],
        reasoning_tokens: Option<i64> = "reasoningTokens" maybe_int [int64, optional, tag = "6"],
        cached_input_tokens: Option<i64> = "cachedInputTokens" maybe_int [int64, optional, tag = "7"],
        cache_write_input_tokens: Option<i64> = "cacheWriteInputTokens" maybe_int [int64, optional, tag = "8"],
    }
}

message! {
    /// A question.
    Interrupt {
        id: String = "id" text [string, tag = "1"],
        reason: String = "reason" text [string, tag = "2"],
        message: Option<String> = "message" maybe_text [string, optional, tag = "3"],
        tool_call_id: Option<String> = "toolCallId" maybe_text [string, optional, tag = "4"],
        response_schema: Opaque = "responseSchema" value [bytes = "vec", repeated, tag = "5"],
        expires_at: Option<String> = "expiresAt" maybe_text [string, optional, tag = "6"],
        metadata: Opaque = "metadata" value [bytes = "vec", repeated, tag = "7"],
        subagent_run_id: Option<String> = "subagentRunId" maybe_text [string, optional, tag = "8"],
    }
}

impl Mirror<agui_core::Interrupt> for Interrupt {
    fn mirror(of: &agui_core::Interrupt) -> Result<Self, ProtoError> {
        // Both are objects, but values on the wire.
        let value = |object: &Option<agui_core::JsonObject>| match object {
            Some(object) => Mirror::mirror(object.as_json()),
            None => Ok(Opaque::new()),
        };
        Ok(Self {
            id: Mirror::mirror(&of.id)?,
            reason: Mirror::mirror(&of.reason)?,
            message: Mirror::mirror(&of.message)?,
            tool_call_id: Mirror::mirror(&of.tool_call_id)?,
            response_schema: value(&of.response_schema)?,
            expires_at: Mirror::mirror(&of.expires_at)?,
            metadata: value(&of.metadata)?,
            subagent_run_id: Mirror::mirror(&of.subagent_run_id)?,
        })
    }
}

/// The end of a run; its outcome is a word, empty if there is none, and what belongs to the word.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RunFinished {
    #[prost(message, optional, tag = "1")]
    pub(crate) base_event: Option<BaseEvent>,
    #[prost(string, tag = "2")]
    thread_id: String,
    #[prost(string, tag = "3")]
    run_id: String,
    #[prost(bytes = "vec", repeated, tag = "4")]
    result: Opaque,
    #[prost(string, tag = "5")]
    outcome: String,
    #[prost(message, repeated, tag = "6")]
    interrupts: Vec<Interrupt>,
    #[prost(message, repeated, tag = "7")]
    usage: Vec<TokenUsage>,
    #[prost(string, repeated, tag = "8")]
    pending_tool_call_ids: Vec<String>,
}

impl Mirror<agui_core::RunFinished> for RunFinished {
    fn mirror(of: &agui_core::RunFinished) -> Result<Self, ProtoError> {
        let mut wire = Self {
            base_event: None,
            thread_id: Mirror::mirror(&of.thread_id)?,
            run_id: Mirror::mirror(&of.run_id)?,
            result: Mirror::mirror(&of.result)?,
            outcome: String::new(),
            interrupts: Vec::new(),
            usage: Mirror::mirror(&of.usage)?,
            pending_tool_call_ids: Vec::new(),
        };
        match &of.outcome {
            Some(Outcome::Success { pending_tool_call_ids }) => {
                "success".clone_into(&mut wire.outcome);
                if let Some(pending) = pending_tool_call_ids {
                    wire.pending_tool_call_ids = Mirror::mirror(pending)?;
                }
            }
            Some(Outcome::Interrupt { interrupts }) => {
                "interrupt".clone_into(&mut wire.outcome);
                wire.interrupts = Mirror::mirror(interrupts)?;
            }
            Some(Outcome::Cancelled) => "cancelled".clone_into(&mut wire.outcome),
            Some(_) | None => {}
        }
        Ok(wire)
    }
}

impl Members for RunFinished {
    fn members(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
        object.text("threadId", &self.thread_id)?;
        object.text("runId", &self.run_id)?;
        object.value("result", &self.result)?;
        object.list("usage", &self.usage)?;
        object.maybe("outcome", &RunOutcome::of(self))
    }
}

/// The outcome of a run as JSON; what does not belong to it is left out.
struct RunOutcome<'a>(&'a RunFinished);

impl<'a> RunOutcome<'a> {
    fn of(event: &'a RunFinished) -> Option<Self> {
        (!event.outcome.is_empty()).then_some(Self(event))
    }
}

impl Members for RunOutcome<'_> {
    fn members(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
        object.text("type", &self.0.outcome)?;
        match self.0.outcome.as_str() {
            "interrupt" => object.array("interrupts", &self.0.interrupts),
            _ => object.list("pendingToolCallIds", &self.0.pending_tool_call_ids),
        }
    }
}

/// The end of an invocation; its outcome as that of a run.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SubagentFinished {
    #[prost(message, optional, tag = "1")]
    pub(crate) base_event: Option<BaseEvent>,
    #[prost(string, tag = "2")]
    subagent_run_id: String,
    #[prost(bytes = "vec", repeated, tag = "3")]
    result: Opaque,
    #[prost(string, tag = "4")]
    outcome: String,
    #[prost(string, repeated, tag = "5")]
    interrupt_ids: Vec<String>,
}

impl Mirror<agui_core::SubagentFinished> for SubagentFinished {
    fn mirror(of: &agui_core::SubagentFinished) -> Result<Self, ProtoError> {
        let (outcome, interrupt_ids) = match &of.outcome {
            Some(SubagentOutcome::Success) => ("success", None),
            Some(SubagentOutcome::Suspended { interrupt_ids }) => ("suspended", interrupt_ids.as_ref()),
            Some(_) | None => ("", None),
        };
        Ok(Self {
            base_event: None,
            subagent_run_id: Mirror::mirror(&of.subagent_run_id)?,
            result: Mirror::mirror(&of.result)?,
            outcome: outcome.to_owned(),
            interrupt_ids: interrupt_ids.map_or(Ok(Vec::new()), Mirror::mirror)?,
        })
    }
}

impl Members for SubagentFinished {
    fn members(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
        object.text("subagentRunId", &self.subagent_run_id)?;
        object.value("result", &self.result)?;
        let outcome = (!self.outcome.is_empty()).then_some(InvocationOutcome(self));
        object.maybe("outcome", &outcome)
    }
}

/// The outcome of an invocation as JSON.
struct InvocationOutcome<'a>(&'a SubagentFinished);

impl Element for InvocationOutcome<'_> {
    fn element(&self, out: &mut Vec<u8>) -> Result<(), ProtoError> {
        Object::write(out, |object| {
            object.text("type", &self.0.outcome)?;
            object.list("interruptIds", &self.0.interrupt_ids)
        })
    }
}
