//! The HTTP endpoints beside JSON-RPC.

use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::http::json;
use super::kernel::Kernel;
use super::snapshot::snapshot;
use crate::log::LoggedRequest;
use crate::net::Body;

impl Kernel {
    /// `GET /iac-code/pipeline/state`.
    pub(super) fn pipeline_state(&self, request: &LoggedRequest) -> Response<Body> {
        let (task_id, context_id) = (request.query("taskId"), request.query("contextId"));
        if task_id.is_none() && context_id.is_none() {
            return error(StatusCode::BAD_REQUEST, "contextId or taskId is required");
        }
        let after = match request.query("afterSequence") {
            None => None,
            Some(text) if (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()) => {
                Some(text.parse::<u64>().unwrap_or(u64::MAX))
            }
            Some(_) => {
                return error(StatusCode::BAD_REQUEST, "afterSequence must be a non-negative integer");
            }
        };
        let store = self.store();
        let of_task = task_id.and_then(|id| store.tasks.get(id)).map(|task| task.ids.context_id.as_str());
        if let (Some(of_task), Some(asked)) = (of_task, context_id)
            && of_task != asked
        {
            return error(StatusCode::NOT_FOUND, "A2A task/context mismatch");
        }
        let context = of_task.or(context_id).and_then(|id| store.contexts.get(id));
        let found = context.and_then(|context| {
            let task_id = task_id.or(context.pipeline_task.as_deref())?;
            context.journal.of(task_id).next()?;
            Some((&context.journal, task_id))
        });
        let Some((journal, task_id)) = found else {
            return error(StatusCode::NOT_FOUND, "A2A pipeline state not found");
        };
        let last = journal.last_sequence();
        let from = after.unwrap_or(last);
        let events: Vec<&Value> =
            journal.of(task_id).filter(|event| event["sequence"].as_u64() > Some(from)).collect();
        let flag = |name: &str, words: [&str; 2]| request.query(name).is_some_and(|v| words.contains(&v));
        if after.is_some() && flag("includeSnapshot", ["false", "0"]) {
            let body = json!({"events": events, "fromSequence": from, "lastSequence": last});
            return json(StatusCode::OK, &body);
        }
        let mut snapshot = snapshot(journal, task_id);
        if flag("lean", ["1", "true"])
            && let Some(display) = snapshot["display"].as_object_mut()
        {
            display.remove("toolResults");
        }
        json(StatusCode::OK, &json!({"snapshot": snapshot, "events": events}))
    }

    /// `POST /iac-code/session/ensure-restored`.
    pub(super) fn ensure_restored(&self, body: &Value) -> Response<Body> {
        let invalid = || error(StatusCode::BAD_REQUEST, "Invalid session restore request.");
        let (Some(cwd), Some(session_id)) = (body["cwd"].as_str(), body["sessionId"].as_str()) else {
            return invalid();
        };
        if !cwd.starts_with('/') {
            return invalid();
        }
        let store = self.store();
        if let Some(task_id) = body.get("taskId").filter(|id| !id.is_null()) {
            let task = task_id.as_str().and_then(|id| store.tasks.get(id));
            if task.is_none_or(|task| task.ids.session_id != session_id) {
                return invalid();
            }
        }
        if store.contexts.values().any(|context| context.session_id == session_id) {
            return json(StatusCode::OK, &json!({"status": "current"}));
        }
        json(StatusCode::NOT_FOUND, &json!({"status": "not_found"}))
    }

    /// `GET /iac-code/session/recovery`.
    pub(super) fn recovery(&self, request: &LoggedRequest) -> Response<Body> {
        let (Some(context_id), Some(execution_id)) =
            (request.query("contextId"), request.query("executionId"))
        else {
            return error(StatusCode::BAD_REQUEST, "Invalid execution control request.");
        };
        let store = self.store();
        let task = store.tasks.values().find(|task| task.execution_id == execution_id);
        let Some(task) = task.filter(|task| task.ids.context_id == context_id) else {
            return error(StatusCode::NOT_FOUND, "Execution was not found");
        };
        let control = self.control(task);
        let body = json!({
            "contextId": context_id, "taskId": task.ids.task_id, "executionId": execution_id,
            "revision": control["revision"], "executionStatus": control["executionStatus"],
            "outputText": task.output_text, "task": task.to_json(control.clone(), None),
            "messages": task.transcript, "executionControl": control,
        });
        json(StatusCode::OK, &body)
    }
}

fn error(status: StatusCode, text: &str) -> Response<Body> {
    json(status, &json!({"error": text}))
}
