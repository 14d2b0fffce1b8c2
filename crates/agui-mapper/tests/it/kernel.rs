//! What the kernel sends, as JSON.

use serde_json::{Value, json};

/// A status update with metadata `iac_code`.
pub(crate) fn update(state: &str, iac_code: Value) -> Value {
    let mut metadata = json!({"iacCodeSessionId": "S1"});
    for (name, value) in iac_code.as_object().unwrap() {
        metadata[name] = value.clone();
    }
    json!({"statusUpdate": {
        "taskId": "T1", "contextId": "C1",
        "status": {"state": format!("TASK_STATE_{state}")},
        "metadata": {"iac_code": metadata},
    }})
}

pub(crate) fn working(iac_code: Value) -> Value {
    update("WORKING", iac_code)
}

/// A piece of text of the message `T1-message`.
pub(crate) fn delta(text: &str) -> Value {
    text_of("T1-message", "WORKING", text)
}

pub(crate) fn text_of(message: &str, state: &str, text: &str) -> Value {
    let mut update = update(state, json!({}));
    update["statusUpdate"]["status"]["message"] =
        json!({"messageId": message, "role": "ROLE_AGENT", "parts": [{"text": text}]});
    update
}

/// The whole final text.
pub(crate) fn final_text(text: &str) -> Value {
    let mut update = text_of("T1-2", "WORKING", text);
    update["statusUpdate"]["metadata"]["iac_code"]["assistantFinal"] = json!({"complete": true});
    update
}

pub(crate) fn thinking(text: &str) -> Value {
    working(json!({"thinking": {"type": "raw_thinking", "text": text}}))
}

pub(crate) fn tool(status: &str, id: &str, more: Value) -> Value {
    let mut tool = json!({"status": status, "toolUseId": id, "name": "bash"});
    for (name, value) in more.as_object().unwrap() {
        tool[name] = value.clone();
    }
    working(json!({"tool": tool}))
}

pub(crate) fn permission(id: &str, summary: &str) -> Value {
    json!({
        "schemaVersion": 1.0, "kind": "permission", "requestTaskId": "T1", "contextId": "C1", "inputId": id,
        "toolUseId": "call_1", "toolName": "bash", "prompt": "Run it?", "safeSummary": summary,
        "options": [{"id": "allow_once", "label": "Allow once"}, {"id": "deny", "label": "Deny"}],
        "required": true,
    })
}

/// A pipeline event of the step `plan`.
pub(crate) fn envelope(sequence: u64, event: &str, data: Value) -> Value {
    json!({
        "schemaVersion": "1.0", "eventId": format!("evt-{sequence}"), "sequence": sequence as f64,
        "eventType": event, "scope": "step", "pipelineRunId": "C1", "taskId": "T1", "contextId": "C1",
        "status": "working", "iacCodeSessionId": "S1",
        "step": {"id": "plan", "runId": "step-plan-1", "attempt": 1.0}, "data": data,
    })
}

/// A pipeline event of the step `draft` of a candidate.
pub(crate) fn of_candidate(candidate: &str, sequence: u64, event: &str, data: Value) -> Value {
    let mut it = envelope(sequence, event, data);
    it["scope"] = json!("candidate_step");
    it["candidate"] = json!({"id": candidate, "runId": format!("candidate-{candidate}-0-1"), "index": 0.0});
    it["candidateStep"] = json!({"id": "draft", "runId": format!("candidate-{candidate}-0-1-draft-1")});
    it
}

/// A piece of text of the step `plan`.
pub(crate) fn said(sequence: u64, text: &str) -> Value {
    envelope(sequence, "text_delta", json!({"text": text}))
}

/// An update with one pipeline event.
pub(crate) fn piped(envelope: Value) -> Value {
    working(json!({"pipeline": envelope}))
}

pub(crate) fn task(state: &str, history: &[(&str, &str, &str)]) -> Value {
    let history: Vec<Value> = history
        .iter()
        .map(|(message, role, text)| json!({"messageId": message, "role": role, "parts": [{"text": text}]}))
        .collect();
    json!({"task": {"id": "T1", "contextId": "C1", "status": {"state": format!("TASK_STATE_{state}")},
        "history": history, "metadata": {"iac_code": {"iacCodeSessionId": "S1"}}}})
}
