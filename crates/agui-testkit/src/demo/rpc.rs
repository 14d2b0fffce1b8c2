//! The JSON-RPC methods.

use std::sync::Arc;

use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::kernel::Kernel;
use super::message::{Message, RpcError};
use super::scenario;
use super::stream;
use super::task::{Activity, Mode, Phase, Task};
use super::turn::Turn;
use crate::log::LoggedRequest;
use crate::net::{Body, json_text};
use crate::wire::{self, Ids, State};

/// What a message leads to.
pub(super) enum Sent {
    /// The task whose events follow, from a position of its phase on.
    Task { ids: Ids, first: Option<Value>, phase: Arc<Phase>, seen: usize },
    /// A `{"message": …}` that is the whole answer.
    Message(Value),
}

impl Kernel {
    pub(super) async fn rpc(self: &Arc<Self>, request: &LoggedRequest) -> Response<Body> {
        let body = &request.json;
        let id = &body["id"];
        let answer = match (check(request), body["method"].as_str().unwrap_or_default()) {
            (Err(error), _) => Err(error),
            (_, "SendStreamingMessage") => match self.send(&body["params"]) {
                Ok(sent) => return self.stream(sent, id),
                Err(error) => Err(error),
            },
            (_, "SubscribeToTask") => match self.subscribe(&body["params"]) {
                Ok(sent) => return self.stream(sent, id),
                Err(error) => Err(error),
            },
            (_, "SendMessage") => self.send_and_wait(&body["params"]).await,
            (_, "GetTask") => self.get_task(&body["params"]),
            (_, "ListTasks") => Ok(self.list_tasks(&body["params"])),
            (_, "CancelTask") => self.cancel_task(&body["params"]).await,
            _ => Err(RpcError::new(-32601, "Method not found", "METHOD_NOT_FOUND")),
        };
        let text = match answer {
            Ok(result) => wire::reply(id, &result),
            Err(error) => wire::error_reply(id, error.code, &error.message, &error.data),
        };
        json_text(StatusCode::OK, text)
    }

    fn stream(&self, sent: Sent, rpc_id: &Value) -> Response<Body> {
        let ping = self.config.ping_interval;
        match sent {
            Sent::Task { first, phase, seen, .. } => {
                stream::response(first.as_ref(), phase, seen, rpc_id, ping)
            }
            Sent::Message(message) => stream::response(None, Phase::of(&[message]), 0, rpc_id, ping),
        }
    }

    fn send(self: &Arc<Self>, params: &Value) -> Result<Sent, RpcError> {
        let message = Message::read(params)?;
        if message.decision.is_some() {
            return self.answer_permission(&message);
        }
        let task_id = message.task_id.clone().or_else(|| self.attached_task(&message));
        match task_id {
            Some(task_id) => self.send_to_task(&task_id, message),
            None => self.send_new(message),
        }
    }

    /// The pipeline task that takes a pipeline message without a task id, as long as it is not over.
    fn attached_task(&self, message: &Message) -> Option<String> {
        let store = self.store();
        let task_id = store.contexts.get(&message.context_id)?.pipeline_task.clone()?;
        let open = store.tasks.get(&task_id).is_some_and(|task| task.activity != Activity::Ended);
        (open && message.mode == Some(Mode::Pipeline)).then_some(task_id)
    }

    fn send_new(self: &Arc<Self>, message: Message) -> Result<Sent, RpcError> {
        let scenario = scenario::choose(&message)?;
        if let Some(reply) = scenario::direct_reply(scenario, &message) {
            return Ok(Sent::Message(json!({"message": reply})));
        }
        let mode = scenario.mode();
        let mut store = self.store();
        let handed_off = store.contexts.get(&message.context_id).is_some_and(|context| context.handed_off);
        if message.cleanup_only && !handed_off {
            return Err(RpcError::invalid("Cleanup needs a completed pipeline."));
        }
        let refusal = refusal(&store, &message);
        if mode == Mode::Pipeline && refusal.is_some_and(|text| text != BUSY) {
            return Err(RpcError::invalid(refusal.unwrap_or_default()));
        }
        let ids = store.new_ids(&message.context_id);
        let mut task = Task::new(ids.clone(), mode, self.token.child_token());
        task.transcript.push(json!({"role": "user", "content": message.text}));
        let first = Some(wire::task(&ids, State::Submitted, Some(&message.echo)));
        let phase = Arc::clone(&task.phase);
        let cancel = task.cancel.clone();
        if let Some(text) = refusal {
            task.publish(&wire::whole_message(&ids, State::Failed, text, wire::iac(&ids, wire::empty())));
            task.end_phase(Activity::Ended);
            store.add(task);
        } else {
            store.add(task);
            let context = store.context(&message.context_id);
            context.cwd = context.cwd.take().or_else(|| message.cwd.clone());
            if mode == Mode::Pipeline {
                context.pipeline_task = Some(ids.task_id.clone());
            }
            drop(store);
            Turn::spawn(self, ids.clone(), cancel, message, scenario);
        }
        Ok(Sent::Task { ids, first, phase, seen: 0 })
    }

