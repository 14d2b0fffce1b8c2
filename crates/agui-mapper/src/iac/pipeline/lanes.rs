//! One lane for each step run: candidates that work side by side do not disturb each other.

use agui_iac_code::metadata::PipelineEnvelope;

use super::journal::Admission;
use crate::a2a::Turn;
use crate::spans::{LaneId, Spans};

/// Stem of message ids when the kernel neither names the message nor the step.
const PIPELINE: &str = "pipeline";

/// Most step runs that get a lane of their own; what comes beyond shares the last one.
const MAX_SOURCES: usize = 4096;

/// The step runs that events came from.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    sources: Vec<Source>,
}

#[derive(Debug)]
struct Source {
    /// Run id of the step, of the candidate's step before that of the pipeline's.
    run: Box<str>,
    lane: Option<LaneId>,
    /// The kernel's id of the present message.
    message: Option<Box<str>>,
    /// Sequence of the last text.
    last_text: u64,
}

impl Lanes {
    /// Number of the step run that an event comes from.
    pub(super) fn source(&mut self, envelope: &PipelineEnvelope<'_>) -> usize {
        let run = run_of(envelope);
        match self.find(run) {
            Some(at) => at,
            None if self.sources.len() < MAX_SOURCES => {
                self.sources.push(Source { run: run.into(), lane: None, message: None, last_text: 0 });
                self.sources.len() - 1
            }
            None => self.sources.len() - 1,
        }
    }

    fn find(&self, run: &str) -> Option<usize> {
        self.sources.iter().rposition(|source| *source.run == *run)
    }

    pub(super) fn lane(&mut self, turn: &mut Turn, envelope: &PipelineEnvelope<'_>) -> LaneId {
        let at = self.source(envelope);
        *self.sources[at].lane.get_or_insert_with(|| turn.spans.add_lane())
    }

    pub(super) fn begin_message(
        &mut self,
        turn: &mut Turn,
        envelope: &PipelineEnvelope<'_>,
        id: Option<&str>,
    ) {
        let lane = self.lane(turn, envelope);
        turn.spans.next_model_message(lane);
        let at = self.source(envelope);
        self.sources[at].message = id.filter(|id| !id.is_empty()).map(Into::into);
    }

    pub(super) fn text(
        &mut self,
        turn: &mut Turn,
        envelope: &PipelineEnvelope<'_>,
        text: &str,
        admission: Admission,
    ) {
        let lane = self.lane(turn, envelope);
        let at = self.source(envelope);
        let source = &mut self.sources[at];
        let sequence = envelope.sequence.unwrap_or(0);
        // Text that was missed and comes after later text stands alone, rather than in the middle of it.
        let late = admission == Admission::Recovered && sequence < source.last_text;
        let kernel = match &source.message {
            Some(message) => message.as_ref(),
            None if source.run.is_empty() => PIPELINE,
            None => &source.run,
        };
        if late {
            turn.spans.close_messages(lane);
        }
        turn.spans.text(lane, kernel, text);
        if late {
            turn.spans.close_messages(lane);
        }
        source.last_text = source.last_text.max(sequence);
    }

    pub(super) fn reasoning(&mut self, turn: &mut Turn, envelope: &PipelineEnvelope<'_>, text: &str) {
        let lane = self.lane(turn, envelope);
        turn.spans.reasoning(lane, text);
    }

    /// Closes the messages of the step run that an event is about.
    pub(super) fn close(&self, spans: &mut Spans, envelope: &PipelineEnvelope<'_>) {
        let source = self.find(run_of(envelope)).map(|at| &self.sources[at]);
        if let Some(lane) = source.and_then(|source| source.lane) {
            spans.close_messages(lane);
        }
    }
}

fn run_of<'e>(envelope: &'e PipelineEnvelope<'_>) -> &'e str {
    let of_candidate_step = envelope.candidate_step.as_ref().and_then(|step| step.run_id.as_deref());
    let of_candidate = || envelope.candidate.as_ref().and_then(|candidate| candidate.run_id.as_deref());
    let of_step = || envelope.step.as_ref().and_then(|step| step.run_id.as_deref());
    of_candidate_step.or_else(of_candidate).or_else(of_step).unwrap_or_default()
}
