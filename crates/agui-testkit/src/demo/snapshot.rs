//! The pipeline snapshot: the journal of a task, folded.

use serde_json::{Map, Value, json};

use super::journal::Journal;
use crate::wire::merged;

/// What the events of one task add up to.
pub(super) fn snapshot(journal: &Journal, task_id: &str) -> Value {
    let mut fold = Fold::default();
    journal.of(task_id).for_each(|event| fold.event(event));
    let first = journal.of(task_id).next().unwrap_or(&Value::Null);
    let last = journal.of(task_id).last().unwrap_or(&Value::Null);
    json!({
        "schemaVersion": "1.2", "snapshotVersion": journal.of(task_id).count(),
        "pipelineRunId": first["pipelineRunId"], "taskId": task_id, "contextId": first["contextId"],
        "pipelineName": first["pipelineName"], "status": fold.status, "lastSequence": last["sequence"],
        "generatedAt": first["createdAt"], "steps": fold.steps,
        "display": {
            "messages": fold.messages, "diagrams": [], "candidateDetails": [], "artifacts": fold.artifacts,
            "permissions": fold.permissions, "toolResults": fold.tool_results,
        },
        "stacks": {"current": null, "byId": {}, "history": []},
        "cleanup": {"status": "none", "resourceCount": 0, "resources": [], "history": []},
        "normalHandoff": null, "pendingNormalHandoff": null, "pendingTerminal": null,
        "pendingInput": fold.pending_input,
        "control": {
            "activeCandidateRunIds": fold.active, "inputHistory": fold.inputs,
            "interruptHistory": fold.interrupts, "rollbackHistory": [], "candidateRestarts": [],
            "handoffHistory": [], "warningHistory": [], "stepNames": first["data"]["stepNames"],
            "totalSteps": first["data"]["totalSteps"], "userRequest": first["data"]["userRequest"],
        },
    })
}

#[derive(Debug, Default)]
struct Fold {
    status: &'static str,
    steps: Vec<Value>,
    messages: Vec<Value>,
    artifacts: Vec<Value>,
    permissions: Vec<Value>,
    tool_results: Vec<Value>,
    inputs: Vec<Value>,
    interrupts: Vec<Value>,
    active: Vec<Value>,
    pending_input: Value,
}

impl Fold {
    fn event(&mut self, event: &Value) {
        let data = &event["data"];
        match event["eventType"].as_str().unwrap_or_default() {
            "pipeline_started" => self.status = "working",
            "pipeline_completed" => self.ended("completed", event),
            "pipeline_failed" => self.ended("failed", event),
            "pipeline_canceled" => self.ended("canceled", event),
            "step_started" => {
                let begun = json!({"status": "working", "startedAt": event["createdAt"], "candidates": []});
                let mut step = merged(event["step"].clone(), begun);
                if let Some(step) = step.as_object_mut() {
                    step.remove("uiMode");
                }
                self.steps.push(step);
            }
            "step_completed" => self.end_step(event, "completed"),
            "step_failed" => self.end_step(event, "failed"),
            "candidate_started" => {
                self.active.push(event["candidate"]["runId"].clone());
                let begun = json!({"status": "working", "startedAt": event["createdAt"]});
                if let Some(step) = self.step(event)
                    && let Some(candidates) = step["candidates"].as_array_mut()
                {
                    candidates.push(merged(event["candidate"].clone(), begun));
                }
            }
            "candidate_step_started" => self.mark_candidate_step(event, "working"),
            "candidate_step_completed" => self.mark_candidate_step(event, "completed"),
            "candidate_step_failed" => self.mark_candidate_step(event, "failed"),
            "candidate_completed" => self.end_candidate(event, "completed"),
            "candidate_failed" => self.end_candidate(event, "failed"),
            "thinking_delta" => self.segment(event, "thinking", ""),
            "text_delta" => self.segment(event, "text", data["text"].as_str().unwrap_or_default()),
            "permission_requested" | "permission_resolved" => self.permission(event),
            "tool_result" => self.tool_results.push(shown(event, data, &data["toolUseId"])),
            "artifact_created" => self.artifacts.push(shown(event, data, &data["artifactId"])),
            "input_required" => {
                self.status = "waiting_input";
                let place = json!({
                    "eventId": event["eventId"], "createdAt": event["createdAt"], "scope": event["scope"],
                    "runId": event["step"]["runId"], "step": event["step"],
                });
                self.pending_input = merged(data.clone(), place);
                self.inputs.push(history(event));
            }
            "input_received" => {
                self.status = "working";
                self.pending_input = Value::Null;
                self.inputs.push(history(event));
            }
            "interrupt_received" | "interrupt_classified" => {
                self.interrupts.push(history(event));
            }
            _ => {}
        }
    }

    /// A pending copy says nothing yet.
    fn ended(&mut self, status: &'static str, event: &Value) {
        if event["visibility"] == "committed" {
            self.status = status;
            self.pending_input = Value::Null;
            self.active.clear();
        }
    }

