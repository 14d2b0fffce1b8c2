//! Rules of the iac-code kernel, a layer over those of A2A: its metadata on updates, Tasks and messages.

use a2a_wire::{ArtifactUpdate, Message, Part, StatusUpdate, Task, TaskState};
use agui_iac_code::PipelineState;
use agui_iac_code::metadata::{IacMetadata, PermissionAck, PipelinePayload, Thinking};
use serde_json::value::RawValue;

use crate::a2a::{Turn, answers_in, is_agents, last_answer};
use crate::config::MapperConfig;
use crate::observed::{Notice, Sideband};
use crate::position::ResumePoint;
use crate::questions::prompt::{self, Seen};
use crate::spans::LaneId;

mod artifacts;
mod pipeline;
mod signals;
mod tools;
mod usage;

use pipeline::Pipeline;
use tools::Tools;
pub(crate) use usage::UsageSum;

/// Only this sort of reasoning is shown.
const RAW_THINKING: &str = "raw_thinking";

/// What is known of the kernel beyond A2A.
#[derive(Debug)]
pub(crate) struct Iac {
    tools: Tools,
    pipeline: Pipeline,
    pub(crate) usage: UsageSum,
    /// The metadata of the last update that said nothing but the session.
    quiet: Option<Box<str>>,
}

impl Iac {
    pub(crate) fn new(config: &MapperConfig, turn: &mut Turn) -> Self {
        Self {
            tools: Tools::new(config, turn),
            pipeline: Pipeline::new(config.resume.as_ref()),
            usage: UsageSum::default(),
            quiet: None,
        }
    }

    /// Opens what earlier runs left running.
    pub(crate) fn start(&mut self, turn: &mut Turn) {
        self.pipeline.start(turn);
    }

    /// A new stream begins: pipeline events may be missing before its first one.
    pub(crate) fn stream_opened(&mut self) {
        self.pipeline.stream_opened();
    }

    /// Maps a status update.
    pub(crate) fn status_update(&mut self, turn: &mut Turn, update: &StatusUpdate<'_>) {
        let state = &update.status.state;
        let message = update.status.message.as_ref();
        if self.is_quiet(update.metadata) && !state.is_interrupted() {
            if let Some(message) = message {
                turn.status_text(state, message);
            }
            return;
        }
        let metadata = update.metadata.map(IacMetadata::read).unwrap_or_default();
        self.note(turn, &metadata);
        signals::apply(turn, &metadata);
        self.envelopes(turn, &metadata);
        self.trace(turn, &metadata);
        self.raise(turn, &metadata);
        if let Some(message) = message {
            if metadata.assistant_final == Some(true) {
                turn.final_text(state, message);
            } else {
                turn.status_text(state, message);
            }
        }
        if state.is_interrupted() {
            let seen = Seen::in_update(update.metadata, turn);
            prompt::raise(turn, state, message, seen);
        }
        self.name_calls(turn);
        self.remember_quiet(update.metadata, &metadata);
    }

