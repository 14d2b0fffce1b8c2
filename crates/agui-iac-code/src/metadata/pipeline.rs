//! Pipeline events.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{
    ArtifactRef, BackupBlocked, CandidateRef, Input, InputKind, InputReceived, PermissionResolved, StepRef,
    Thinking, ToolStatus, ToolUpdate, Usage,
};
use crate::event_type::PipelineEventType as Type;
use crate::json::{
    Notes, Raw, Read, WrongType, finish, integer, list, object, read_members, text, text_or_number, texts,
};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What an event is about.
    ///
    /// Source: iac-code 0.16, pipeline events: `scope`.
    pub enum Scope {
        /// The whole pipeline.
        Pipeline = "pipeline",
        /// A step of the pipeline.
        Step = "step",
        /// A candidate.
        Candidate = "candidate",
        /// A step of a candidate.
        CandidateStep = "candidate_step",
        /// A resource stack.
        Stack = "stack",
        /// A message of the user into the running pipeline.
        Interrupt = "interrupt",
    }
}

wire_enum! {
    /// State of the pipeline after an event.
    ///
    /// Source: iac-code 0.16, pipeline events: `status`.
    pub enum PipelineStatus {
        /// It works.
        Working = "working",
        /// It asks the user.
        InputRequired = "input_required",
        /// It waits for the user's answer.
        WaitingInput = "waiting_input",
        /// It ended well.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Canceled = "canceled",
    }
}

wire_enum! {
    /// Whether an event that ends something is final.
    ///
    /// Source: iac-code 0.16, pipeline events: `visibility`.
    pub enum Visibility {
        /// Announced, but its backup is not stored; the final copy follows with a new id.
        PendingBackup = "pending_backup",
        /// Final.
        Committed = "committed",
    }
}

/// Several events that were sent together.
///
/// Source: iac-code 0.16, `metadata.iac_code.pipelineBatch`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PipelineBatch<'a> {
    /// The events, oldest first.
    pub events: Vec<PipelineEnvelope<'a>>,
}

impl<'a> PipelineBatch<'a> {
    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut events = None;
        let is_object = read_members!(raw, notes, "pipelineBatch", {
            "events" => events, read_envelopes;
        });
        finish(Self { events: events.unwrap_or_default() }, raw, is_object)
    }
}

pub(crate) fn read_envelopes<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Vec<PipelineEnvelope<'a>>> {
    list(raw, notes, "events", PipelineEnvelope::read_member)
}

/// One pipeline event.
///
/// Deltas that were merged into one event carry the first `eventId` and the last `sequence`.
///
/// Source: iac-code 0.16, `metadata.iac_code.pipeline`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PipelineEnvelope<'a> {
    /// The event as it arrived; this is what clients get.
    pub raw: Raw<'a>,
    /// Unique id.
    pub event_id: Option<Cow<'a, str>>,
    /// Number in the journal of the context, from 1.
    pub sequence: Option<u64>,
    /// What happened.
    pub event_type: Type,
    /// The type as it was written; empty if it was not.
    pub event_type_name: Cow<'a, str>,
    /// What it is about.
    pub scope: Option<Scope>,
    /// Id of the pipeline run; equal to the context id.
    pub pipeline_run_id: Option<Cow<'a, str>>,
    /// Task of the pipeline.
    pub task_id: Option<Cow<'a, str>>,
    /// Context of that task.
    pub context_id: Option<Cow<'a, str>>,
    /// Task whose stream carried the event, when it is another one.
    pub delivery_task_id: Option<Cow<'a, str>>,
    /// Context of that other task.
    pub delivery_context_id: Option<Cow<'a, str>>,
    /// Name of the pipeline.
    pub pipeline_name: Option<Cow<'a, str>>,
    /// The iac-code session.
    pub session_id: Option<Cow<'a, str>>,
    /// When it happened, RFC 3339 in seconds.
    pub created_at: Option<Cow<'a, str>>,
    /// State of the pipeline after it.
    pub status: Option<PipelineStatus>,
    /// Step of the pipeline.
    pub step: Option<Box<StepRef<'a>>>,
    /// Candidate.
    pub candidate: Option<Box<CandidateRef<'a>>>,
    /// Step of the candidate.
    pub candidate_step: Option<Box<StepRef<'a>>>,
    /// Whether it is final; absent means yes.
    pub visibility: Option<Visibility>,
    /// `data.stepId`, which some events have instead of a step.
    pub data_step_id: Option<Cow<'a, str>>,
    /// What `data` and its companions mean for this type.
    pub payload: PipelinePayload<'a>,
}

