//! Messages to a task that exists: answers, guidance, and the next turn of a finished one.

use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::kernel::{Kernel, Store};
use super::message::{Message, RpcError};
use super::rpc::{BUSY, Sent};
use super::scenario;
use super::task::{Activity, Kind, Mode, Phase, Task};
use super::turn::Turn;
use crate::wire::{Ids, State, agent_message, status};

/// The keys of a permission payload, sorted.
const KEYS: [&str; 6] = ["decision", "inputId", "kind", "requestTaskId", "schemaVersion", "toolUseId"];

/// A permission payload whose shape is right.
struct Decision<'a> {
    input_id: &'a str,
    tool_use_id: &'a str,
    decision: &'a str,
}

impl Kernel {
    pub(super) fn answer_permission(&self, message: &Message) -> Result<Sent, RpcError> {
        let payload = message.decision.as_ref().unwrap_or(&Value::Null);
        let task_id = message.task_id.as_deref().unwrap_or_default();
        let decision = read_decision(payload, task_id)?;
        let mut store = self.store();
        let task = store.tasks.get_mut(task_id).ok_or_else(RpcError::task_not_found)?;
        if task.ids.context_id != message.context_id {
            return Err(RpcError::invalid("permission_resume_invalid: context does not match the task"));
        }
        match task.decisions.get(decision.input_id) {
            Some((accepted, kind)) if accepted == decision.decision => {
                let sideband = *kind == Kind::Sideband;
                return Ok(if sideband { ack(task, &decision) } else { receipt(task, &decision) });
            }
            Some(_) => {
                let text = "permission_resume_invalid: the decision conflicts with the receipt";
                return Err(RpcError::invalid(text));
            }
            None => {}
        }
        let of = |question: &super::task::Question| {
            question.input_id == decision.input_id && question.tool_use_id == decision.tool_use_id
        };
        let Some(at) = task.questions.iter().position(of) else {
            return Err(RpcError::invalid("input_response_mismatch: no such permission is pending"));
        };
        let question = task.questions.remove(at);
        let accepted = (decision.decision.to_owned(), question.kind);
        task.decisions.insert(question.input_id.clone(), accepted);
        let sent = if question.kind == Kind::Sideband {
            ack(task, &decision)
        } else {
            let phase = task.begin_phase();
            let received = json!({"inputReceived": {
                "kind": "permission", "inputId": decision.input_id, "toolUseId": decision.tool_use_id,
            }});
            task.frozen |= self.config.stale_get_task;
            task.publish(&status(&task.ids.clone(), State::Working, received));
            Sent::Task { ids: task.ids.clone(), first: None, phase, seen: 0 }
        };
        // A turn that was cancelled meanwhile no longer listens; its stream tells so.
        let _ = question.answer.send(decision.decision.to_owned());
        Ok(sent)
    }

    pub(super) fn send_to_task(self: &Arc<Self>, task_id: &str, message: Message) -> Result<Sent, RpcError> {
        let mut store = self.store();
        let busy = store.busy(&message.context_id).is_some();
        let task = store.tasks.get_mut(task_id).ok_or_else(RpcError::task_not_found)?;
        if message.task_id.is_some() && task.ids.context_id != message.context_id {
            return Err(RpcError::invalid("The task belongs to another context."));
        }
        if task.state().is_terminal() {
            let text = "Task is in a terminal state";
            return Err(RpcError::new(-32004, text, "UNSUPPORTED_OPERATION"));
        }
        match task.activity {
            Activity::Parked => answer_prompt(task, &message),
            Activity::Running if task.mode == Mode::Pipeline => Ok(guide(&mut store, task_id, &message)),
            Activity::Running => Err(RpcError::invalid(BUSY)),
            Activity::Ended if busy => Err(RpcError::invalid(BUSY)),
            Activity::Ended => {
                let scenario = scenario::choose(&message)?;
                let (ids, cancel, phase) = (task.ids.clone(), task.cancel.clone(), task.begin_phase());
                task.transcript.push(json!({"role": "user", "content": message.text}));
                drop(store);
                Turn::spawn(self, ids.clone(), cancel, message, scenario);
                Ok(Sent::Task { ids, first: None, phase, seen: 0 })
            }
        }
    }
}

fn read_decision<'a>(payload: &'a Value, task_id: &str) -> Result<Decision<'a>, RpcError> {
    let text = |name: &str| payload[name].as_str().unwrap_or_default();
    let mut keys: Vec<&str> =
        payload.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    if keys != KEYS || payload["schemaVersion"].as_f64() != Some(1.0) {
        return Err(RpcError::invalid("Permission payload fields do not match schemaVersion 1."));
    }
    if !["allow_once", "deny"].contains(&text("decision")) {
        return Err(RpcError::invalid("Permission decision must be allow_once or deny."));
    }
    if text("requestTaskId") != task_id {
        return Err(RpcError::invalid("Permission taskId does not match requestTaskId."));
    }
    Ok(Decision { input_id: text("inputId"), tool_use_id: text("toolUseId"), decision: text("decision") })
}

/// What an answer gets that was accepted before: nothing is done again.
fn receipt(task: &Task, decision: &Decision<'_>) -> Sent {
    let receipt = json!({"inputReceived": {
        "kind": "permission", "inputId": decision.input_id, "toolUseId": decision.tool_use_id,
        "decision": decision.decision, "recovered": true, "duplicate": true,
    }});
    let update = status(&task.ids, State::Working, receipt);
    Sent::Task { ids: task.ids.clone(), first: None, phase: Phase::of(&[update]), seen: 0 }
}

/// The immediate answer to the decision of a candidate's permission.
fn ack(task: &Task, decision: &Decision<'_>) -> Sent {
    let mut ack = agent_message(&task.ids, &format!("permission-ack-{}", Uuid::new_v4().simple()), "");
    let mut data = json!({
        "schemaVersion": 1, "kind": "permission_ack", "inputId": decision.input_id,
        "toolUseId": decision.tool_use_id, "decision": decision.decision, "accepted": true,
    });
    crate::wire::doubles(&mut data);
    ack["parts"] = json!([{"data": data, "mediaType": "application/json"}]);
    Sent::Message(json!({"message": ack}))
}

fn answer_prompt(task: &mut Task, message: &Message) -> Result<Sent, RpcError> {
    let Some(at) = task.questions.iter().position(|question| question.kind == Kind::Prompt) else {
        return Err(RpcError::invalid("input_response_mismatch: the task waits for a permission"));
    };
    let question = task.questions.remove(at);
    task.transcript.push(json!({"role": "user", "content": message.text}));
    let phase = task.begin_phase();
    let _ = question.answer.send(message.text.clone());
    Ok(Sent::Task { ids: task.ids.clone(), first: None, phase, seen: 0 })
}

/// A message into a running pipeline: two events on its stream and on the stream of the message.
fn guide(store: &mut Store, task_id: &str, message: &Message) -> Sent {
    let ids = store.tasks.get(task_id).map_or_else(|| Ids::new("", "", ""), |task| task.ids.clone());
    let received = json!({"userInput": message.text, "messageLength": message.text.chars().count()});
    let classified = json!({
        "action": "continue", "reason": "noted", "targetStepId": null, "candidateScope": null,
        "paused": false,
    });
    let mut updates = Vec::new();
    for (event_type, data) in [("interrupt_received", received), ("interrupt_classified", classified)] {
        let envelope = super::journal::Draft::new("interrupt", event_type, data);
        updates.extend(store.pipeline_event(&ids, envelope, json!({})));
    }
    Sent::Task { ids, first: None, phase: Phase::of(&updates), seen: 0 }
}