    /// Whether an update that was mapped just now says nothing but a piece of the answer.
    pub(crate) fn only_adds_text(&self, update: &StatusUpdate<'_>) -> bool {
        let is_text = |message: &Message<'_>| {
            is_agents(message) && matches!(&*message.parts, [part] if part.text().is_some())
        };
        update.status.state == TaskState::Working
            && update.status.message.as_ref().is_some_and(is_text)
            && self.is_quiet(update.metadata)
    }

    /// Maps a Task: what it says about the last update was mapped when that update came, so only
    /// questions, artifacts and text are taken from it.
    pub(crate) fn task(&mut self, turn: &mut Turn, task: &Task<'_>) {
        let metadata = task.metadata.map(IacMetadata::read).unwrap_or_default();
        self.note(turn, &metadata);
        signals::apply(turn, &metadata);
        let state = &task.status.state;
        self.raise(turn, &metadata);
        if state.is_interrupted() {
            for envelope in metadata.envelopes() {
                if let PipelinePayload::InputRequired(input) | PipelinePayload::PermissionRequested(input) =
                    &envelope.payload
                {
                    turn.raise(input, Sideband::No);
                }
            }
        }
        self.name_calls(turn);
        for artifact in &task.artifacts {
            artifacts::of_task(turn, artifact);
        }
        let unaligned = turn.text.unaligned();
        turn.task_text(answers_in(task).chain(last_answer(task)), unaligned);
        if state.is_interrupted() {
            prompt::raise(turn, state, task.status.message.as_ref(), Seen::Task);
        }
        self.stream_opened();
    }

    /// Maps an artifact, or a piece of one.
    pub(crate) fn artifact_update(turn: &mut Turn, update: &ArtifactUpdate<'_>) {
        artifacts::update(turn, update);
    }

    /// Maps a message that came instead of a task: an acknowledgement of an answer, or the answer itself.
    pub(crate) fn message(&mut self, turn: &mut Turn, message: &Message<'_>) {
        let acks: Vec<PermissionAck<'_>> =
            message.parts.iter().filter_map(Part::data).filter_map(PermissionAck::read_part).collect();
        for ack in &acks {
            signals::acknowledge(turn, ack);
        }
        if acks.is_empty() {
            turn.direct_message(message);
        }
    }

    /// Maps the pipeline state: a snapshot, and the events that this run has not seen.
    pub(crate) fn recovery(&mut self, turn: &mut Turn, state: &PipelineState<'_>) {
        turn.observed.skipped_members += state.notes.count();
        if let Some(snapshot) = &state.snapshot
            && !self.pipeline.snapshot(turn, snapshot)
        {
            return;
        }
        let admitted = self.pipeline.admit_recovered(&state.events);
        for (envelope, admission) in admitted {
            self.pipeline.map(turn, &mut self.tools, &mut self.usage, envelope, admission);
        }
        if let Some(snapshot) = &state.snapshot {
            if let Some(input) = &snapshot.pending_input {
                turn.raise(input, Sideband::No);
            }
            for input in &snapshot.pending_permissions {
                turn.raise(input, Sideband::Yes);
            }
        }
        self.name_calls(turn);
        turn.observed.pipeline_gap = None;
    }

    pub(crate) fn pipeline_sequence(&self) -> u64 {
        self.pipeline.last_sequence()
    }

    pub(crate) fn save(&self, position: &mut ResumePoint) {
        self.pipeline.save(position);
    }

    /// Notes the session, and what could not be read.
    fn note(&self, turn: &mut Turn, metadata: &IacMetadata<'_>) {
        turn.observed.skipped_members += metadata.notes.count();
        let of_envelopes = metadata.envelopes().filter_map(|envelope| envelope.session_id.as_deref());
        for session in metadata.session_id.as_deref().into_iter().chain(of_envelopes) {
            turn.observed.session_id.observe(session);
        }
    }

    fn envelopes(&mut self, turn: &mut Turn, metadata: &IacMetadata<'_>) {
        self.pipeline.begin_update();
        for envelope in metadata.envelopes() {
            let Some(admission) = self.pipeline.admit(turn, envelope) else { continue };
            // The same question stands beside the event with more members: that one is raised.
            let beside = metadata.open_inputs();
            let doubled = match &envelope.payload {
                PipelinePayload::InputRequired(input) | PipelinePayload::PermissionRequested(input) => {
                    beside.iter().any(|other| other.interrupt_id() == input.interrupt_id())
                }
                _ => false,
            };
            if !doubled {
                self.pipeline.map(turn, &mut self.tools, &mut self.usage, envelope, admission);
            }
        }
    }

    /// Reasoning, tool calls and token counts of the normal turn.
    fn trace(&mut self, turn: &mut Turn, metadata: &IacMetadata<'_>) {
        if let Some(thinking) = &metadata.thinking
            && is_shown(thinking)
        {
            turn.text.release(&mut turn.spans);
            turn.spans.reasoning(LaneId::MAIN, thinking.text.as_deref().unwrap_or_default());
        }
        if let Some(tool) = &metadata.tool {
            self.tools.update(turn, LaneId::MAIN, tool, 0);
            self.tools.progress(turn, tool);
            if let Some(call) = self.tools.take_changed_call() {
                turn.arguments_changed(&call);
            }
        }
        if let Some(usage) = &metadata.usage {
            self.usage.add(usage);
        }
    }

    fn raise(&mut self, turn: &mut Turn, metadata: &IacMetadata<'_>) {
        for input in metadata.open_inputs() {
            let listed =
                metadata.pending_permissions.iter().any(|other| other.interrupt_id() == input.interrupt_id());
            let sideband = if listed { Sideband::Yes } else { Sideband::No };
            turn.raise(input, sideband);
        }
    }

    fn name_calls(&self, turn: &mut Turn) {
        turn.questions.name_calls(&mut turn.observed, |id| self.tools.alias(id));
    }

    /// Whether the metadata is known to say nothing new; most updates carry a delta and nothing else.
    fn is_quiet(&self, metadata: Option<&RawValue>) -> bool {
        match (metadata, &self.quiet) {
            (None, _) => true,
            (Some(metadata), Some(quiet)) => *metadata.get() == **quiet,
            (Some(_), None) => false,
        }
    }

    fn remember_quiet(&mut self, raw: Option<&RawValue>, metadata: &IacMetadata<'_>) {
        let Some(raw) = raw else { return };
        let mut nothing = IacMetadata::default();
        nothing.session_id.clone_from(&metadata.session_id);
        if *metadata == nothing {
            self.quiet = Some(raw.get().into());
        }
    }
}

/// Whether reasoning is of the sort that is shown; one without a sort is.
fn is_shown(thinking: &Thinking<'_>) -> bool {
    thinking.kind.as_deref().is_none_or(|kind| kind == RAW_THINKING)
}

/// The kind of notice for an answer that was taken or not.
const fn taken(accepted: Option<bool>) -> Notice {
    match accepted {
        Some(false) => Notice::Refused,
        _ => Notice::Accepted,
    }
}