/// What an event says, read according to its type.
///
/// Source: iac-code 0.16, pipeline events: `eventType` and `data`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum PipelinePayload<'a> {
    /// `text_delta`: text to append.
    Text(Cow<'a, str>),
    /// `thinking_delta`.
    Thinking(Thinking<'a>),
    /// `message_started`: the model began a message; its id.
    MessageStarted(Option<Cow<'a, str>>),
    /// `message_tombstone`: the model's message was withdrawn, and these tool calls with it.
    MessageWithdrawn {
        /// Id of the message.
        message_id: Option<Cow<'a, str>>,
        /// Ids of its tool calls.
        tool_use_ids: Vec<Cow<'a, str>>,
    },
    /// `tool_started`, `tool_result`, `tool_progress`.
    Tool(Box<ToolUpdate<'a>>),
    /// `usage`.
    Usage(Box<Usage<'a>>),
    /// `input_required`: a question, complete with task, context and id.
    InputRequired(Box<Input<'a>>),
    /// `input_received`.
    InputReceived(Box<InputReceived<'a>>),
    /// `permission_requested`: a question of kind permission, complete with task, context and id.
    PermissionRequested(Box<Input<'a>>),
    /// `permission_resolved`.
    PermissionResolved(Box<PermissionResolved<'a>>),
    /// `artifact_created`.
    Artifact(Box<ArtifactRef<'a>>),
    /// `backup_blocked`.
    BackupBlocked(Box<BackupBlocked<'a>>),
    /// `backup_committed`: the event with this id is stored now.
    BackupCommitted(Option<Cow<'a, str>>),
    /// `rollback_completed`: the pipeline goes on at `to_step`.
    RolledBack {
        /// Step it came from.
        from_step: Option<Cow<'a, str>>,
        /// Step it goes on with.
        to_step: Option<Cow<'a, str>>,
    },
    /// Nothing that is read here; see [`PipelineEnvelope::raw`].
    #[default]
    Unread,
}

/// The members that are only needed while an envelope is read.
#[derive(Default)]
struct Parts<'a> {
    event_type: Option<Cow<'a, str>>,
    scope: Option<Cow<'a, str>>,
    status: Option<Cow<'a, str>>,
    visibility: Option<Cow<'a, str>>,
    data: Option<Raw<'a>>,
    input: Option<Raw<'a>>,
    permission: Option<Raw<'a>>,
    artifact: Option<Raw<'a>>,
    step: Option<StepRef<'a>>,
    candidate: Option<CandidateRef<'a>>,
    candidate_step: Option<StepRef<'a>>,
}

impl<'a> PipelineEnvelope<'a> {
    /// Reads one event; `None` if `raw` is no object.
    #[must_use]
    pub fn read(raw: &'a RawValue, notes: &mut Notes) -> Option<Self> {
        Self::read_member(raw, notes).ok().flatten()
    }

    /// Whether the event is only announced and a final copy with another id will follow.
    #[must_use]
    pub fn is_pending_backup(&self) -> bool {
        self.visibility == Some(Visibility::PendingBackup)
    }

    /// Id of the step that a step event is about: the candidate's step, else `data.stepId`, else the
    /// pipeline's step.
    #[must_use]
    pub fn step_id(&self) -> Option<&str> {
        let of_candidate = self.candidate_step.as_ref().and_then(|step| step.id.as_deref());
        let of_pipeline = self.step.as_ref().and_then(|step| step.id.as_deref());
        of_candidate.or(self.data_step_id.as_deref()).or(of_pipeline)
    }

    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::empty(raw);
        let mut parts = Parts::default();
        let is_object = read_members!(raw, notes, "pipeline", {
            "eventId" => it.event_id, text;
            "sequence" => it.sequence, integer;
            "eventType" => parts.event_type, text;
            "scope" => parts.scope, text;
            "pipelineRunId" => it.pipeline_run_id, text;
            "taskId" => it.task_id, text;
            "contextId" => it.context_id, text;
            "deliveryTaskId" => it.delivery_task_id, text;
            "deliveryContextId" => it.delivery_context_id, text;
            "pipelineName" => it.pipeline_name, text;
            "iacCodeSessionId" => it.session_id, text;
            "createdAt" => it.created_at, text;
            "status" => parts.status, text;
            "step" => parts.step, StepRef::read_member;
            "candidate" => parts.candidate, CandidateRef::read_member;
            "candidateStep" => parts.candidate_step, StepRef::read_member;
            "visibility" => parts.visibility, text;
            "data" => parts.data, object;
            "input" => parts.input, object;
            "permission" => parts.permission, object;
            "artifact" => parts.artifact, object;
        });
        it.event_type_name = parts.event_type.take().unwrap_or_default();
        it.event_type = Type::from_name(&it.event_type_name);
        it.scope = parts.scope.take().map(|name| Scope::from_name(&name));
        it.status = parts.status.take().map(|name| PipelineStatus::from_name(&name));
        it.visibility = parts.visibility.take().map(|name| Visibility::from_name(&name));
        it.step = parts.step.take().map(Box::new);
        it.candidate = parts.candidate.take().map(Box::new);
        it.candidate_step = parts.candidate_step.take().map(Box::new);
        it.read_payload(&parts, notes);
        finish(it, raw, is_object)
    }

    fn read_payload(&mut self, parts: &Parts<'a>, notes: &mut Notes) {
        let data = parts.data.map_or(RawValue::NULL, Raw::value);
        let read = match self.event_type {
            Type::TextDelta => text_payload(data, notes),
            Type::ThinkingDelta => {
                Thinking::read_member(data, notes).map(|it| it.map(PipelinePayload::Thinking))
            }
            Type::MessageStarted | Type::MessageTombstone => message_payload(data, self.event_type, notes),
            Type::ToolStarted => tool_payload(data, ToolStatus::InputComplete, notes),
            Type::ToolResult => tool_payload(data, ToolStatus::Completed, notes),
            Type::ToolProgress => tool_payload(data, ToolStatus::Progress, notes),
            Type::Usage => {
                Usage::read_member(data, notes).map(|it| it.map(Box::new).map(PipelinePayload::Usage))
            }
            Type::InputRequired => self.question(parts.input.map_or(data, Raw::value), notes),
            Type::PermissionRequested => self.permission(parts.permission.map_or(data, Raw::value), notes),
            _ => self.rare_payload(data, parts, notes),
        };
        match read {
            Ok(payload) => self.payload = payload.unwrap_or_default(),
            Err(WrongType) => notes.add("pipeline", "data"),
        }
    }

    fn rare_payload(
        &mut self,
        data: &'a RawValue,
        parts: &Parts<'a>,
        notes: &mut Notes,
    ) -> Read<PipelinePayload<'a>> {
        match self.event_type {
            Type::InputReceived => InputReceived::read_member(data, notes)
                .map(|it| it.map(Box::new).map(PipelinePayload::InputReceived)),
            Type::PermissionResolved => PermissionResolved::read_member(data, notes)
                .map(|it| it.map(Box::new).map(PipelinePayload::PermissionResolved)),
            Type::ArtifactCreated => ArtifactRef::read_member(parts.artifact.map_or(data, Raw::value), notes)
                .map(|it| it.map(Box::new).map(PipelinePayload::Artifact)),
            Type::BackupBlocked => BackupBlocked::read_member(data, notes)
                .map(|it| it.map(Box::new).map(PipelinePayload::BackupBlocked)),
            Type::BackupCommitted => {
                let mut id = None;
                read_members!(data, notes, "pipeline.data", { "committedEventId" => id, text; });
                Ok(Some(PipelinePayload::BackupCommitted(id)))
            }
            Type::RollbackCompleted => rollback_payload(data, notes),
            _ if self.event_type.is_step() => {
                let mut id = None;
                read_members!(data, notes, "pipeline.data", { "stepId" => id, text_or_number; });
                self.data_step_id = id;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Completes a question with what only the envelope knows.
    fn complete(&self, mut input: Input<'a>) -> Box<Input<'a>> {
        input.event_id = input.event_id.or_else(|| self.event_id.clone());
        input.request_task_id = input.request_task_id.or_else(|| self.task_id.clone());
        input.context_id = input.context_id.or_else(|| self.context_id.clone());
        input.scope = input.scope.or(self.scope);
        if self.candidate.is_some() && input.sub_pipeline_id.is_none() {
            input.sub_pipeline_id = self.candidate.as_ref().and_then(|candidate| candidate.id.clone());
        }
        Box::new(input)
    }

    fn question(&self, raw: &'a RawValue, notes: &mut Notes) -> Read<PipelinePayload<'a>> {
        Ok(Input::read_member(raw, notes)?.map(|input| PipelinePayload::InputRequired(self.complete(input))))
    }

    fn permission(&self, raw: &'a RawValue, notes: &mut Notes) -> Read<PipelinePayload<'a>> {
        Ok(Input::read_member(raw, notes)?.map(|mut input| {
            input.kind = InputKind::Permission;
            input.kind_name = Cow::Borrowed(InputKind::Permission.as_str());
            PipelinePayload::PermissionRequested(self.complete(input))
        }))
    }

    fn empty(raw: &'a RawValue) -> Self {
        Self {
            raw: Raw::new(raw),
            event_id: None,
            sequence: None,
            event_type: Type::Other,
            event_type_name: Cow::Borrowed(""),
            scope: None,
            pipeline_run_id: None,
            task_id: None,
            context_id: None,
            delivery_task_id: None,
            delivery_context_id: None,
            pipeline_name: None,
            session_id: None,
            created_at: None,
            status: None,
            step: None,
            candidate: None,
            candidate_step: None,
            visibility: None,
            data_step_id: None,
            payload: PipelinePayload::Unread,
        }
    }
}

fn text_payload<'a>(data: &'a RawValue, notes: &mut Notes) -> Read<PipelinePayload<'a>> {
    let mut delta = None;
    read_members!(data, notes, "pipeline.data", { "text" => delta, text; });
    Ok(delta.map(PipelinePayload::Text))
}

fn message_payload<'a>(data: &'a RawValue, event_type: Type, notes: &mut Notes) -> Read<PipelinePayload<'a>> {
    let mut message_id = None;
    let mut tool_use_ids = None;
    read_members!(data, notes, "pipeline.data", {
        "messageId" => message_id, text;
        "affectedToolUseIds" => tool_use_ids, texts;
    });
    Ok(Some(if event_type == Type::MessageStarted {
        PipelinePayload::MessageStarted(message_id)
    } else {
        PipelinePayload::MessageWithdrawn { message_id, tool_use_ids: tool_use_ids.unwrap_or_default() }
    }))
}

fn tool_payload<'a>(data: &'a RawValue, status: ToolStatus, notes: &mut Notes) -> Read<PipelinePayload<'a>> {
    Ok(ToolUpdate::read_pipeline(data, status, notes)?.map(Box::new).map(PipelinePayload::Tool))
}

fn rollback_payload<'a>(data: &'a RawValue, notes: &mut Notes) -> Read<PipelinePayload<'a>> {
    let (mut from_step, mut to_step, mut to_step_id) = (None, None, None);
    read_members!(data, notes, "pipeline.data", {
        "fromStep" => from_step, text;
        "toStep" => to_step, text;
        "toStepId" => to_step_id, text;
    });
    Ok(Some(PipelinePayload::RolledBack { from_step, to_step: to_step.or(to_step_id) }))
}
