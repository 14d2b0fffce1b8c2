//! The answer of `GET /iac-code/pipeline/state`.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{Notes, Raw, Read, any, finish, integer, list, read_members, text};
use crate::metadata::{Input, InputKind, PipelineEnvelope, PipelineStatus, read_envelopes};

/// Snapshot of a pipeline and the journal events after a position.
///
/// The journal holds the single events, where a live stream had merged some; the caller dedupes by
/// sequence and id.
///
/// Source: iac-code 0.16, `GET /iac-code/pipeline/state`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PipelineState<'a> {
    /// The snapshot, unless it was left out.
    pub snapshot: Option<Box<PipelineSnapshot<'a>>>,
    /// Events after the position that was asked for, oldest first.
    pub events: Vec<PipelineEnvelope<'a>>,
    /// First position of the answer, when the snapshot was left out.
    pub from_sequence: Option<u64>,
    /// Last position of the journal, as far as the document shows it.
    pub last_sequence: Option<u64>,
    /// Known members that were skipped because of their type.
    pub notes: Notes,
}

impl<'a> PipelineState<'a> {
    /// Reads the document; anything that is no object gives an empty state.
    #[must_use]
    pub fn read(document: &'a RawValue) -> Self {
        let mut it = Self::default();
        let mut notes = Notes::default();
        let mut snapshot = None;
        let mut events = None;
        let is_object = read_members!(document, &mut notes, "pipeline state", {
            "snapshot" => snapshot, PipelineSnapshot::read_member;
            "events" => events, read_envelopes;
            "fromSequence" => it.from_sequence, integer;
            "lastSequence" => it.last_sequence, integer;
        });
        if !is_object {
            notes.add("response", "pipeline state");
        }
        it.snapshot = snapshot.map(Box::new);
        it.events = events.unwrap_or_default();
        // Events can lie after the snapshot: the final copies of an end are journaled behind it.
        let of_snapshot = it.snapshot.as_ref().and_then(|snapshot| snapshot.last_sequence);
        let of_events = it.events.iter().filter_map(|event| event.sequence).max();
        it.last_sequence = it.last_sequence.max(of_snapshot).max(of_events);
        it.notes = notes;
        it
    }
}

/// State of a pipeline as a whole.
///
/// Source: iac-code 0.16, `GET /iac-code/pipeline/state`: `snapshot`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PipelineSnapshot<'a> {
    /// The snapshot as it arrived; this is what clients get.
    pub raw: Raw<'a>,
    /// Id of the pipeline run.
    pub pipeline_run_id: Option<Cow<'a, str>>,
    /// Task of the pipeline.
    pub task_id: Option<Cow<'a, str>>,
    /// Context of the pipeline.
    pub context_id: Option<Cow<'a, str>>,
    /// Name of the pipeline.
    pub pipeline_name: Option<Cow<'a, str>>,
    /// State of the pipeline.
    pub status: Option<PipelineStatus>,
    /// Last position that the snapshot includes.
    pub last_sequence: Option<u64>,
    /// Steps in the order they began.
    pub steps: Vec<SnapshotStep<'a>>,
    /// The open question, of any kind, complete with task, context and id.
    pub pending_input: Option<Box<Input<'a>>>,
    /// Permissions that wait for an answer, complete with task and context.
    pub pending_permissions: Vec<Input<'a>>,
    /// An end that is announced but whose backup is not stored, unread.
    pub pending_terminal: Option<Raw<'a>>,
    /// How the conversation goes on outside the pipeline, unread.
    pub normal_handoff: Option<Raw<'a>>,
}

/// One step in a snapshot.
///
/// Source: iac-code 0.16, `GET /iac-code/pipeline/state`: `snapshot.steps`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SnapshotStep<'a> {
    /// Id of the step.
    pub id: Option<Cow<'a, str>>,
    /// Id of this run of it.
    pub run_id: Option<Cow<'a, str>>,
    /// Attempt, from 1.
    pub attempt: Option<u64>,
    /// Place in the pipeline, from 1.
    pub index: Option<u64>,
    /// `working`, `waiting_input`, `completed`, `failed` and the like.
    pub status: Option<Cow<'a, str>>,
    /// Its candidates, unread.
    pub candidates: Option<Raw<'a>>,
}

impl<'a> PipelineSnapshot<'a> {
    fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self { raw: Raw::new(raw), ..Self::default() };
        let mut status: Option<Cow<'a, str>> = None;
        let (mut steps, mut pending, mut permissions) = (None, None, None);
        let is_object = read_members!(raw, notes, "snapshot", {
            "pipelineRunId" => it.pipeline_run_id, text;
            "taskId" => it.task_id, text;
            "contextId" => it.context_id, text;
            "pipelineName" => it.pipeline_name, text;
            "status" => status, text;
            "lastSequence" => it.last_sequence, integer;
            "steps" => steps, read_steps;
            "pendingInput" => pending, Input::read_member;
            "display" => permissions, read_permissions;
            "pendingTerminal" => it.pending_terminal, any;
            "normalHandoff" => it.normal_handoff, any;
        });
        it.status = status.map(|name| PipelineStatus::from_name(&name));
        it.steps = steps.unwrap_or_default();
        it.pending_input = pending.map(|input| Box::new(it.complete(input)));
        let permissions: Vec<Input<'a>> = permissions.unwrap_or_default();
        it.pending_permissions = permissions.into_iter().map(|input| it.complete(input)).collect();
        finish(it, raw, is_object)
    }

    fn complete(&self, mut input: Input<'a>) -> Input<'a> {
        input.request_task_id = input.request_task_id.or_else(|| self.task_id.clone());
        input.context_id = input.context_id.or_else(|| self.context_id.clone());
        input
    }
}

impl<'a> SnapshotStep<'a> {
    fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "snapshot.steps", {
            "id" => it.id, text;
            "runId" => it.run_id, text;
            "attempt" => it.attempt, integer;
            "index" => it.index, integer;
            "status" => it.status, text;
            "candidates" => it.candidates, any;
        });
        finish(it, raw, is_object)
    }
}

fn read_steps<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Vec<SnapshotStep<'a>>> {
    list(raw, notes, "snapshot.steps", SnapshotStep::read_member)
}

/// Member reader for `display`: the permissions in it that still wait.
fn read_permissions<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Vec<Input<'a>>> {
    let mut permissions = None;
    let is_object = read_members!(raw, notes, "snapshot.display", {
        "permissions" => permissions, read_permission_list;
    });
    finish(permissions.unwrap_or_default(), raw, is_object)
}

fn read_permission_list<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Vec<Input<'a>>> {
    let all = list(raw, notes, "snapshot.display.permissions", read_permission)?;
    Ok(all.map(|all| all.into_iter().filter(|input| input.pending == Some(true)).collect()))
}

fn read_permission<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Input<'a>> {
    let mut sub_pipeline_id = None;
    read_members!(raw, notes, "snapshot.display.permissions", {
        "candidate" => sub_pipeline_id, read_id;
    });
    Ok(Input::read_member(raw, notes)?.map(|mut input| {
        input.kind = InputKind::Permission;
        input.kind_name = Cow::Borrowed(InputKind::Permission.as_str());
        input.sub_pipeline_id = input.sub_pipeline_id.take().or(sub_pipeline_id);
        input
    }))
}

/// Member reader for the id of an object.
fn read_id<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Cow<'a, str>> {
    let mut id = None;
    read_members!(raw, notes, "snapshot.display.permissions.candidate", { "id" => id, text; });
    Ok(id)
}
