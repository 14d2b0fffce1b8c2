//! Where in a pipeline an event happens.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::demo::journal::Draft;
use crate::wire::merged;

/// A step of a pipeline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) id: &'static str,
    pub(super) index: usize,
    pub(super) total: usize,
    /// `normal` or `parallel_sub_pipeline`.
    pub(super) kind: &'static str,
    pub(super) ui_mode: Option<&'static str>,
}

impl Step {
    pub(super) const fn new(id: &'static str, index: usize, total: usize) -> Self {
        Self { id, index, total, kind: "normal", ui_mode: None }
    }

    fn run_id(&self) -> String {
        format!("step-{}-1", self.id)
    }

    fn short(&self) -> Value {
        json!({
            "id": self.id, "runId": self.run_id(), "attempt": 1, "index": self.index, "total": self.total,
        })
    }

    pub(super) fn place(&self) -> Place {
        Place { scope: "step", members: json!({"step": self.short()}) }
    }

    /// The draft of `step_started`; it alone tells the type and the mode of the interface.
    pub(super) fn started(&self, attempt: u32) -> Draft {
        let step = merged(self.short(), json!({"type": self.kind, "uiMode": self.ui_mode}));
        let data = json!({
            "name": self.id, "index": self.index, "total": self.total, "attempt": 1, "stepType": self.kind,
            "uiMode": self.ui_mode, "active_attempt_id": format!("att_{attempt:04}"),
            "transcript_id": format!("transcript_att_{attempt:04}"),
        });
        Draft::new("step", "step_started", data).with(json!({"step": step}))
    }
}

/// One of the parallel plans, worked out in a sub-pipeline.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) name: &'static str,
    pub(super) index: usize,
    pub(super) monthly: &'static str,
    id: String,
}

/// The steps of a candidate's sub-pipeline.
pub(super) const CANDIDATE_STEPS: [&str; 2] = ["template_generating", "cost_estimating"];

impl Candidate {
    pub(super) fn new(index: usize, name: &'static str, monthly: &'static str) -> Self {
        let unique = Uuid::new_v4().simple().to_string();
        Self { name, index, monthly, id: format!("evaluate_candidate_{}", &unique[..8]) }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    fn run_id(&self) -> String {
        format!("candidate-{}-{}-1", self.id, self.index)
    }

    /// What the events of this candidate say about it in `data`.
    pub(super) fn data(&self, more: Value) -> Value {
        let base = json!({
            "subPipelineId": self.id, "subPipelineName": "evaluate_candidate", "candidateIndex": self.index,
            "candidateName": self.name, "totalSteps": CANDIDATE_STEPS.len(),
        });
        merged(base, more)
    }

    fn short(&self) -> Value {
        json!({
            "id": self.id, "runId": self.run_id(), "index": self.index, "attempt": 1, "name": self.name,
            "pipelineName": "evaluate_candidate", "totalSteps": CANDIDATE_STEPS.len(),
        })
    }

    pub(super) fn place(&self, parent: &Step) -> Place {
        let members = json!({"step": parent.short(), "candidate": self.short()});
        Place { scope: "candidate", members }
    }

    /// The draft of `candidate_started`, with the steps to come.
    pub(super) fn started(&self, parent: &Step) -> Draft {
        let steps: Vec<Value> = CANDIDATE_STEPS
            .iter()
            .map(|id| merged(self.step(id), json!({"name": id, "status": "pending"})))
            .collect();
        let candidate = merged(self.short(), json!({"steps": steps}));
        let place = self.place(parent);
        place.draft("candidate_started", self.data(json!({}))).with(json!({"candidate": candidate}))
    }

    fn step(&self, id: &str) -> Value {
        let index = CANDIDATE_STEPS.iter().position(|step| *step == id).map_or(1, |at| at + 1);
        json!({
            "id": id, "runId": format!("{}-{id}-1", self.run_id()), "attempt": 1, "index": index,
            "total": CANDIDATE_STEPS.len(),
        })
    }

    pub(super) fn step_place(&self, parent: &Step, id: &str) -> Place {
        let members =
            json!({"step": parent.short(), "candidate": self.short(), "candidateStep": self.step(id)});
        Place { scope: "candidate_step", members }
    }
}

/// A scope and the members of the envelope that belong to it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) scope: &'static str,
    members: Value,
}

impl Place {
    pub(super) fn draft(&self, event_type: &'static str, data: Value) -> Draft {
        Draft::new(self.scope, event_type, data).with(self.members.clone())
    }
}