    fn subscribe(&self, params: &Value) -> Result<Sent, RpcError> {
        let store = self.store();
        let task = store.tasks.get(id_of(params)).ok_or_else(RpcError::task_not_found)?;
        if task.state().is_terminal() {
            return Err(RpcError::new(-32004, "Task is in a terminal state", "UNSUPPORTED_OPERATION"));
        }
        if task.activity != Activity::Running || task.frozen {
            let text = format!("Task {} is not active", task.ids.task_id);
            return Err(RpcError::new(-32001, &text, "TASK_NOT_FOUND"));
        }
        let first = json!({"task": task.to_json(self.control(task), None)});
        let (ids, phase, seen) = (task.ids.clone(), Arc::clone(&task.phase), task.phase.len());
        Ok(Sent::Task { ids, first: Some(first), phase, seen })
    }

    async fn send_and_wait(self: &Arc<Self>, params: &Value) -> Result<Value, RpcError> {
        match self.send(params)? {
            Sent::Message(message) => Ok(message),
            Sent::Task { ids, phase, .. } => {
                if params["configuration"]["returnImmediately"] != json!(true) {
                    phase.finished().await;
                }
                Ok(json!({"task": self.task_json(&ids.task_id, None)?}))
            }
        }
    }

    fn get_task(&self, params: &Value) -> Result<Value, RpcError> {
        let length = params["historyLength"].as_u64().and_then(|length| usize::try_from(length).ok());
        self.task_json(id_of(params), length)
    }

    pub(super) fn task_json(&self, task_id: &str, history_length: Option<usize>) -> Result<Value, RpcError> {
        let store = self.store();
        let task = store.tasks.get(task_id).ok_or_else(RpcError::task_not_found)?;
        Ok(task.to_json(self.control(task), history_length))
    }

    fn list_tasks(&self, params: &Value) -> Value {
        let store = self.store();
        let of_context =
            |task: &&Task| params["contextId"].as_str().is_none_or(|id| *task.ids.context_id == *id);
        let tasks: Vec<Value> = store
            .tasks
            .values()
            .filter(of_context)
            .map(|task| task.to_json(self.control(task), Some(0)))
            .collect();
        json!({"totalSize": tasks.len(), "pageSize": tasks.len(), "nextPageToken": "", "tasks": tasks})
    }

    async fn cancel_task(&self, params: &Value) -> Result<Value, RpcError> {
        let id = id_of(params);
        let not_cancelable = || RpcError::new(-32002, "Task cannot be canceled", "TASK_NOT_CANCELABLE");
        let mut ended = {
            let store = self.store();
            let task = store.tasks.get(id).ok_or_else(RpcError::task_not_found)?;
            if task.activity == Activity::Ended {
                return Err(not_cancelable());
            }
            task.cancel.cancel();
            task.watch_end()
        };
        // The sender lives as long as the task is remembered, and a cancelled turn ends at once.
        let _ = ended.wait_for(|ended| *ended).await;
        let store = self.store();
        let task = store.tasks.get(id).ok_or_else(RpcError::task_not_found)?;
        if task.state() != State::Canceled {
            return Err(not_cancelable());
        }
        Ok(task.to_json(self.control(task), None))
    }
}

/// Text of the task that finds its context at work.
pub(super) const BUSY: &str = "Task is already working.";

/// Why a new task fails before it begins.
fn refusal(store: &super::kernel::Store, message: &Message) -> Option<&'static str> {
    let bound = store.contexts.get(&message.context_id).and_then(|context| context.cwd.as_ref());
    match &message.cwd {
        Some(cwd) if !cwd.starts_with('/') => return Some("Invalid A2A workspace metadata."),
        Some(cwd) if bound.is_some_and(|bound| bound != cwd) => {
            return Some("A2A context belongs to a different workspace");
        }
        _ => {}
    }
    if store.busy(&message.context_id).is_some() {
        return Some(BUSY);
    }
    (message.text.is_empty() && message.attachments == 0).then_some("A2A server received empty input.")
}

fn id_of(params: &Value) -> &str {
    params["id"].as_str().unwrap_or_default()
}

/// What is wrong with a request before its method is looked at.
fn check(request: &LoggedRequest) -> Result<(), RpcError> {
    match &request.json {
        Value::Null => Err(RpcError::new(-32700, "Parse error", "PARSE_ERROR")),
        Value::Object(body) if body.contains_key("method") => {
            let version = request.header("a2a-version").unwrap_or_default();
            if version == "1" || version.starts_with("1.") {
                return Ok(());
            }
            Err(RpcError::new(-32009, "A2A version is not supported", "VERSION_NOT_SUPPORTED"))
        }
        _ => Err(RpcError::new(-32600, "Invalid request", "INVALID_REQUEST")),
    }
}
