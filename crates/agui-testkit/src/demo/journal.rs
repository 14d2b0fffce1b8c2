//! Pipeline events: drafts, numbers, and the journal of a context.

use serde_json::{Value, json};
use uuid::Uuid;

use super::kernel::Store;
use crate::wire::{Ids, State, empty, merged, pipeline_update, seconds};

/// The extension whose events these are.
pub(super) const EXTENSION: &str = "urn:iac-code:a2a:pipeline-events:v1";

/// Every pipeline event of one context, in order. Numbers are integers here; on the A2A wire they are
/// doubles.
#[derive(Debug, Default)]
pub(super) struct Journal {
    pub(super) pipeline_name: String,
    pub(super) events: Vec<Value>,
    sequence: u64,
}

/// A pipeline event before it has a number.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) event_id: String,
    event_type: &'static str,
    scope: &'static str,
    status: &'static str,
    data: Value,
    more: Value,
}

impl Draft {
    pub(super) fn new(scope: &'static str, event_type: &'static str, data: Value) -> Self {
        let event_id = event_id();
        Self { event_id, event_type, scope, status: "working", data, more: empty() }
    }

    pub(super) const fn with_status(mut self, status: &'static str) -> Self {
        self.status = status;
        self
    }

    /// Adds members beside `data`.
    pub(super) fn with(mut self, more: Value) -> Self {
        self.more = merged(self.more, more);
        self
    }

    fn state(&self) -> State {
        match self.status {
            "input_required" => State::InputRequired,
            "completed" => State::Completed,
            "failed" => State::Failed,
            "canceled" => State::Canceled,
            _ => State::Working,
        }
    }
}

fn event_id() -> String {
    format!("evt-{}", Uuid::new_v4().simple())
}

impl Journal {
    pub(super) const fn last_sequence(&self) -> u64 {
        self.sequence
    }

    /// The events of one task.
    pub(super) fn of<'a>(&'a self, task_id: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["taskId"] == task_id)
    }

    fn add(&mut self, ids: &Ids, draft: Draft) -> Value {
        self.sequence += 1;
        let envelope = json!({
            "schemaVersion": "1.0", "extensionUri": EXTENSION, "eventId": draft.event_id,
            "sequence": self.sequence, "createdAt": seconds(), "eventType": draft.event_type,
            "scope": draft.scope, "pipelineRunId": ids.context_id, "taskId": ids.task_id,
            "contextId": ids.context_id, "pipelineName": self.pipeline_name, "status": draft.status,
            "data": draft.data, "iacCodeSessionId": ids.session_id,
        });
        let envelope = merged(envelope, draft.more);
        self.events.push(envelope.clone());
        envelope
    }
}

impl Store {
    /// Numbers, journals and sends an event; `more` stands beside it in `metadata.iac_code`.
    pub(super) fn pipeline_event(&mut self, ids: &Ids, draft: Draft, more: Value) -> Option<Value> {
        let state = draft.state();
        let envelope = self.contexts.get_mut(&ids.context_id)?.journal.add(ids, draft);
        let update = pipeline_update(ids, state, &envelope, more);
        let task = self.tasks.get_mut(&ids.task_id)?;
        task.publish(&update);
        if envelope["eventType"] == "text_delta" {
            task.output_text.extend(envelope["data"]["text"].as_str().map(str::to_owned));
        }
        Some(update)
    }

    /// The last event of a pipeline: journaled as pending, then committed; only the latter is sent.
    pub(super) fn pipeline_end(&mut self, ids: &Ids, draft: Draft) {
        let Some(context) = self.contexts.get_mut(&ids.context_id) else { return };
        let mut pending = draft.clone().with(json!({"visibility": "pending_backup"}));
        pending.event_id = event_id();
        let pending = context.journal.add(ids, pending);
        let committed = json!({
            "committedEventId": pending["eventId"], "committedEventType": pending["eventType"],
            "committedSequence": pending["sequence"],
        });
        context.journal.add(ids, Draft::new("pipeline", "backup_committed", committed));
        self.pipeline_event(ids, draft.with(json!({"visibility": "committed"})), empty());
    }
}
