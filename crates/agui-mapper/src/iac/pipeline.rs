//! Pipeline events: deduplicated by the journal, mapped in lanes, one lane a step run.

use agui_core::{ActivitySnapshot, Custom, Json, JsonObject, MessageId};
use agui_iac_code::custom::{PIPELINE_V1, PipelineActivityV1, PipelineV1};
use agui_iac_code::metadata::{PipelineEnvelope, PipelinePayload};
use agui_iac_code::{PipelineEventType, PipelineSnapshot};

use super::signals;
use super::tools::Tools;
use super::usage::UsageSum;
use crate::a2a::Turn;
use crate::observed::{BackupBlock, PipelineEnd, Sideband};
use crate::position::ResumePoint;

mod answer;
mod journal;
mod lanes;
mod steps;
mod withdraw;

pub(super) use journal::Admission;
use journal::Journal;
use lanes::Lanes;
use steps::Steps;

/// The pipeline of a run.
#[derive(Debug)]
pub(super) struct Pipeline {
    journal: Journal,
    lanes: Lanes,
    steps: Steps,
}

impl Pipeline {
    pub(super) fn new(resume: Option<&ResumePoint>) -> Self {
        Self {
            journal: Journal::new(resume.map_or(0, |position| position.pipeline_sequence)),
            lanes: Lanes::default(),
            steps: Steps::new(resume),
        }
    }

    pub(super) fn start(&mut self, turn: &mut Turn) {
        self.steps.reopen(&mut turn.spans);
    }

    pub(super) const fn stream_opened(&mut self) {
        self.journal.stream_opened();
    }

    pub(super) fn last_sequence(&self) -> u64 {
        self.journal.position()
    }

    pub(super) fn save(&self, position: &mut ResumePoint) {
        position.pipeline_sequence = self.journal.position();
        position.pipeline_open_steps = self.steps.open_keys();
    }

    /// An update with live events begins.
    pub(super) fn begin_update(&mut self) {
        self.journal.begin_update();
    }

    /// Whether a live event is new; a gap before it is noted.
    pub(super) fn admit(&mut self, turn: &mut Turn, envelope: &PipelineEnvelope<'_>) -> Option<Admission> {
        let source = self.lanes.source(envelope);
        let admission = self.journal.admit_live(envelope, source)?;
        if let Some(after) = self.journal.take_gap() {
            turn.observed.pipeline_gap = Some(turn.observed.pipeline_gap.map_or(after, |gap| gap.min(after)));
        }
        Some(admission)
    }

    /// The events of the journal that are new, in order.
    pub(super) fn admit_recovered<'e, 'a>(
        &mut self,
        events: &'e [PipelineEnvelope<'a>],
    ) -> Vec<(&'e PipelineEnvelope<'a>, Admission)> {
        let sources: Vec<usize> = events.iter().map(|envelope| self.lanes.source(envelope)).collect();
        let admitted = self.journal.admit_recovered(events, &sources);
        events.iter().zip(admitted).filter_map(|(envelope, admission)| Some((envelope, admission?))).collect()
    }

    /// Shows a snapshot; `false` if it belongs to another task or context.
    pub(super) fn snapshot(&mut self, turn: &mut Turn, snapshot: &PipelineSnapshot<'_>) -> bool {
        let context = snapshot.context_id.as_deref().unwrap_or_default();
        if !turn.observed.context_id.observe(context) {
            return false;
        }
        let run = snapshot.pipeline_run_id.as_deref().filter(|run| !run.is_empty());
        if let Some(run) = run {
            let activity = PipelineActivityV1::new(run, snapshot.raw.value());
            if let Ok(content) = JsonObject::from_serialize(&activity) {
                let id = MessageId::from(activity.message_id());
                turn.spans.emit(ActivitySnapshot::new(id, PIPELINE_V1, content));
            }
        }
        true
    }

    /// Maps an event that was admitted.
    pub(super) fn map(
        &mut self,
        turn: &mut Turn,
        tools: &mut Tools,
        usage: &mut UsageSum,
        envelope: &PipelineEnvelope<'_>,
        admission: Admission,
    ) {
        if let Some(session) = envelope.session_id.as_deref() {
            turn.observed.session_id.observe(session);
        }
        match &envelope.payload {
            PipelinePayload::Text(text) => self.lanes.text(turn, envelope, text, admission),
            PipelinePayload::Thinking(thinking) if super::is_shown(thinking) => {
                self.lanes.reasoning(turn, envelope, thinking.text.as_deref().unwrap_or_default());
            }
            PipelinePayload::MessageStarted(id) => self.lanes.begin_message(turn, envelope, id.as_deref()),
            PipelinePayload::MessageWithdrawn { tool_use_ids, .. } => {
                let lane = self.lanes.lane(turn, envelope);
                withdraw::message(turn, tools, lane, tool_use_ids);
            }
            PipelinePayload::Tool(tool) => {
                let lane = self.lanes.lane(turn, envelope);
                tools.update(turn, lane, tool, envelope.sequence.unwrap_or(0));
                if let Some(call) = tools.take_changed_call() {
                    turn.arguments_changed(&call);
                }
            }
            PipelinePayload::Usage(counts) => usage.add(counts),
            PipelinePayload::InputRequired(input) => turn.raise(input, Sideband::No),
            PipelinePayload::PermissionRequested(input) => turn.raise(input, Sideband::No),
            PipelinePayload::InputReceived(received) => {
                signals::receive(turn, received);
                if let Some((call, words)) = answer::of(envelope, received) {
                    let lane = self.lanes.lane(turn, envelope);
                    tools.answered(turn, lane, call, &words);
                }
            }
            PipelinePayload::PermissionResolved(resolved) => signals::resolve(turn, resolved),
            PipelinePayload::BackupBlocked(blocked) => {
                let reason = blocked.reason.as_deref().map(Into::into);
                turn.observed.backup_blocked = Some(BackupBlock { reason, recoverable: blocked.recoverable });
            }
            _ => {}
        }
        self.forward(turn, envelope);
        self.steps.apply(&mut turn.spans, &self.lanes, envelope);
        note_end(turn, envelope.event_type);
    }

    /// Passes on an event that has no standard equivalent, unchanged.
    fn forward(&self, turn: &mut Turn, envelope: &PipelineEnvelope<'_>) {
        if let Some(value) = PipelineV1::new(envelope)
            && let Ok(value) = Json::from_serialize(&value)
        {
            turn.spans.emit(Custom::new(PIPELINE_V1, value));
        }
    }
}

const fn note_end(turn: &mut Turn, event: PipelineEventType) {
    turn.observed.pipeline_end = match event {
        PipelineEventType::PipelineCompleted => Some(PipelineEnd::Completed),
        PipelineEventType::PipelineError | PipelineEventType::PipelineFailed => Some(PipelineEnd::Failed),
        PipelineEventType::PipelineCanceled => Some(PipelineEnd::Canceled),
        _ => return,
    };
}
