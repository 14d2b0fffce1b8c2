//! Steps: durable over the runs of an execution, and balanced within each run.

use std::collections::{BTreeMap, HashMap};

use agui_iac_code::PipelineEventType as Type;
use agui_iac_code::metadata::{PipelineEnvelope, PipelinePayload, Scope};

use super::lanes::Lanes;
use crate::position::ResumePoint;
use crate::spans::Spans;

const STEP: &str = "step:";
const CANDIDATE: &str = "candidate:";

/// Most ended steps that are remembered; a late start is only a matter of the last few.
const MAX_ENDED: usize = 4096;

/// The running steps by key, and when steps ended.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// Key to the name on the stream.
    open: BTreeMap<String, String>,
    /// Sequence of the event that ended a step, to recognise a start that is recovered after its end.
    ended: HashMap<String, u64>,
}

impl Steps {
    pub(super) fn new(resume: Option<&ResumePoint>) -> Self {
        let keys = resume.map(|position| position.pipeline_open_steps.as_slice()).unwrap_or_default();
        Self { open: keys.iter().map(|key| (key.clone(), name(key))).collect(), ended: HashMap::new() }
    }

    /// Opens the steps that earlier runs left running.
    pub(super) fn reopen(&self, spans: &mut Spans) {
        for name in self.open.values() {
            spans.open_step(name);
        }
    }

    pub(super) fn open_keys(&self) -> Vec<String> {
        self.open.keys().cloned().collect()
    }

    pub(super) fn apply(&mut self, spans: &mut Spans, lanes: &Lanes, envelope: &PipelineEnvelope<'_>) {
        let sequence = envelope.sequence.unwrap_or(0);
        match envelope.event_type {
            Type::StepStarted | Type::CandidateStepStarted | Type::InputReceived => {
                if let Some(key) = key(envelope) {
                    self.begin(spans, key, sequence);
                }
            }
            Type::StepCompleted
            | Type::StepFailed
            | Type::CandidateStepCompleted
            | Type::CandidateStepFailed => {
                if let Some(key) = key(envelope) {
                    lanes.close(spans, envelope);
                    self.end(spans, key, sequence);
                }
            }
            Type::CandidateCompleted | Type::CandidateFailed | Type::CandidateInterrupted => {
                lanes.close(spans, envelope);
                let of_candidate = candidate_prefix(envelope);
                self.abandon(spans, sequence, |key| {
                    of_candidate.as_deref().is_some_and(|own| key.starts_with(own))
                });
            }
            Type::RollbackCompleted => self.roll_back(spans, envelope, sequence),
            event if event.is_end() => self.abandon(spans, sequence, |_| true),
            _ => {}
        }
    }

    fn begin(&mut self, spans: &mut Spans, key: String, sequence: u64) {
        let ended_later = self.ended.get(&key).is_some_and(|ended| sequence > 0 && sequence < *ended);
        if ended_later {
            return;
        }
        if self.open.len() < ResumePoint::MAX_ENTRIES || self.open.contains_key(&key) {
            let name = name(&key);
            spans.open_step(&name);
            self.open.insert(key, name);
        }
    }

    /// Ends a step; one whose start was not seen is shown as an empty span.
    fn end(&mut self, spans: &mut Spans, key: String, sequence: u64) {
        let name = self.open.remove(&key).unwrap_or_else(|| name(&key));
        spans.open_step(&name);
        spans.close_step(&name);
        if self.ended.len() >= MAX_ENDED {
            self.ended.clear();
        }
        self.ended.insert(key, sequence);
    }

    /// Ends the matching steps that nothing will end any more.
    fn abandon(&mut self, spans: &mut Spans, sequence: u64, matches: impl Fn(&str) -> bool) {
        let keys: Vec<String> = self.open.keys().filter(|key| matches(key)).cloned().collect();
        for key in keys.into_iter().rev() {
            self.end(spans, key, sequence);
        }
    }

    /// The pipeline, or one candidate, goes on at an earlier step: what was running there is given up.
    fn roll_back(&mut self, spans: &mut Spans, envelope: &PipelineEnvelope<'_>, sequence: u64) {
        let PipelinePayload::RolledBack { to_step, .. } = &envelope.payload else { return };
        let of_candidate = candidate_prefix(envelope);
        let target = to_step.as_deref().map(|step| match &of_candidate {
            Some(prefix) => format!("{prefix}{step}"),
            None => format!("{STEP}{step}"),
        });
        self.abandon(spans, sequence, |key| {
            let affected = of_candidate.as_deref().is_none_or(|own| key.starts_with(own));
            affected && Some(key) != target.as_deref()
        });
    }
}

/// Key of the step that an event is about. Steps of different candidates share ids.
fn key(envelope: &PipelineEnvelope<'_>) -> Option<String> {
    let step = envelope.step_id().filter(|step| !step.is_empty())?;
    Some(match candidate_prefix(envelope) {
        Some(prefix) => format!("{prefix}{step}"),
        None => format!("{STEP}{step}"),
    })
}

fn candidate_prefix(envelope: &PipelineEnvelope<'_>) -> Option<String> {
    let of_step = matches!(envelope.event_type, Type::StepStarted | Type::StepCompleted | Type::StepFailed)
        || envelope.scope == Some(Scope::Step);
    let candidate = envelope.candidate.as_ref().filter(|_| !of_step)?;
    Some(format!("{CANDIDATE}{}:", candidate.id.as_deref().unwrap_or_default()))
}

/// Name on the stream: the id of a step of the pipeline, the key of a step of a candidate.
fn name(key: &str) -> String {
    match key.strip_prefix(STEP) {
        // A step that is called like a key keeps its prefix, so that two keys never share a name.
        Some(step) if !step.starts_with(CANDIDATE) && !step.starts_with(STEP) => step.to_owned(),
        _ => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_different_keys_differ() {
        let keys = ["step:plan", "candidate:c1:plan", "step:candidate:c1:plan", "step:step:plan", "other"];
        let names: Vec<String> = keys.iter().map(|key| name(key)).collect();
        assert_eq!(names, ["plan", "candidate:c1:plan", "step:candidate:c1:plan", "step:step:plan", "other"]);
    }
}