    fn step(&mut self, event: &Value) -> Option<&mut Value> {
        let run_id = &event["step"]["runId"];
        self.steps.iter_mut().rev().find(|step| step["runId"] == *run_id)
    }

    fn end_step(&mut self, event: &Value, status: &str) {
        let end = json!({
            "status": status, "completedAt": event["createdAt"], "conclusion": event["data"]["conclusion"],
            "conclusionField": event["data"]["conclusionField"], "durationS": event["data"]["durationS"],
        });
        if let Some(step) = self.step(event) {
            *step = merged(step.take(), end);
        }
    }

    fn candidate(&mut self, event: &Value) -> Option<&mut Value> {
        let run_id = &event["candidate"]["runId"];
        let candidates = self.step(event)?["candidates"].as_array_mut()?;
        candidates.iter_mut().find(|candidate| candidate["runId"] == *run_id)
    }

    fn end_candidate(&mut self, event: &Value, status: &str) {
        self.active.retain(|run_id| *run_id != event["candidate"]["runId"]);
        let end = json!({
            "status": status, "completedAt": event["createdAt"], "failed": event["data"]["failed"],
            "conclusions": event["data"]["conclusions"],
        });
        if let Some(candidate) = self.candidate(event) {
            *candidate = merged(candidate.take(), end);
        }
    }

    fn mark_candidate_step(&mut self, event: &Value, status: &str) {
        let run_id = &event["candidateStep"]["runId"];
        let Some(candidate) = self.candidate(event) else { return };
        let steps = candidate["steps"].as_array_mut().into_iter().flatten();
        for step in steps.filter(|step| step["runId"] == *run_id) {
            step["status"] = json!(status);
        }
    }

    fn segment(&mut self, event: &Value, kind: &str, text: &str) {
        let run_id = run_id(event);
        let known = self.messages.iter_mut().find(|message| message["runId"] == run_id);
        let message = match known {
            Some(message) => message,
            None => {
                let id = format!(
                    "message-{}-{}",
                    event["scope"].as_str().unwrap_or_default(),
                    run_id.as_str().unwrap_or_default()
                );
                let message = json!({
                    "id": id, "round": 1, "createdAt": event["createdAt"], "text": "", "segments": [],
                });
                self.messages.push(merged(message, place(event)));
                let Some(message) = self.messages.last_mut() else { return };
                message
            }
        };
        message["updatedAt"] = event["createdAt"].clone();
        append(&mut message["text"], text);
        let Some(segments) = message["segments"].as_array_mut() else { return };
        if segments.last().is_none_or(|last| last["kind"] != kind) {
            segments.push(json!({"kind": kind}));
        }
        if kind == "text"
            && let Some(last) = segments.last_mut()
        {
            append(&mut last["text"], text);
        }
    }

    fn permission(&mut self, event: &Value) {
        let id = &event["permission"]["permissionId"];
        let now = shown(event, &event["permission"], id);
        match self.permissions.iter_mut().find(|permission| permission["id"] == *id) {
            Some(permission) => *permission = now,
            None => self.permissions.push(now),
        }
    }
}

/// An event as the lists of the display show it.
fn shown(event: &Value, data: &Value, id: &Value) -> Value {
    let own = json!({
        "id": id, "eventId": event["eventId"], "sequence": event["sequence"],
        "createdAt": event["createdAt"],
    });
    merged(merged(data.clone(), own), place(event))
}

/// An event as the histories of the control show it: its data once whole, and its main members.
fn history(event: &Value) -> Value {
    let data = &event["data"];
    let main = ["kind", "prompt", "question", "options", "inputId", "allowFreeText", "freeTextPrompt"];
    let main = main.iter().filter_map(|key| Some(((*key).to_owned(), data.get(*key)?.clone())));
    let own = json!({
        "eventId": event["eventId"], "eventType": event["eventType"], "sequence": event["sequence"],
        "createdAt": event["createdAt"], "status": event["status"], "data": data,
    });
    merged(merged(Value::Object(main.collect()), own), place(event))
}

/// Scope, run id and the step, candidate and candidate step of an event.
fn place(event: &Value) -> Value {
    let mut place = Map::new();
    place.insert("scope".to_owned(), event["scope"].clone());
    place.insert("runId".to_owned(), run_id(event));
    for key in ["step", "candidate", "candidateStep"] {
        if let Some(value) = event.get(key) {
            place.insert(key.to_owned(), value.clone());
        }
    }
    place.into()
}

/// The run id of the innermost place.
fn run_id(event: &Value) -> Value {
    let inner = ["candidateStep", "candidate", "step"].into_iter().find_map(|key| event.get(key));
    inner.map_or(Value::Null, |place| place["runId"].clone())
}

fn append(text: &mut Value, more: &str) {
    let joined = format!("{}{more}", text.as_str().unwrap_or_default());
    *text = Value::String(joined);
}
